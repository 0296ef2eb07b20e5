"""Each reader of the README comes to a clean first commit with the commands that stand there."""

from __future__ import annotations

import re

import pytest

from support.walks import ROOT, Shell, blocks_of, commands_of, sample_shell

PAGE = (ROOT / "README.md").read_text("utf-8")
READERS = dict(re.findall(r"^### (You have .+)\n((?:(?!^#).*\n)+)", PAGE, re.MULTILINE))
RUNNING, JUDGE = "You have a running installation", "You have a pull request to judge"
IDENTITY = "git config --global user.name You && git config --global user.email you@example.com"
INSTALLED = next(
    block.body
    for block in blocks_of((ROOT / "docs/takeover.md").read_text("utf-8"))
    if "file=clusters/prod/gpu-operator.yaml" in block.info
)
CHANGE = "git switch -qc change && echo '# racks 1 to 4' >> profiles/edge/cluster.yaml && poolsmith generate && git commit -qam x"


def lines_of(reader):
    return [[command.text for command in commands_of(block)] for block in blocks_of(READERS[reader])]


def shell_for(reader, place):
    """An empty HOME; a repository where the reader has one already."""
    if reader == JUDGE:
        shell = sample_shell(place)
        shell(f"{IDENTITY} && {CHANGE}")
        return shell
    shell = Shell(place, place / "empty")
    shell(IDENTITY)
    if reader == RUNNING:
        (shell.folder / "clusters/prod").mkdir(parents=True)
        (shell.folder / "clusters/prod/gpu-operator.yaml").write_text(INSTALLED, "utf-8")
        shell("git init -q -b main && git remote add origin https://git.example.com/you/gitops.git && git add .")
    return shell


def test_there_are_five_readers():
    assert len(READERS) == 5


@pytest.mark.parametrize("reader", READERS)
def test_three_commands_six_in_all_and_three_pages(reader):
    counts = [len(block) for block in lines_of(reader)]

    assert counts == ([3] if reader == JUDGE else [3, 3])
    assert len(set(re.findall(r"\]\((docs/[\w-]+\.md)\)", READERS[reader]))) == 3


@pytest.mark.rows(2, "each reader is a dozen processes")
@pytest.mark.parametrize("reader", [JUDGE, *(name for name in READERS if name != JUDGE)])
def test_a_reader_comes_to_a_clean_commit(tmp_path, reader):
    shell = shell_for(reader, tmp_path)
    commands = [command for block in lines_of(reader) for command in block]
    script = "set -e\n" + "\n".join(commands)

    printed = shell(f"{script}\ngit status --porcelain && poolsmith check --fail-on warning && echo 'all is well'")

    assert printed.endswith("all is well\n"), printed
    assert not re.search(r"\b(error|warning) PSM(?!912)", printed), printed


def test_the_address_of_the_repository_stands_in_one_place():
    address = re.search(r'^Repository = "(https://\S+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)

    assert address is not None
    assert address[1] not in PAGE


INTRODUCTION = PAGE.partition("\n### ")[0]
MOST_LINES = {"to the first commit": 60, "of that, of the reader's own": 16}
"""Lines of the README that somebody reads, blank ones left out."""


def read_lines(text):
    return sum(bool(line.strip()) for line in text.splitlines())


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_reads_few_lines_to_the_first_commit(reader):
    own = read_lines(READERS[reader])

    assert own <= MOST_LINES["of that, of the reader's own"]
    assert read_lines(INTRODUCTION) + own <= MOST_LINES["to the first commit"]


_VALUES = 'driver: {enabled: true, version: "580.126.20"}\ntoolkit: {enabled: true}\n'
_POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: a}\nspec: {containers: [{name: a, image: a/b:1}]}\n"
_NODES = (
    '- {name: a, labels: {nvidia.com/gpu.present: "true", feature.node.kubernetes.io/system-os_release.ID: ubuntu, '
    'feature.node.kubernetes.io/system-os_release.VERSION_ID: "22.04", '
    "feature.node.kubernetes.io/kernel-version.full: 5.15.0-105-generic}, runtime: containerd}\n"
)
_POLICY = (
    "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: a}\n"
    "spec:\n  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], "
    "resources: [pods]}]}\n  validations: [{expression: 'true'}]\n---\n"
    "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: a}\n"
    "spec: {policyName: a, validationActions: [Deny]}\n"
)
ANYBODYS = {
    "values.yaml": _VALUES,
    "gpu/values.yaml": _VALUES,
    "nodes.yaml": _NODES,
    "manifests/pod.yaml": _POD,
    "app.yaml": _POD,
    "pod.yaml": _POD,
    "policy.yaml": _POLICY,
}
"""Small files by the names that the pages use."""


def _for_anybody():
    section = PAGE.partition("\n## In any repository\n")[2].partition("\n## ")[0]
    security = (ROOT / "docs/pod-security.md").read_text("utf-8")
    blocks = [*blocks_of(section), *(block for block in blocks_of(security) if block.info == "console")]
    return [command.text.partition("  #")[0].split() for block in blocks for command in commands_of(block)]


@pytest.mark.parametrize("words", _for_anybody(), ids=" ".join)
def test_a_command_for_any_repository_judges_what_it_names(write_files, run_cli, monkeypatch, words):
    monkeypatch.chdir(write_files(ANYBODYS))
    run = run_cli(words[1:])

    assert run.code in (0, 1), run.err
    assert "--nodes" not in words or "checks of the setup" not in run.out
