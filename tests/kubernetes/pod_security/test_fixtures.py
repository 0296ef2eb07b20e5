"""Each of the ten checks that the recorded fixtures don't show, at the versions where it changes, with its places."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from poolsmith.kubernetes.pod_security.engine import CHECKS, judge_pod

FIXTURES = Path(__file__).parent / "fixtures"
LEVELS = {check.id: check.level for check in CHECKS}
CASES = [
    pytest.param(path.stem, case, version, id=f"{path.stem}-{case['case']}-{version}")
    for path in sorted(FIXTURES.glob("*.yaml"))
    for case in yaml.safe_load(path.read_text("utf-8"))
    for version in case.get("at", ["latest"])
]


@pytest.mark.parametrize(("check", "case", "version"), CASES)
def test_the_check_finds_these_places_and_no_others(check, case, version):
    spec = {"containers": [{"name": "main"}], **case.get("spec", {})}
    found = judge_pod({"annotations": case.get("annotations")}, spec, LEVELS[check], version)

    assert [item.pointer for item in found if item.check == check] == case.get("places", [])


def test_there_is_a_file_for_each_of_them():
    assert len(list(FIXTURES.iterdir())) == 10
    assert {path.stem for path in FIXTURES.iterdir()} <= set(LEVELS)
