"""Where nobody says the release, what only some releases read is told with their range (PSM584)."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics import Severity
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.gpu.values.some_releases import values_of_some


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"draDriver": {"gpus": {}}}, "`draDriver` is read by v26.7.0 and later alone"),
        ({"sandboxWorkloads": {"mode": "kata"}}, "`sandboxWorkloads.mode` is read by v26.3.0 and later alone"),
        ({"driver": {"enabled": False}}, ""),
        ({"nothing": {"reads": "this"}}, ""),
    ],
)
def test_the_range_is_told(values, said):
    found = list(values_of_some(values, value_paths()))

    assert all(item.rule.code == "PSM584" and item.rule.severity is Severity.NOTE for item in found)
    assert [item.finding.message.partition(",")[0] for item in found] == ([said] if said else [])
