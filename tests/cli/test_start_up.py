"""What a run does not need, it does not import: most modules and records that each verb loads."""

from __future__ import annotations

import shutil
import subprocess
import sys
from ast import literal_eval
from dataclasses import dataclass

import pytest

NEVER = frozenset(("rich", "jinja2", "jsonschema", "hypothesis", "kr8s", "deepdiff", "asyncio", "pytest"))
PARSER_ONLY = NEVER | {"multiprocessing", "subprocess", "yaml", "ctypes", "difflib", "decimal"}
READS = NEVER | {"multiprocessing", "subprocess", "ctypes", "difflib", "poolsmith.rules.registry", "poolsmith.schema"}

LOADS = {
    "--version": (
        3,
        0,
        PARSER_ONLY | {"click", "typing", "enum", "re", "dataclasses", "inspect", "poolsmith.cli.verbs"},
    ),
    "--help": (14, 5, PARSER_ONLY | {"json", "poolsmith.cli.options"}),
    "check --help": (24, 8, PARSER_ONLY),
    "catalog list": (39, 17, READS),
    "schema NodePool": (99, 96, PARSER_ONLY),
    "init new": (580, 370, NEVER),
    "rules": (261, 83, NEVER | {"poolsmith.plan.pipeline", "poolsmith.output"}),
    "images": (403, 235, READS),
    "ledger": (410, 240, READS),
    "explain prod-eu": (403, 248, READS | {"poolsmith.rules.rule_book"}),
    "drift": (448, 262, READS - {"poolsmith.schema"} | {"poolsmith.rules.registry"}),
    "grants": (454, 286, READS),
    "generate --no-cache --jobs 1": (453, 275, NEVER | {"subprocess", "poolsmith.rules.registry", "poolsmith.schema"}),
    "diff --base HEAD": (433, 312, NEVER | {"poolsmith.rules.registry", "poolsmith.app.judged_cluster"}),
    "diff --base HEAD --cluster edge": (615, 400, NEVER),
    "generate --check --no-cache --jobs 1": (453, 275, READS),
    "check --hook output/clusters/edge/platform/values/gpu-operator.yaml": (
        281,
        149,
        NEVER | {"multiprocessing", "subprocess"},
    ),
    "check --no-cache": (553, 346, NEVER),
}
"""Most modules of poolsmith, most records, and what must not come along. Where a number grows, say why in the commit."""

_PROGRAM = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from poolsmith.cli.main import _run
code = _run(sys.argv[1:])
ours = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "poolsmith"}
records = [
    f"{name}.{item.__qualname__}"
    for name, module in ours.items()
    for item in vars(module).values()
    if isinstance(item, type) and item.__module__ == name and "__dataclass_fields__" in vars(item)
]
print([int(code), list(sys.modules), list(ours), records], file=sys.stderr)
"""


@dataclass(frozen=True)
class Loaded:
    names: set[str]
    modules: list[str]
    records: list[str]


@pytest.fixture
def loaded(repository):
    """What a run of poolsmith has loaded at its end."""

    def run(arguments, folder):
        command = [sys.executable, "-I", "-c", _PROGRAM, str(repository / "generator"), *arguments]
        result = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
        code, names, modules, records = literal_eval(result.stderr.splitlines()[-1])
        assert code == 0, result.stderr
        return Loaded({part for name in names for part in (name, name.partition(".")[0])}, modules, records)

    return run


def committed(root):
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    for command in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-q", "-m", "base")):
        subprocess.run(["git", *command], cwd=root, check=True, capture_output=True)


@pytest.mark.parametrize("line", LOADS)
def test_a_verb_loads_no_more_than_it_needs(loaded, sample_project, run_cli, line):
    if "check" in line:
        assert run_cli(["generate", "--root", sample_project]).code == 0
    if line.startswith("diff"):
        committed(sample_project)
    if "--cluster edge" in line:
        assert run_cli(["generate", "--root", sample_project]).code == 0
        profile = sample_project / "profiles/edge/cluster.yaml"
        profile.write_text(profile.read_text() + "# changed\n")
        assert run_cli(["generate", "--root", sample_project]).code == 0
    most_modules, most_records, forbidden = LOADS[line]
    found = loaded(line.split(), sample_project)

    assert found.names & forbidden == set()
    assert len(found.modules) <= most_modules, found.modules
    assert len(found.records) <= most_records, found.records


def test_clusters_of_containers_load_nothing_of_other_kinds(loaded, sample_project):
    for folder in (sample_project / "profiles").iterdir():
        if folder.is_dir() and not folder.name.startswith("_") and folder.name != "edge":
            shutil.rmtree(folder)
    found = loaded(["generate", "--no-cache", "--jobs", "1"], sample_project)

    of_others = ("plan.sandboxes.", "plan.gpu_cluster.", "plan.hand_installed", "output.kubevirt", "catalog.vgpu_hosts")
    ours = [name.removeprefix("poolsmith.") for name in found.modules]
    assert [name for name in ours if name.startswith(of_others) and name != "plan.sandboxes.modes"] == []
    assert len(ours) <= 366
    assert len(found.records) <= 255


def test_the_shell_is_told_the_verbs_before_any_of_them_is_loaded(repository, tmp_path):
    program = "import atexit, sys\natexit.register(lambda: print(*sys.modules, file=sys.stderr))\n" + _PROGRAM
    completion = {"_POOLSMITH_COMPLETE": "bash_complete", "COMP_WORDS": "poolsmith ch", "COMP_CWORD": "1"}
    result = subprocess.run(
        [sys.executable, "-I", "-c", program, str(repository / "generator")],
        env=completion,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    found = set(result.stderr.split())

    assert result.stdout == "plain,check\n"
    assert "poolsmith.cli.verbs" in found
    assert found & (PARSER_ONLY | {"poolsmith.cli.check", "poolsmith.cli.options", "poolsmith.report"}) == set()
