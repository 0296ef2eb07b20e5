"""What a run does not need, it does not import: the kinds of what each verb loads, and how much code that is.

Code is measured in bytes, as multiples of what the bare interpreter loads. Moving code between modules changes nothing
of that, and a rule more is lost in it. `make bench` has the times.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from ast import literal_eval
from dataclasses import dataclass
from importlib.metadata import packages_distributions

import pytest

from support.git_repository import commit_all

NEVER = frozenset(("rich", "jinja2", "jsonschema", "hypothesis", "kr8s", "deepdiff", "asyncio", "pytest"))
PARSER_ONLY = NEVER | {"multiprocessing", "subprocess", "yaml", "ctypes", "difflib", "decimal"}
READS = NEVER | {
    "multiprocessing",
    "subprocess",
    "ctypes",
    "difflib",
    "poolsmith.guard.rules.registry",
    "poolsmith.kubernetes.schema.schemas",
}
"""Of the schemas the operator's custom resources are judged by one, but the packs of all kinds stay shut."""

DISTRIBUTIONS = {"click", "PyYAML"}
PARSER = frozenset(("cli", "diagnostics", "late", "own_modules", "pattern", "record"))
PLANS = PARSER | frozenset(
    [
        "admission",
        "app",
        "catalog",
        "drivers",
        "facts",
        "helm",
        "latest",
        "ledger",
        "nodes",
        "objects_file",
        "operands",
        "output",
        "plan",
        "pods",
        "policies",
        "pools",
        "profiles",
        "quantity",
        "report",
        "repository",
        "rules",
        "run",
        "schema",
        "server",
        "shape",
        "sources",
        "values",
    ]
)
ALL_RULES = frozenset(("poolsmith.guard.rules.registry",))
REPORTS = frozenset(("poolsmith.interface.report.html", "poolsmith.interface.report.sarif"))
SAMPLE = "output/clusters/edge/platform/values/gpu-operator.yaml"

LOADS = {
    "--version": (
        1.6,
        {"cli"},
        PARSER_ONLY | {"click", "typing", "enum", "re", "dataclasses", "inspect", "poolsmith.interface.cli.verbs"},
    ),
    "--help": (5.8, PARSER, PARSER_ONLY | {"json", "poolsmith.interface.cli.options"}),
    "check --help": (6.45, PARSER | {"report"}, PARSER_ONLY),
    "catalog list": (7.1, PARSER | {"app", "catalog", "facts", "latest", "report", "run", "sources"}, READS),
    "schema NodePool": (
        7.5,
        PARSER
        | {
            "admission",
            "app",
            "catalog",
            "facts",
            "ledger",
            "plan",
            "pods",
            "policies",
            "profiles",
            "report",
            "repository",
            "shape",
            "sources",
        },
        PARSER_ONLY,
    ),
    "init new": (
        21.2,
        PLANS | {"pod_security", "review", "pools", "api_server", "takeover"},
        NEVER,
    ),  # it generates and checks
    "rules": (
        6.2,  # no code of any rule
        PARSER | {"facts", "report", "rules"},
        NEVER | ALL_RULES,
    ),
    "images": (13.9, PLANS, READS),
    "ledger": (14.1, PLANS, READS),
    "explain prod-eu": (13.4, PLANS, READS | {"poolsmith.guard.rules.rule_book"}),
    "drift": (14.1, PLANS | {"drift"}, READS - {"poolsmith.kubernetes.schema.schemas"} | ALL_RULES),
    "grants": (14.7, PLANS, READS),
    "generate --no-cache --jobs 1": (
        14.8,
        PLANS,
        NEVER | ALL_RULES | {"subprocess", "poolsmith.kubernetes.schema.schemas"},
    ),
    "diff --base HEAD": (
        15.7,
        PLANS | {"delivery", "diff", "pod_security", "review", "takeover"},
        NEVER | ALL_RULES | {"poolsmith.interface.app.diff_pairs"},
    ),
    "diff --base HEAD --cluster edge": (
        20.5,
        PLANS | {"delivery", "diff", "drift", "pod_security", "review", "takeover"},
        NEVER,
    ),  # what a change takes away of installations elsewhere is told by who knows how others deliver
    "generate --check --no-cache --jobs 1": (14.8, PLANS, READS),
    f"check --hook {SAMPLE}": (
        10.6,  # all rules over setups
        PLANS - {"ledger", "shape"} | {"pod_security"},
        NEVER | REPORTS | {"multiprocessing", "subprocess"},
    ),
    "check --no-cache": (17.5, PLANS | {"api_server", "pod_security", "review"}, NEVER | REPORTS),
}
"""For each verb: most code, our packages, and what must not come along. Where something grows, say why in the commit."""

_PROGRAM = """
import marshal, os, sys
sys.path.insert(0, sys.argv.pop(1))
code = 0
if sys.argv[1:] != ["nothing"]:
    from poolsmith.interface.cli.main import _run
    code = _run(sys.argv[1:])
found = {}
for name, module in list(sys.modules.items()):
    if type(module).__name__ == "LateModule":  # named, and not loaded
        continue
    spec = getattr(module, "__spec__", None)
    cached = getattr(spec, "cached", None)
    if cached and os.path.exists(cached):
        found[name] = os.path.getsize(cached)
        continue
    try:
        found[name] = len(marshal.dumps(spec.loader.get_code(name)))
    except Exception:  # written in C, or the program itself
        found[name] = 0
names = sys.stdlib_module_names
others = sorted({name.partition(".")[0] for name in found} - names - {"__main__", "__mp_main__", "sitecustomize"})
print([int(code), found, others], file=sys.stderr)
"""


@dataclass(frozen=True)
class Loaded:
    """Bytes of code by module, and what is neither ours nor of the standard library."""

    code: dict[str, int]
    others: frozenset[str]

    @property
    def names(self):
        """Of modules, and of the outermost packages that they are in."""
        return {part for name in self.code for part in (name, name.partition(".")[0])}

    @property
    def packages(self):
        """Our own."""
        return {name.split(".")[2] for name in self.code if name.startswith("poolsmith.") and name.count(".") > 1}

    @property
    def distributions(self):
        """What others publish; setuptools comes by itself wherever it is installed."""
        known = packages_distributions()
        return {name for module in self.others for name in known.get(module, ())} - {"setuptools"}

    @property
    def size(self):
        return sum(self.code.values())


def loaded(repository, arguments, folder):
    """What a run of poolsmith has loaded at its end; of `nothing`, the interpreter alone."""
    command = [sys.executable, "-I", "-c", _PROGRAM, str(repository / "generator"), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    code, sizes, others = literal_eval(result.stderr.splitlines()[-1])
    assert code == 0, result.stderr
    return Loaded(sizes, frozenset(others) - {"poolsmith"})


@pytest.fixture(scope="module")
def bare(repository, tmp_path_factory):
    """Bytes of code that the interpreter loads by itself."""
    return loaded(repository, ("nothing",), tmp_path_factory.mktemp("bare")).size


@pytest.fixture(scope="module")
def profiles_alone(repository, tmp_path_factory):
    """The sample's profiles, committed, and no output."""
    root = tmp_path_factory.mktemp("profiles")
    shutil.copytree(repository / "profiles", root / "profiles")
    commit_all(root)
    return root


@pytest.fixture(scope="module")
def with_output(repository, tmp_path_factory):
    """The sample with its output; since the commit, one cluster has changed."""
    root = tmp_path_factory.mktemp("output")
    shutil.copytree(repository / "profiles", root / "profiles")
    commit_all(root)
    profile = root / "profiles/edge/cluster.yaml"
    profile.write_text(profile.read_text() + "# changed\n")
    loaded(repository, ("generate", "--no-cache", "--jobs", "1"), root)
    return root


def test_a_hook_reads_bytes_before_it_loads_anything(repository, bare, tmp_path):
    (tmp_path / "web.yaml").write_text("kind: Service\n")
    found = loaded(repository, ["check", "--hook", "web.yaml"], tmp_path)

    assert found.names & (PARSER_ONLY | {"click", "dataclasses", "inspect", "poolsmith.interface.cli.verbs"}) == set()
    assert found.packages <= {"cli", "catalog", "pattern"}
    assert round(found.size / bare, 2) <= 3


@pytest.mark.rows(2, "each verb is a process")
@pytest.mark.parametrize("line", LOADS)
def test_a_verb_loads_no_more_than_it_needs(repository, bare, request, tmp_path, line):
    changed = line.startswith(("check --no", "check --hook", "generate --check")) or line.endswith("edge")
    folder = request.getfixturevalue("with_output" if changed else "profiles_alone")
    if line.startswith(("generate --no", "init")):
        folder = shutil.copytree(folder / "profiles", tmp_path / "sample/profiles").parent
    most, packages, forbidden = LOADS[line]
    found = loaded(repository, line.split(), folder)

    assert found.names & forbidden == set()
    assert found.packages <= packages
    assert found.distributions <= DISTRIBUTIONS
    assert round(found.size / bare, 2) <= most, sorted(found.code.items(), key=lambda item: -item[1])[:40]


def test_clusters_of_containers_load_nothing_of_other_kinds(repository, bare, sample_project):
    for folder in (sample_project / "profiles").iterdir():
        if folder.is_dir() and not folder.name.startswith("_") and folder.name != "edge":
            shutil.rmtree(folder)
    found = loaded(repository, ("generate", "--no-cache", "--jobs", "1"), sample_project)

    of_others = ("plan.sandboxes.", "plan.gpu_cluster.", "plan.hand_installed", "output.kubevirt", "catalog.vgpu_hosts")
    ours = [name.removeprefix("poolsmith.") for name in found.code]
    assert [name for name in ours if name.startswith(of_others) and name != "plan.sandboxes.modes"] == []
    assert round(found.size / bare, 2) <= 13.8  # versions that can't be, and words that are known of each field


@pytest.mark.parametrize(("heavy", "least"), [("asyncio", 0.5), ("http.client", 0.3), ("unittest.mock", 0.5)])
def test_a_heavy_import_does_not_fit_into_what_is_allowed(repository, bare, heavy, least, tmp_path):
    (tmp_path / "poolsmith/interface/cli").mkdir(parents=True)
    (tmp_path / "poolsmith/__init__.py").touch()
    (tmp_path / "poolsmith/interface/cli/__init__.py").touch()
    (tmp_path / "poolsmith/interface/cli/main.py").write_text(f"import {heavy}\n_run = len\n")
    command = [sys.executable, "-I", "-c", _PROGRAM.replace("_run(sys.argv[1:])", "0"), str(tmp_path), "check"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)

    assert sum(literal_eval(result.stderr.splitlines()[-1])[1].values()) / bare - 1 > least


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
    assert "poolsmith.interface.cli.verbs" in found
    assert (
        found
        & (
            PARSER_ONLY
            | {"poolsmith.interface.cli.check", "poolsmith.interface.cli.options", "poolsmith.interface.report"}
        )
        == set()
    )
