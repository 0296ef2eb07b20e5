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
from poolsmith.gpu.values.rules.operand_variable import COMPONENTS

CATALOG = Catalog()
RELEASES = tuple(CATALOG.releases.by_tag)
READERS = {"toolkit": "toolkit", **COMPONENTS}
OPERANDS = (
    *((operand, place) for place, operand in READERS.items() if operand not in ("driver", "vgpuManager", "validator")),
    ("draDriver", "draDriver"),
    *((f"{name}.flags", name) for name in ("devicePlugin", "gfd", "dcgmExporter")),
    *((f"mpsControlDaemon{what}", "devicePlugin") for what in ("", ".flags")),
    ("metrics", "dcgmExporter"),
)
"""The table of what is read, and the section of the chart's values that says the version."""
NOT_READ = {
    "operator": "its variables are those of Go and of its own image",
    "gds": "the scripts of its image are not published",
    "gdrcopy": "the scripts of its image are not published",
}
"""Sections with variables of which no table says who reads them."""
UNPUBLISHED = {
    ("dcgmExporter", "4.6.0-4.8.3-distroless"): "its code was not published when the table was recorded",
    ("draDriver", "v0.5.0"): "it had no tag when the table was recorded",
    ("ccManager", "v0.3.0"): "it never had a tag",
}
"""What is judged as unknown until somebody records it, by its section of the values and its version."""
FILES = {
    "charts/gpu-operator/{}.json": "tests/tools/import_operands.py",
    "operands/{}.json": "tests/tools/import_operands.py",
}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("form", FILES)
def test_a_release_has_its_file(form, release):
    assert (store.DATA / form.format(release)).exists(), f"record it by {FILES[form]}"


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("operand", "place"), OPERANDS)
def test_what_an_operand_reads_is_known_at_the_version_of_a_release(operand, place, release):
    version = image_default(f"{place}.version", release)
    is_there = version is None or operand_inputs(operand).tag_of(version) is not None
    of_operator = image_default(f"{place}.image", release) == "cuda"  # which runs a script of the operator's

    assert is_there is not ((place, version) in UNPUBLISHED or of_operator), (
        f"{version}: run tests/tools/record_operand_inputs.py"
    )


@pytest.mark.parametrize("release", RELEASES)
def test_whose_variables_a_release_takes_has_a_table_or_its_reason_stands_here(release):
    values = value_paths().read_paths(release)
    sections = {path.removesuffix(".env") for path in values if path.endswith(".env")}

    assert sections - READERS.keys() - NOT_READ.keys() == set(), "add a row to tests/tools/record_operand_inputs.py"


@pytest.mark.parametrize("release", RELEASES)
def test_what_comes_with_the_release_itself_is_known(release):
    values = value_paths().release(release)

    assert release in operand_inputs("validator").tags, "run tests/tools/record_operand_inputs.py"
    assert operand_inputs("discovery").tag_of(value_paths().subchart(release)) is not None, (
        "run tests/tools/record_operand_inputs.py"
    )
    assert values.inner("node-feature-discovery") is not None, "run tests/tools/record_stack_charts.py"
