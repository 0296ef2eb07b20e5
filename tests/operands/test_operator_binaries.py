"""Each run of the operator's own binary against a real API server is what the expansion predicts."""

from __future__ import annotations

import pytest

from operands import binary_runs
from oracle.operator.more_scenarios import scenarios

NOT_KNOWN = {
    "s30b-precompiled-suse": "/lib/modules of the host",
    "s32-exporter": "dcgmExporter",
    "s33-mps-host-network": "the host's network",
}
"""Scenarios in which the expansion says of a release what it does not know; then it may differ."""


@pytest.mark.parametrize("case", binary_runs.KNOWN)
def test_a_run_of_the_binary_is_the_expansion(case):
    lines, unknown = binary_runs.differing(binary_runs.RUNS[case])
    admitted = NOT_KNOWN.get(case.partition("/")[2])

    assert [text for text in unknown if admitted is None or admitted not in text] == []
    assert unknown or "\n".join(lines) == ""


def test_each_recorded_release_has_all_that_was_never_asked_before():
    tags = {case.partition("/")[0] for case in binary_runs.RUNS}

    assert tags
    assert [f"{tag}/{name}" for tag in tags for name in scenarios() if f"{tag}/{name}" not in binary_runs.RUNS] == []
