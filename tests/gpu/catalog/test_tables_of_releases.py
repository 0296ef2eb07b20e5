"""A release of the catalog has its row in every table: none is judged by what another one reads.

Whoever adds a release runs the script that a failure names, on the new tag.
"""

from __future__ import annotations

import pytest

from poolsmith.core.facts import store
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.chart_contents import image_default
from poolsmith.gpu.catalog.operand_inputs import operand_inputs
from poolsmith.gpu.catalog.value_paths import value_paths

CATALOG = Catalog()
RELEASES = tuple(CATALOG.releases.by_tag)
OPERANDS = {
    **{name: name for name in ("devicePlugin", "gfd", "dcgmExporter", "migManager", "vgpuDeviceManager", "ccManager")},
    **{name: name for name in ("driver.manager", "draDriver")},
    **{f"{name}.flags": name for name in ("devicePlugin", "gfd", "dcgmExporter")},
    "metrics": "dcgmExporter",
}
"""What is read, by the name of its table, and the section of the chart's values that says the version."""
UNPUBLISHED = {
    ("dcgmExporter", "v26.7.0"): "the code of 4.6.0-4.8.3 was not published when the table was recorded",
    ("draDriver", "v26.7.0"): "v0.5.0 had no tag when the table was recorded",
    ("ccManager", "v26.3.0"): "v0.3.0 never had a tag",
}
"""What is judged as unknown until somebody records it."""
FILES = {
    "charts/gpu-operator/{}.json": "tests/tools/import_operands.py",
    "operands/{}.json": "tests/tools/import_operands.py",
}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("form", FILES)
def test_a_release_has_its_file(form, release):
    assert (store.DATA / form.format(release)).exists(), f"record it by {FILES[form]}"


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("operand", OPERANDS)
def test_what_an_operand_reads_is_known_at_the_version_of_a_release(operand, release):
    version = image_default(f"{OPERANDS[operand]}.version", release)
    is_there = version is None or operand_inputs(operand).tag_of(version) is not None

    assert is_there is ((OPERANDS[operand], release) not in UNPUBLISHED), "run tests/tools/record_operand_inputs.py"


@pytest.mark.parametrize("release", RELEASES)
def test_what_comes_with_the_release_itself_is_known(release):
    values = value_paths().release(release)

    assert release in operand_inputs("validator").tags, "run tests/tools/record_operand_inputs.py"
    assert operand_inputs("discovery").tag_of(value_paths().subchart(release)) is not None, (
        "run tests/tools/record_operand_inputs.py"
    )
    assert values.inner("node-feature-discovery") is not None, "run tests/tools/record_stack_charts.py"
