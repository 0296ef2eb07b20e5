"""Each recorded run of the operator is what the expansion predicts; docs/operands.md says how far that goes."""

from __future__ import annotations

import copy
import os
from pathlib import Path

import pytest

from fleet.operands import oracle, record_objects, verdicts
from poolsmith.core.facts.versions import version_key
from poolsmith.core.record import replace
from poolsmith.fleet.operands import policy_expansion
from poolsmith.gpu.catalog.operands import operand_releases

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = REPOSITORY / "docs/operands.md"
TAGS = sorted(operand_releases(), key=version_key)
CASES = list(verdicts.RUNS)
RENDERED = [case for case in CASES if "chartError" not in verdicts.RUNS[case]["result"]]
"""Those in which the chart rendered something."""
HEAD, TAIL = "<!-- cases:begin -->\n", "<!-- cases:end -->\n"


@pytest.fixture
def recorded(case):
    return verdicts.RUNS[case]


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_run_is_the_expansion(recorded):
    status, lines = verdicts.verdict(recorded)

    assert (status, "\n".join(lines)) == (verdicts.MATCHED, "")


class AskedLabels(dict):
    """Labels of a node that remember which of them were asked for, absent ones too."""

    def __init__(self, labels, asked):
        super().__init__(labels)
        self.asked = asked

    def __getitem__(self, key):
        self.asked.add(key)
        return super().__getitem__(key)

    def get(self, key, default=None):
        self.asked.add(key)
        return super().get(key, default)

    def __contains__(self, key):
        self.asked.add(key)
        return super().__contains__(key)

    def __iter__(self):
        self.asked.add("all of them")
        return super().__iter__()

    keys = items = values = __iter__


def test_steps_ask_nodes_for_nothing_but_the_labels_that_tell_clusters_apart(monkeypatch):
    asked = set()
    monkeypatch.setattr(
        policy_expansion,
        "_as_steps_see",
        lambda context: [replace(node, labels=AskedLabels(node.labels, asked)) for node in context.nodes],
    )
    monkeypatch.setattr(policy_expansion, "tree_digest", lambda tree: object())
    for case in CASES:
        verdicts.ours(verdicts.RUNS[case])

    assert asked
    assert asked <= set(policy_expansion.SEEN_BY_STEPS)


@pytest.mark.parametrize("case", RENDERED)
def test_objects_made_from_a_recording_have_its_form(recorded):
    result = oracle.created(recorded["result"], recorded["inputs"])
    expansion = record_objects.expansion_of(recorded["tag"], result)
    form = oracle.recorded_form(expansion, recorded["inputs"])

    assert "\n".join(oracle.differences({**result, "appliedCRs": []}, form)) == ""


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith(f"{TAGS[-1]}/s09-")])
def test_no_change_of_a_recorded_value_goes_unseen(recorded):
    result = recorded["result"]
    places = {tuple("*" if isinstance(step, int) else step for step in path): path for path in _leaves(result)}
    unseen = set()
    for place, path in places.items():
        part, rest = _part_of(result, path)
        changed = copy.deepcopy(part)
        _change(changed, rest)
        if not oracle.differences(part, changed):
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


def _part_of(result, path):
    """The recorded item that holds a value, alone in its section, and the value's path there; differences are told of
    each item by itself.
    """
    section, *rest = path
    if rest and isinstance(rest[0], int):
        return {section: [result[section][rest[0]]]}, (section, 0, *rest[1:])
    return {section: result[section]}, path


def _change(value, path):
    for step in path[:-1]:
        value = value[step]
    old = value[path[-1]]
    value[path[-1]] = not old if isinstance(old, bool) else f"other{old}" if isinstance(old, str) else old + 1


def table(status_of):
    """Scenarios by release: matched, differs, not modelled, or not recorded."""
    names = sorted({case.rpartition("/")[2] for case in CASES})
    rows = [f"| scenario | {' | '.join(TAGS)} |", "| --- |" + " --- |" * len(TAGS)]
    totals = dict.fromkeys(TAGS, 0)
    for name in names:
        cells = []
        for tag in TAGS:
            case = f"{tag}/{name}"
            status = status_of(case) if case in verdicts.RUNS else "-"
            totals[tag] += status == verdicts.MATCHED
            cells.append(status)
        rows.append(f"| {name} | {' | '.join(cells)} |")
    counts = (f"{totals[tag]} of {len(verdicts.RUNS.below(tag))}" for tag in TAGS)
    return "\n".join([*rows, f"| all | {' | '.join(counts)} |"]) + "\n"


def test_the_page_has_the_table_of_all_scenarios():
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(HEAD)
    _, end, after = rest.partition(TAIL)
    assert end
    if os.environ.get("UPDATE_DOCS") == "1":
        if os.environ.get("TESTS_RUN_IN_CI"):
            pytest.fail("docs are not rewritten in CI")
        told = table(lambda case: verdicts.verdict(verdicts.RUNS[case])[0])
        PAGE.write_text(f"{before}{HEAD}{told}{TAIL}{after}", "utf-8")
        return
    matched = table(lambda _: verdicts.MATCHED)  # the first test of this file demands that of each

    assert page == f"{before}{HEAD}{matched}{TAIL}{after}", (
        "run `UPDATE_DOCS=1 python -m pytest tests/fleet/operands/test_operand_oracle.py`"
    )
