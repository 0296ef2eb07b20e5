"""What the operator does at a tag of its chart, with an entry of its own or without."""

from __future__ import annotations

import pytest

from poolsmith.gpu.catalog.operands import operand_releases, read_operands
from poolsmith.gpu.catalog.releases import behaviour_at, driver_object_behaviour_at
from poolsmith.gpu.catalog.value_paths import value_paths


@pytest.mark.parametrize("release", operand_releases())
def test_where_there_is_an_entry_it_says_the_same(release):
    entry = read_operands(release)

    assert entry is not None
    assert behaviour_at(release) == entry.behaviour


@pytest.mark.parametrize("release", [*value_paths().tags, "v99.1.0"])
def test_each_tag_of_the_chart_has_one(release):
    assert behaviour_at(release)["kernelModule"] in ("useOpenKernelModules", "kernelModuleType")
    assert driver_object_behaviour_at(release)["gdsNeedsOpenModules"]
