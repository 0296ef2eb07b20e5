"""What `helm` is given by scripts: held against bash, which runs each of them with a `helm` that writes down its words."""

import json
import os
import subprocess
import time
from itertools import pairwise

import pytest

from poolsmith.core.sources.shell_text import ShellText
from poolsmith.interface.app.check import check_paths
from poolsmith.kubernetes.repository.helm_commands import helm_commands
from poolsmith.kubernetes.repository.model import model_of
from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

_SPY = """#!/usr/bin/env python3
import json, os, sys
with open(os.environ["SEEN"], "a") as seen:
    seen.write(json.dumps(sys.argv[1:]) + "\\n")
sys.exit(sys.argv[1] == "status")
"""

SCRIPTS = {
    "continued lines": "helm install gpu nvidia/gpu-operator \\\n  -n gpu \\\n  --set driver.enabled=false \\\n  --wait\n",
    "quotes": 'helm install gpu "nvidia/gpu-operator" --set \'a=b c\' --set "d=e"f --set x=\\{p\\,q\\}\n',
    "a variable": 'VERSION=v25.3.0\nhelm install gpu nvidia/gpu-operator --version "$VERSION"\n',
    "a default": 'VERSION="${GPU_VERSION:-v25.3.0}"\nhelm install gpu nvidia/gpu-operator --version=${VERSION}\n',
    "a default set at its use": ': "${NS:=gpu}"\nhelm install gpu nvidia/gpu-operator -n $NS\n',
    "a variable of variables": "A=25; B=v$A.3.0\nhelm install gpu nvidia/gpu-operator --version $B\n",
    "words of a variable": 'OPTS="--set a=b --set c=d"\nhelm upgrade -i gpu nvidia/gpu-operator $OPTS\n',
    "exported": "export NS=gpu\nreadonly V=v25.3.0\nhelm install gpu nvidia/gpu-operator -n ${NS} --version $V\n",
    "in a condition": "if ! helm status gpu; then\n  helm install gpu nvidia/gpu-operator -n gpu\nfi\n",
    "behind others": "true && helm repo add nvidia https://helm.ngc.nvidia.com/nvidia && helm install gpu nvidia/gpu-operator\n",
    "in a text for a shell": 'bash -c "helm install gpu nvidia/gpu-operator --set a=b"\n',
    "behind others in a text for a shell": 'bash -c "true && sudo=1 helm install gpu nvidia/gpu-operator --set a=b"\n',
    "a redirection": "helm install gpu nvidia/gpu-operator --set a=b >/dev/null 2>&1 || true\n",
    "a comment behind": "helm install gpu nvidia/gpu-operator --set a=b # --set c=d\n",
    "two of them": "helm install gpu nvidia/gpu-operator; helm install nfd nfd/node-feature-discovery --version 0.17.3\n",
    "printed": "echo \"helm install gpu nvidia/gpu-operator\"\nprintf 'helm upgrade a b/c\\n'\n# helm install d e/f\n",
    "a text for people": "cat <<EOF\nuse:\n  helm install gpu nvidia/gpu-operator\nEOF\n",
    "a here-document": "helm install gpu nvidia/gpu-operator -f - <<'EOF'\ndriver:\n  enabled: false\nEOF\n",
    "a command in a here-document": "helm install gpu nvidia/gpu-operator -f - <<EOF\na: |\n  helm install b c/d\nEOF\n",
    "a here-document without an end": "helm install gpu nvidia/gpu-operator -f - <<EOF\nhelm install b c/d\n",
    "a here-string": "helm install gpu nvidia/gpu-operator -f - <<<'a: b' --set c=d\ncat <<<e\nhelm install b c/d\n",
    "in a function": "put() {\n  helm install gpu nvidia/gpu-operator --set a=b\n}\nput\n",
    "a single quote within": "helm install gpu nvidia/gpu-operator --set a=it\\'s --set b=\"it's\"\n",
}


def said_by_bash(script, folder):
    (folder / "bin").mkdir()
    spy = folder / "bin/helm"
    spy.write_text(_SPY)
    spy.chmod(0o755)
    seen = folder / "seen"
    seen.touch()
    path = f"{spy.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "SEEN": str(seen)}
    subprocess.run(["bash", "-c", script], env=environment, cwd=folder, check=False, capture_output=True, timeout=60)
    return [json.loads(line) for line in seen.read_text().splitlines()]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_command_has_the_words_that_bash_gives_it(name, tmp_path):
    script = SCRIPTS[name]
    installing = [words for words in said_by_bash(script, tmp_path) if words[0] in ("install", "upgrade", "template")]

    found, _ = helm_commands(ShellText(script))

    assert [(item.chart.text, item.release) for item in found] == [
        (words[chart], words[chart - 1]) for words in installing for chart in [_chart_at(words)]
    ]
    assert [[word.text for _, word in item.flags] for item in found] == [_given(words) for words in installing]


def _chart_at(words):
    return next(index for index, word in enumerate(words) if "/" in word)


def _given(words):
    flags = [word.partition("=")[2] for word in words if word.startswith("--") and "=" in word]
    pairs = pairwise(words)
    return flags + [after for word, after in pairs if word in ("-n", "--set", "--version", "-f", "--values")]


OPEN = {
    "set twice": "V=v1\nif x; then V=v2; fi\nhelm install gpu nvidia/gpu-operator --version $V\n",
    "read from somebody": "read V\nhelm install gpu nvidia/gpu-operator --version $V\n",
    "made by a command": "V=$(curl x)\nhelm install gpu nvidia/gpu-operator --version $V\n",
    "an argument": 'helm install gpu nvidia/gpu-operator --version "$1"\n',
    "added to": "V=v\nV+=1\nhelm install gpu nvidia/gpu-operator --version $V\n",
    "of itself": "V=$V\nhelm install gpu nvidia/gpu-operator --version $V\n",
    "of each other": "V=$W\nW=$V\nhelm install gpu nvidia/gpu-operator --version $V\n",
    "a default beside a branch": "if x; then V=v2; fi\nhelm install gpu nvidia/gpu-operator --version ${V:-v1}\n",
    "made by a command in commands": "helm install gpu nvidia/gpu-operator --set a=$(b $(c $(d $(e f) g) h) i) --version $V\n",
    "made by a command in commands that are read": "helm install gpu nvidia/gpu-operator -f <(a <(b <(c d))) --version $V\n",
    "made by lines in backticks": "helm install gpu nvidia/gpu-operator --set a=`b\nc d` --version $V\n",
    "worked out": "helm install gpu nvidia/gpu-operator --set a=$((1 + (2 * (3 + (4))))) --version $V\n",
    "behind a word without an end to see": f"helm install gpu nvidia/gpu-operator --set a={'${b:-' * 2_000}{'}' * 2_000} --version $V\n",
    "made by a command in lines": "helm install gpu nvidia/gpu-operator --set a=$(\n curl x\n) --version $V\n",
    "behind what a command prints": "helm install gpu nvidia/gpu-operator -f <(envsubst < v.yaml) --version $V\n",
    "a default of a default": 'helm install gpu nvidia/gpu-operator --version "${V:-${W}}"\n',
    "of a workflow": "helm install gpu nvidia/gpu-operator --version ${{ inputs.version }}\n",
}


@pytest.mark.parametrize("name", OPEN)
def test_what_only_a_run_knows_is_open(name):
    (found,), _ = helm_commands(ShellText(OPEN[name]))

    assert found.last("version").is_open


SHOWN = {
    "gpu:\n\t-@$(HELM) upgrade --install gpu nvidia/gpu-operator\n": 1,
    "gpu: ## helm install nvidia/gpu-operator\n": 0,
    "x = --helm install a nvidia/gpu-operator\n": 0,
    "helm install gpu nvidia/gpu-operator --version {{ version }} --set a=b\n": 1,
    'az aks command invoke --command "helm repo add n https://n && helm install gpu nvidia/gpu-operator --set a=b"\n': 1,
    'pe "helm install gpu nvidia/gpu-operator --version 24.6.2"\n': 1,
    'COMMAND="helm install gpu nvidia/gpu-operator"\n': 1,
    'HELP="use helm install gpu nvidia/gpu-operator"\n': 0,
    'log_info "helm install gpu nvidia/gpu-operator"\n': 0,
    'echo -e "${YELLOW}helm install gpu nvidia/gpu-operator"\n': 0,
    "die 'first: helm install gpu nvidia/gpu-operator'\n": 0,
}


@pytest.mark.parametrize("script", SHOWN)
def test_a_text_that_something_runs_is_a_command(script):
    assert len(helm_commands(ShellText(script))[0]) == SHOWN[script]


HOSTILE = {
    "a quote without an end": "helm install gpu nvidia/gpu-operator --set 'a=b\n",
    "a here-document without an end": "helm install gpu nvidia/gpu-operator -f - <<EOF\na: b\n",
    "a backslash at the end": "helm install gpu nvidia/gpu-operator \\",
    "a flag without what it is given": "helm install gpu nvidia/gpu-operator --set",
    "nothing behind": "helm install",
    "many quotes": "helm install " + "'\"" * 20_000,
    "many words": "helm install " + "a/b " * 20_000,
    "many programs": "helm install a/b;" * 5_000,
    "variables that double": "".join(f"V{n}=$V{n + 1}$V{n + 1}\n" for n in range(60))
    + "V60=aaaa\nhelm install $V0 a/b\n",
    "variables without an end": "helm install a/b " + "${" * 100_000,
    "defaults without an end": "helm install a/b " + "${a:-" * 50_000,
    "templates without an end": "helm install a/b " + "${{" * 50_000,
    "many here-documents": "helm install a/b -f - <<EOF\n" * 9_000,
    "brackets": "helm install a/b " + "$(" * 20_000,
    "a long path": "a/" * 50_000 + "helm install a/b",
    "many documents": "cat <<EOF\n" * 2_000 + "helm install a/b\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_is_read_in_a_moment(name):
    start = time.process_time()
    commands, _ = helm_commands(ShellText(HOSTILE[name]))

    assert len(commands) <= 5_000
    assert time.process_time() - start < 5


def installed(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_sh", ".sh").replace("_yaml", ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    known = RepositoryFiles(folder, (folder,))
    listed = known.listed()
    return model_of(known, listed.yaml, listed.others).installations


def test_values_are_put_on_top_of_each_other_as_helm_does(tmp_path):
    script = "helm install gpu nvidia/gpu-operator --set a.b=1 -f v.yaml --set-string a.c=2 --set 'e={x,y}'\n"
    (item,) = installed(tmp_path, install_sh=script, v_yaml="a: {b: 0, d: 3}\n")

    assert item.values == {"a": {"b": 1, "c": "2", "d": 3}, "e": ["x", "y"]}
    assert str(item.locate(("a", "b")).span) == "install.sh:1:44"
    assert str(item.locate(("a", "d")).span).startswith("v.yaml:1:")


def test_json_is_a_value(tmp_path):
    (item,) = installed(tmp_path, install_sh="helm install gpu nvidia/gpu-operator --set-json 'a.b=[{\"c\": 1}]'\n")

    assert item.values == {"a": {"b": [{"c": 1}]}}


@pytest.mark.parametrize("flags", ["-fv.yaml -ngpu", "-f=v.yaml -n=gpu", "-f w.yaml,v.yaml --namespace gpu"])
def test_flags_are_taken_in_each_of_their_forms(tmp_path, flags):
    script = f"helm install {flags} gpu nvidia/gpu-operator\n"
    (item,) = installed(tmp_path, install_sh=script, v_yaml="a: 1\n", w_yaml="a: 2\n")

    assert (item.values, item.namespace, item.unknown) == ({"a": 1}, "gpu", ())


def test_json_may_be_all_values(tmp_path):
    (item,) = installed(tmp_path, install_sh='helm install gpu nvidia/gpu-operator --set-json \'{"a": {"b": 1}}\'\n')

    assert (item.values, item.unknown) == ({"a": {"b": 1}}, ())


def test_a_file_may_be_one_value(tmp_path):
    script = "helm upgrade nvdp nvdp/nvidia-device-plugin --version=0.14.3 --set-file config.map.shared=s.yaml\n"
    (item,) = installed(tmp_path, install_sh=script, s_yaml="version: v1\n")

    assert item.values == {"config": {"map": {"shared": "version: v1\n"}}}


def test_what_a_script_beside_it_patches_is_unknown(tmp_path):
    patch = "kubectl patch clusterpolicy/cluster-policy --type merge -p '{}'\n"
    (item,) = installed(tmp_path, install_sh="helm install gpu nvidia/gpu-operator\n", patch_sh=patch)

    assert [found.what for found in item.unknown] == ["what a command beside it patches"]


def test_a_mirror_may_lack_the_newest(tmp_path):
    script = "helm repo add own https://charts.example.com\nhelm install gpu own/gpu-operator\n"
    (item,) = installed(tmp_path, install_sh=script)

    assert (item.repository, item.version_pointer) == ("https://charts.example.com", "")


def test_words_that_only_a_run_knows_may_hold_the_version(tmp_path):
    own = "helm repo add n https://helm.ngc.nvidia.com/nvidia\nhelm install gpu n/gpu-operator"
    (tmp_path / "a.sh").write_text(f'ARGS=(--version v25.3.0)\n{own} "${{ARGS[@]}}"\n')
    (tmp_path / "b.sh").write_text(f"{own} -f <(envsubst < v.yaml) --version v25.3.0\n")
    (tmp_path / "c.sh").write_text(f"{own} --wait\n")
    found = check_paths(tmp_path, [tmp_path]).diagnostics

    assert {item.primary.span.path for item in found if item.code == "PSM580"} == {"c.sh"}


def test_a_step_of_a_workflow_is_a_script(tmp_path):
    step = "      - run: |\n          helm repo add n https://helm.ngc.nvidia.com/nvidia\n          helm install gpu n/gpu-operator"
    workflow = f"on: push\njobs:\n  a:\n    steps:\n{step} --version v25.3.0\n"
    (item,) = installed(tmp_path, **{".github__workflows__gpu_yaml": workflow})

    assert (item.version, item.repository) == ("v25.3.0", "https://helm.ngc.nvidia.com/nvidia")
    assert str(item.version_at().span) == ".github/workflows/gpu.yaml:7:53"


def test_terraform_hands_commands_on(tmp_path):
    text = 'resource "null_resource" "a" {\n  provisioner "local-exec" {\n    command = "helm install a nvidia/gpu-operator"\n'
    (tmp_path / "main.tf").write_text(f"{text}  }}\n}}\n")
    (item,) = installed(tmp_path)

    assert (item.chart, item.document.path) == ("gpu-operator", "main.tf")


def test_what_is_written_for_people_installs_nothing(tmp_path):
    assert not installed(
        tmp_path, task_yaml="- name: helm install nvidia/gpu-operator\n  debug: {msg: helm install a/b}\n"
    )


def test_a_file_is_looked_for_beside_the_script_and_above(tmp_path):
    script = 'helm install gpu nvidia/gpu-operator -f "$HERE/v.yaml" -f gpu/w.yaml -f $UNKNOWN\n'
    (item,) = installed(tmp_path, scripts__install_sh=script, scripts__v_yaml="a: 1\n", gpu__w_yaml="b: 2\n")

    assert item.values == {"a": 1, "b": 2}
    assert [found.what for found in item.unknown] == ["values of `${UNKNOWN}`, which is not among the files"]


def test_an_install_and_an_upgrade_that_say_the_same_are_one(tmp_path):
    script = "if helm status gpu; then helm upgrade gpu nvidia/gpu-operator --set a=b\nelse helm install gpu nvidia/gpu-operator --set a=b; fi\n"

    assert len(installed(tmp_path, install_sh=script)) == 1


BRANCHES = {
    "at the edge": ("helm install a nvidia/gpu-operator\n", False),
    "in a branch": ("if x; then\n  helm install a nvidia/gpu-operator\nfi\n", True),
    "in a target": ("gpu:\n\thelm install a nvidia/gpu-operator\n", True),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_others_may_be_taken_in_the_place_of_a_branch(tmp_path, name):
    script, is_alternative = BRANCHES[name]
    (item,) = installed(tmp_path, install_sh=script)

    assert item.is_alternative is is_alternative


def test_two_charts_of_branches_are_not_beside_each_other(tmp_path):
    script = "if x; then\n  helm install a nvdp/nvidia-device-plugin\nelse\n  helm install b nvidia/gpu-operator\nfi\n"
    (tmp_path / "install.sh").write_text(script)
    (tmp_path / "both.sh").write_text("helm install c nvdp/nvidia-device-plugin\nhelm install d nvidia/gpu-operator\n")
    found = check_paths(tmp_path, [tmp_path]).diagnostics

    assert {item.primary.span.path for item in found if item.code == "PSM276"} == {"both.sh"}


@pytest.mark.parametrize(
    "script",
    [
        "helm install gpu ./charts/gpu --set a=b\n",
        ': "${FROM:=/tmp/src}"\nhelm install gpu "${FROM}/charts/gpu" --set a=b\n',
        'helm install gpu "$(git rev-parse --show-toplevel)/charts/gpu" --set a=b\n',
    ],
)
def test_a_folder_of_the_repository_is_a_chart(tmp_path, script):
    chart = "apiVersion: v2\nname: gpu-operator\nversion: v25.3.0\n"
    found = installed(tmp_path, install_sh=script, charts__gpu__Chart_yaml=chart)

    assert [(item.chart, item.version) for item in found] == [("gpu-operator", "v25.3.0")]


def test_only_a_chart_of_a_repository_or_a_folder_is_one():
    assert not helm_commands(ShellText("helm list -A\nhelm uninstall gpu\nhelm dependency update x/y\n"))[0]
