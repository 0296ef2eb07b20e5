"""Each recorded run of the operator is what the expansion predicts; docs/operands.md says how far that goes."""

from __future__ import annotations

import copy
import importlib.util
import os
from pathlib import Path

import pytest

from poolsmith.catalog.operands import operand_releases
from poolsmith.catalog.versions import version_key

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs/operands.md"
ORACLE = REPOSITORY.parent / "shared/facts/operand-oracle"
TAGS = sorted(operand_releases(), key=version_key)
CASES = [path.relative_to(ORACLE).as_posix() for path in sorted(ORACLE.glob("*/*.json"))] or ["no/recordings"]
HEAD, TAIL = "<!-- cases:begin -->\n", "<!-- cases:end -->\n"


def _verdicts():
    spec = importlib.util.spec_from_file_location("verdicts", Path(__file__).with_name("verdicts.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


verdicts = _verdicts()
oracle = verdicts.oracle


@pytest.fixture
def recorded(shared, case):
    return verdicts.read(shared / "facts/operand-oracle" / case)


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_run_is_the_expansion(recorded):
    status, lines = verdicts.verdict(recorded)
    if status == verdicts.NOT_MODELLED:
        pytest.skip("; ".join(lines))

    assert "\n".join(lines) == ""


@pytest.mark.parametrize("case", CASES)
def test_objects_made_from_a_recording_have_its_form(recorded):
    if "chartError" in recorded["result"]:
        pytest.skip("the chart rendered nothing")
    result = oracle.created(recorded["result"], recorded["inputs"])
    expansion = verdicts.beside("record_objects").expansion_of(recorded["tag"], result)
    form = oracle.recorded_form(expansion, recorded["inputs"])

    assert "\n".join(oracle.differences({**result, "appliedCRs": []}, form)) == ""


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith(f"{TAGS[-1]}/s09-")] or CASES[:1])
def test_no_change_of_a_recorded_value_goes_unseen(recorded):
    result = recorded["result"]
    places = {tuple("*" if isinstance(step, int) else step for step in path): path for path in _leaves(result)}
    unseen = set()
    for place, path in places.items():
        changed = copy.deepcopy(result)
        _change(changed, path)
        if not oracle.differences(result, changed):
            unseen.add(place)

    assert unseen <= {("rbac", "*", "namespace")}, "only the namespace of what lives in none may change"


def _leaves(value, path=()):
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    elif value is not None:
        yield path


def _change(value, path):
    for step in path[:-1]:
        value = value[step]
    old = value[path[-1]]
    value[path[-1]] = not old if isinstance(old, bool) else f"other{old}" if isinstance(old, str) else old + 1


def table(folder):
    """Scenarios by release: matched, differs, not modelled, or not recorded."""
    names = sorted({case.rpartition("/")[2] for case in CASES})
    rows = [f"| scenario | {' | '.join(TAGS)} |", "| --- |" + " --- |" * len(TAGS)]
    totals = dict.fromkeys(TAGS, 0)
    for name in names:
        cells = []
        for tag in TAGS:
            path = folder / tag / name
            status = verdicts.verdict(verdicts.read(path))[0] if path.exists() else "-"
            totals[tag] += status == verdicts.MATCHED
            cells.append(status)
        rows.append(f"| {name.removesuffix('.json')} | {' | '.join(cells)} |")
    counts = (f"{totals[tag]} of {len(list((folder / tag).glob('*.json')))}" for tag in TAGS)
    return "\n".join([*rows, f"| all | {' | '.join(counts)} |"]) + "\n"


def test_the_page_has_the_table_of_all_scenarios(shared):
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(HEAD)
    _, end, after = rest.partition(TAIL)
    wanted = f"{before}{HEAD}{table(shared / 'facts/operand-oracle')}{TAIL}{after}"
    assert end
    if os.environ.get("UPDATE_DOCS") == "1":
        if os.environ.get("CI"):
            pytest.fail("docs are not rewritten in CI")
        PAGE.write_text(wanted, "utf-8")
        return

    assert page == wanted, "run `UPDATE_DOCS=1 python -m pytest tests/operands/test_operand_oracle.py`"
