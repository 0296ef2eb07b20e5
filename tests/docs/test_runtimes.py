"""docs/runtimes.md says of runtimes and distributions what the catalog says."""

from __future__ import annotations

import re

import pytest

from poolsmith.gpu.catalog import Catalog

CATALOG = Catalog()


@pytest.fixture(scope="module")
def page(request):
    return (request.config.rootpath / "docs/runtimes.md").read_text("utf-8")


def row(page, first):
    return next(line for line in page.splitlines() if re.match(rf"\| [^|]*\b{first}\b[^|]* \|", line, re.IGNORECASE))


@pytest.mark.parametrize("name", CATALOG.runtimes.by_name)
def test_a_runtime_has_its_fields_and_its_restart(page, name):
    entry = CATALOG.runtimes.by_name[name]
    _, _, config, drop_in, socket, restart, _ = (cell.strip() for cell in row(page, name).split("|"))

    assert entry.restart in restart
    assert [cell.startswith("`") for cell in (config, drop_in, socket)] == [
        field in entry.variables for field in ("config", "drop_in", "socket")
    ]


@pytest.mark.parametrize("name", [item.name for item in CATALOG.distributions.values() if item.refused is None])
def test_a_distribution_has_a_row_that_says_where_its_toolkit_reads(page, name):
    distribution = CATALOG.distributions[name]
    paths = distribution.paths("containerd", "26.3")
    told = {item["name"] for item in paths.env}
    text = row(page, name)

    assert ("unknown | unknown" in text) is (paths.unknown and not told)
    assert ("the file" in text) is ("RUNTIME_CONFIG_SOURCE" in told)


def test_minimum_versions_stand_there(page):
    for entry in CATALOG.runtimes.by_name.values():
        assert entry.cdi_minimum in page
        assert all(first in page for first, _ in entry.nri)
    for version in CATALOG.runtimes.toolkit_of_config_version.values():
        assert version in page


def test_what_restarts_more_than_the_runtime_is_said(page):
    assert [item.name for item in CATALOG.distributions.values() if item.restart] == ["rke2"]
    assert "on RKE2 it restarts RKE2" in row(page, "containerd")
