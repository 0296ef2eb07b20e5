"""A release of the catalog has its row in every table: none is judged by what another one reads.

Whoever adds a release runs the script that a failure names, on the new tag.
"""

from __future__ import annotations

import re

import pytest

from poolsmith.core.facts import store
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.operand_inputs import operand_inputs

CATALOG = Catalog()
RELEASES = tuple(CATALOG.releases.by_tag)
OPERANDS = {"devicePlugin": "devicePlugin", "gfd": "gfd", "dcgmExporter": "dcgmExporter", "migManager": "migManager"}
"""What reads variables, and the section of the chart's values that says its version."""
BUILD = re.compile(r"-(ubi|ubuntu|distroless)[\w.]*$")
"""The system of an image, behind its version."""
UNPUBLISHED = {("dcgmExporter", "v26.7.0"): "its code of 4.6.0-4.8.3 was not published when the table was recorded"}
"""What is judged as unknown until somebody records it."""
FILES = {
    "charts/gpu-operator/{}.json": "tests/tools/record_chart_values.py",
    "operands/{}.json": "tests/recorded/README.md",
}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("form", FILES)
def test_a_release_has_its_file(form, release):
    assert (store.DATA / form.format(release)).exists(), f"record it by {FILES[form]}"


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("operand", OPERANDS)
def test_what_an_operand_reads_is_known_at_the_version_of_a_release(operand, release):
    version = CATALOG.chart("gpu-operator", release).default((OPERANDS[operand], "version"))
    if version is None:
        pytest.skip(f"{release} says no version of {operand}")

    is_there = BUILD.sub("", version) in operand_inputs(operand).tags

    assert is_there is ((operand, release) not in UNPUBLISHED), "run tests/tools/record_operand_inputs.py"
