"""The charts of a stack without the operator install what we say, at each release of the device plugin.

The recorded answers are Helm's (`tests/recorded/README.md`), for the values that profiles resolve to.
"""

from __future__ import annotations

import pytest

from support.chart_objects import delta
from support.hand_installed import CASES, RELEASES, charts_of, ours
from support.recordings import recording

RECORDED = recording("hand_installed")


@pytest.mark.rows(29, "a row takes 0.018 s; each value of each column is seen first")
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("case", CASES)
def test_the_objects_are_those_that_helm_renders(tmp_path, release, case):
    charts = charts_of(tmp_path, release, case)

    assert len(charts) == len(RECORDED.below(f"{release}/{case}"))
    for chart, version, namespace, values in charts:
        told = RECORDED[f"{release}/{case}/{chart}"]
        assert (told["version"], told["namespace"], told["values"]) == (version, namespace, values)
        assert delta(told["objects"], ours(chart, version, namespace, values)) == []
