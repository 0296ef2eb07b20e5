"""Each run of the operator's own binary against a real API server is what the expansion predicts."""

from __future__ import annotations

import pytest

from fleet.operands import binary_runs
from oracle.operator.more_scenarios import scenarios


@pytest.mark.rows(24, "scenarios of each release; all of them are the same question")
@pytest.mark.parametrize("case", binary_runs.KNOWN)
def test_a_run_of_the_binary_is_the_expansion(case):
    lines, unknown = binary_runs.differing(binary_runs.RUNS[case])

    assert unknown == ()
    assert "\n".join(lines) == ""


def test_each_recorded_release_has_all_that_was_never_asked_before():
    tags = {case.partition("/")[0] for case in binary_runs.RUNS}

    assert tags
    assert [f"{tag}/{name}" for tag in tags for name in scenarios() if f"{tag}/{name}" not in binary_runs.RUNS] == []
