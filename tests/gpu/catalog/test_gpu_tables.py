"""The tables that name GPU products are all known, and name no product that there is none of."""

from __future__ import annotations

import re

import pytest

from poolsmith.core.facts import store, twins
from tools.gpu_tables import GPUS, TABLES, main, named, read_gpus, report

CATALOG = read_gpus()
IDS = {device.id for gpu in CATALOG.entries for device in gpu.devices}
WITHOUT_PRODUCT = {"26b2", "26b3", "2c3a"}
"""PCI ids that the operator's vGPU layouts know, and of which the catalog has no product."""
MODELS = {"A100"}
"""What a cloud says of its machines, where several products have the model."""
NO_TABLES = {
    "chart_workloads/gpu_operator.yaml": "the operator's own rules, as its chart has them",
    "installations.yaml": "nodes that are made up",
    "mig_layouts.yaml": "layouts as the operator ships them",
}


def strings(node, path=()):
    if isinstance(node, dict):
        for key, value in node.items():
            yield path, str(key)
            yield from strings(value, (*path, key))
    elif isinstance(node, list):
        for value in node:
            yield from strings(value, path)
    else:
        yield path, str(node)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.file}:{table.place}")
def test_a_table_names_products_that_there_are(table):
    names = table.read()
    known = {name for name in names if name in IDS or CATALOG.find(name) is not None}

    assert names
    assert set(names) - known <= WITHOUT_PRODUCT | MODELS


def test_no_file_names_products_but_in_these_tables():
    """A product by its whole name, or one of its PCI ids."""
    products = {gpu.product for gpu in CATALOG.entries} | IDS
    places = {
        name: {str(path[0]) for path, text in strings(store.read_yaml(name)) if path and text in products}
        for name in twins.yaml_names()
        if name not in NO_TABLES
    }
    told = {}
    for table in TABLES:
        told.setdefault(table.file, set()).add(re.split(r"[.\[]", table.place)[0])

    assert {
        name: found - told.get(name, set()) for name, found in places.items() if found - told.get(name, set())
    } == {}


def test_for_a_product_each_table_that_lacks_it_says_what_to_write(capsys):
    assert main(["L40S"]) == 0
    said = capsys.readouterr().out.splitlines()

    assert [line.split()[0] for line in said].count("has") == 4
    assert "has    vgpu_hosts.yaml: defaults" in said
    assert len(said) == len(TABLES)
    assert all(re.search(r"to write: \w", line) for line in said if line.startswith("lacks"))


def test_a_product_is_found_by_its_pci_id_where_a_table_has_ids():
    (raw,) = (table for table in TABLES if table.place == "releases.*.passthroughRawIds")
    has = {gpu.product for gpu in CATALOG.entries if named(raw, gpu, CATALOG)}

    assert "B200" in has
    assert "L4" not in has
    assert f"has    {GPUS}: gpus\n" in report(CATALOG.find("B200"), CATALOG)


def test_what_is_no_product_is_told_where_to_be_written_first(capsys):
    assert main(["RTX", "9999"]) == 1
    assert "gpus.yaml has no product RTX 9999" in capsys.readouterr().err
