"""What `make test-near` takes for a change: by a toy tree, by this repository, and in which order."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import grimp
import pytest

from support.git_repository import commit_all, git
from support.near_run import Plan
from tools.near import changed_files, chosen, first_line, main, within
from tools.near_index import Index, matches, names_in
from tools.near_map import WHOLE, Near, has_near, joined, near

ROOT = Path(__file__).parents[2]
NAMES = '[{"code": "PSM999", "name": "odd-thing"}, {"code": "PSM888", "name": "lost-thing"}]'
TREE = {
    "generator/poolsmith/fleet/plan/__init__.py": "",
    "generator/poolsmith/fleet/plan/sharing/mig.py": "from poolsmith.core.diagnostics.codes import use\nuse.LOST\n",
    "generator/poolsmith/fleet/plan/pipeline.py": "from poolsmith.fleet.plan import mig\n",
    "generator/poolsmith/guard/rules/odd_thing.py": 'RULE = RuleInfo.of("PSM999")\n',
    "generator/poolsmith/core/diagnostics/codes/use.py": 'LOST = RuleInfo.of("PSM888")\n',
    "generator/poolsmith/gpu/catalog/gpus.py": 'def gpus(): return store.read_yaml("gpus.yaml")\ndef row(tag): return store.read_json(f"rows/{tag}.json")\n',
    "generator/poolsmith/data/rules.json": NAMES,
    "generator/poolsmith/interface/cli/verbs.py": 'VERBS = {"init": ("start", "Start.")}\n',
    "generator/poolsmith/interface/cli/start.py": "",
    "tests/conftest.py": "",
    "tests/fleet/plan/test_mig.py": "",
    "tests/fleet/plan/test_all.py": "from poolsmith.fleet.plan.pipeline import run\n",
    "tests/project/output/test_far.py": "from poolsmith.fleet.plan.pipeline import run\n",
    "tests/fleet/plan/test_lost.py": "code = 'PSM888'\n",
    "tests/guard/rules/test_rules.py": "",
    "tests/gpu/values/test_odd.py": "name = 'odd-thing'\n",
    "tests/gpu/values/test_other.py": "name = 'very-odd-thing'\n",
    "tests/gpu/values/conftest.py": "from support.inner import a\n",
    "tests/support/inner.py": "",
    "tests/support/outer.py": "from support.inner import a\n",
    "tests/change/live/test_outer.py": "from support.outer import a\n",
    "tests/interface/cli/test_new.py": 'run_cli(["init", "lab"])\n',
    "tests/gpu/catalog/test_gpus_of.py": "from poolsmith.gpu.catalog.gpus import gpus\n",
    "tests/gpu/catalog/test_compiled.py": "",
    "tests/recorded/test_recorded.py": 'recording("runs")\n',
    "tests/docs/test_page.py": '"docs/page.md"\n',
    "tests/docs/test_links.py": "",
    "tests/golden/test_golden.py": "",
    "tests/action/test_comment.py": "",
}
MIG, PIPELINE = "poolsmith.fleet.plan.sharing.mig", "poolsmith.fleet.plan.pipeline"


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    root = tmp_path_factory.mktemp("toy")
    for path, text in TREE.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    graph = grimp.ImportGraph()
    graph.add_import(importer=PIPELINE, imported=MIG)
    return Index(root, graph)


@pytest.fixture(scope="module")
def here():
    return Index(ROOT)


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        ("tests/fleet/plan/test_all.py", {"tests/fleet/plan/test_all.py": 0}),
        ("tests/fleet/plan/test_gone.py", {}),
        ("tests/conftest.py", {}),
        (
            "tests/support/inner.py",
            {
                "tests/gpu/values/test_odd.py": 2,
                "tests/gpu/values/test_other.py": 2,
                "tests/change/live/test_outer.py": 2,
            },
        ),
        (
            "generator/poolsmith/fleet/plan/sharing/mig.py",
            {
                "tests/fleet/plan/test_mig.py": 0,
                "tests/guard/rules/test_rules.py": 1,
                "tests/fleet/plan/test_lost.py": 2,
                "tests/fleet/plan/test_all.py": 2,
                "tests/golden/test_golden.py": 3,
            },
        ),
        (
            "generator/poolsmith/guard/rules/odd_thing.py",
            {"tests/guard/rules/test_rules.py": 0, "tests/gpu/values/test_odd.py": 1},
        ),
        ("tests/guard/rules/examples/odd-thing/fail/values.yaml", {"tests/guard/rules/test_rules.py": 0}),
        ("generator/poolsmith/interface/cli/start.py", {"tests/interface/cli/test_new.py": 2}),
        (
            "generator/poolsmith/data/gpus.yaml",
            {"tests/gpu/catalog/test_compiled.py": 0, "tests/gpu/catalog/test_gpus_of.py": 2},
        ),
        ("generator/poolsmith/data/rows/v1.json", {"tests/gpu/catalog/test_gpus_of.py": 3}),
        ("tests/recorded/data/runs.jsonl.xz", {"tests/recorded/test_recorded.py": 1}),
        ("tests/golden/one/expected/a.yaml", {"tests/golden/test_golden.py": 0}),
        ("docs/page.md", {"tests/docs/test_page.py": 1, "tests/docs/test_links.py": 0}),
        ("action/comment.py", {"tests/action/test_comment.py": 0}),
        ("profiles/lab/cluster.yaml", {"tests/golden/test_golden.py": 1}),
        ("nothing/of/ours.txt", {}),
    ],
)
def test_a_change_is_near_to_these_tests(toy, changed, wanted):
    assert {item.test: item.distance for item in near(changed, toy)} == wanted
    assert has_near(changed, toy) == bool(wanted)


def test_a_rule_takes_only_the_rows_that_name_it(toy):
    assert {item.words for item in near("generator/poolsmith/guard/rules/odd_thing.py", toy)} == {
        frozenset(("odd-thing", "PSM999"))
    }


def test_every_module_of_poolsmith_has_a_test_near_it(here):
    assert [path for path in here.modules if not has_near(path, here)] == []


@pytest.mark.rows(4, "a row takes 0.17 s; each value of each column is seen first")
@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        ("generator/poolsmith/gpu/values/rules/value_enum.py", "tests/gpu/values/test_judge.py"),
        ("generator/poolsmith/interface/app/check.py", "tests/guard/rules/test_rules.py"),
        ("generator/poolsmith/interface/cli/verify.py", "tests/change/live/test_verb.py"),
        ("generator/poolsmith/data/operating_systems.yaml", "tests/gpu/catalog/test_compiled.py"),
        ("Makefile", "tests/packaging/test_installs.py"),
        (".github/workflows/ci.yaml", "tests/action/test_action_files.py"),
        ("docs/ledger.md", "tests/docs/test_ledger.py"),
    ],
)
def test_a_real_change_is_near_to_a_test_that_people_would_name(here, changed, wanted):
    assert wanted in {item.test for item in near(changed, here)}


def test_the_tests_of_the_whole_program_exist(here):
    assert set(here.tests) >= set(WHOLE)


def test_the_nearest_come_first_and_what_nothing_is_near_is_told(toy):
    order, alone = chosen(["generator/poolsmith/fleet/plan/sharing/mig.py", "nothing/of/ours.txt"], toy)

    assert order[0].test == "tests/fleet/plan/test_mig.py"
    assert [item.distance for item in order] == sorted(item.distance for item in order)
    assert alone == ["nothing/of/ours.txt"]
    assert first_line(["a.py"], order[:1]) == "near a.py: 1 test file (is named as mig)"


def test_what_is_known_to_take_too_long_is_left():
    quick, slow = Near("tests/a.py", 1, "a"), Near("tests/b.py", 0, "b")
    known = {"tests/a.py": {"": 1.0, "import": 0.1}, "tests/b.py": {"": 60.0, "import": 0.1, "test_x[odd]": 0.2}}

    assert within([slow, quick], known, 10) == ([quick], [slow])
    assert within([Near("tests/b.py", 0, "b", frozenset(("odd",))), quick], known, 10)[1] == []


def test_a_file_that_is_wanted_whole_once_is_taken_whole():
    rows = Near("tests/a.py", 0, "rule", frozenset(("odd",)))

    assert joined(rows, Near("tests/a.py", 1, "all")) == Near("tests/a.py", 0, "rule")
    assert joined(rows, Near("tests/a.py", 3, "all, from far")) == rows
    assert joined(rows, Near("tests/a.py", 1, "rule", frozenset(("even",)))).words == {"odd", "even"}


def item(name, path="tests/a.py"):
    rows = {"callspec": None} if "[" in name else {}
    return SimpleNamespace(nodeid=f"{path}::{name}", name=name, function=None, **rows)


def test_of_a_table_the_rows_that_name_a_word_are_taken_and_what_has_no_rows():
    plan = Plan([["tests/b.py", []], ["tests/a.py", ["odd-thing"]]], 9)
    items = [item("test_x[odd-thing]"), item("test_x[very-odd-thing]"), item("test_y"), item("test_z[1]", "tests/b.py")]

    assert [found.name for found in plan.taken(items)] == ["test_z[1]", "test_x[odd-thing]", "test_y"]
    assert [found.name for found in plan.taken(items[1:2])] == ["test_x[very-odd-thing]"]


def test_a_code_is_named_by_a_row_of_more_than_the_code():
    plan = Plan([["tests/a.py", ["PSM888", "lost-thing"]]], 9)
    items = [item("test_x[PSM888-a]"), item("test_x[PSM8889-a]"), item("test_x[all-lost-thing]")]

    assert [found.name for found in plan.taken(items)] == ["test_x[PSM888-a]"]


def test_what_there_was_no_time_for_is_named_and_not_run():
    plan = Plan([["tests/a.py", []]], 0)

    assert plan.sentence() == ""
    assert plan.pytest_runtest_protocol(item("test_y")) is True
    assert plan.sentence() == "near: no time for 1 test of tests/a.py: make test"


def test_a_test_file_says_what_it_imports_also_in_strings():
    text = "def f():\n    from poolsmith.fleet.plan import (\n        mig,\n        lost)\n    patch('poolsmith.interface.app.check.run')\n"

    assert names_in(text) == [
        "poolsmith.fleet.plan.lost",
        "poolsmith.fleet.plan.mig",
        "poolsmith.interface.app.check.run",
    ]


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [("crds/*.json", "crds/v1.json", True), ("crds/*.json", "crds/a/v1.json", False), ("*.json", "a.json", False)],
)
def test_a_pattern_of_a_name_fits_names_of_its_folder(pattern, name, fits):
    assert matches(pattern, name) is fits


def test_changed_files_are_those_since_the_base_committed_or_not(tmp_path):
    for name in ("kept", "edited", "gone"):
        (tmp_path / name).write_text("1")
    commit_all(tmp_path)
    git(tmp_path, "checkout", "-b", "topic")
    (tmp_path / "committed").write_text("1")
    commit_all(tmp_path, "second")
    (tmp_path / "edited").write_text("2")
    (tmp_path / "gone").unlink()
    (tmp_path / "new one").write_text("1")

    assert changed_files(tmp_path, None) == ["committed", "edited", "gone", "new one"]
    assert changed_files(tmp_path, "HEAD") == ["edited", "gone", "new one"]
    with pytest.raises(SystemExit, match="knows no commit `lost`"):
        changed_files(tmp_path, "lost")


def test_the_list_says_why_and_runs_nothing(capsys):
    assert main(["--list", "docs/ledger.md", "nothing/of/ours.txt"]) == 0
    first, second, *rest = capsys.readouterr().out.splitlines()

    assert first.startswith("near docs/ledger.md, nothing/of/ours.txt: ")
    assert second == "nothing near `nothing/of/ours.txt`: make test"
    assert any(line.endswith("tests/docs/test_ledger.py: names docs/ledger.md") for line in rest)
