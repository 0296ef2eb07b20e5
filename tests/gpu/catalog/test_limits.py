"""Least and last versions: each fact once, with a source and a day, and no table says otherwise than another one."""

from __future__ import annotations

import datetime as dt

import pytest

from poolsmith.core.facts import store
from poolsmith.core.facts.table_merge import TABLES
from poolsmith.core.facts.versions import is_older, version_key
from poolsmith.gpu.catalog.chart_contents import image_default
from poolsmith.gpu.catalog.device_plugin import most_clients
from poolsmith.gpu.catalog.limits import limits
from poolsmith.gpu.catalog.upgrades import read_upgrades
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.gpu.drivers.driver_image import branch_of

DATED = sorted({table.file for table in TABLES.values()} | {"operating_systems.yaml", "driver_images.yaml"})


@pytest.mark.parametrize("name", DATED)
def test_each_table_has_a_day(name):
    assert dt.date.fromisoformat(store.read_own_yaml(name)["asOf"]) < dt.date(2027, 1, 1)


def test_each_vulnerability_has_its_source_and_is_an_issue_of_older_releases_once():
    issues = read_upgrades().issues

    for found in limits().vulnerabilities:
        assert found.source
        assert version_key(found.toolkit) == version_key(image_default("toolkit.version", found.operator).split("-")[0])
        named = [item for item in issues if found.ids[0] in item["fact"]]
        assert [item["before"] for item in named] == [found.operator]
    assert [item.operator for item in limits().vulnerabilities] == sorted(
        (item.operator for item in limits().vulnerabilities), key=version_key
    )


def test_the_default_driver_of_each_release_is_of_a_known_branch(catalog):
    for tag in catalog.releases.by_tag:
        driver = image_default("driver.version", tag)
        assert branch_of(driver) in limits().branches, tag


def test_an_end_is_one_of_the_day_of_the_table():
    for branch in limits().branches.values():
        assert branch.ended or branch.ends is None or branch.ends >= limits().as_of[:7]
    assert limits().branches[535].ended
    assert not limits().branches[580].ended


def test_ranges_of_kubernetes_are_those_of_the_matrix(catalog):
    for release in catalog.releases.by_tag.values():
        matrix = catalog.support_matrices.get(release.line)
        bounds = [row.columns["kubernetes"] for row in matrix.rows if "kubernetes" in row.columns] if matrix else []
        assert (release.kubernetes is None) is (not bounds)
        if bounds:
            assert max((high for _, high in bounds), key=version_key) == release.kubernetes[1], release.tag
            assert any(low == release.kubernetes[0] for low, _ in bounds), release.tag


def test_what_is_supported_are_the_newest_lines(catalog):
    supported = list(catalog.releases.supported)

    assert supported == list(catalog.releases.lines[-len(supported) :])
    for line, tag in catalog.releases.supported.items():
        assert catalog.releases.by_tag[tag].line == line


def test_first_and_last_drivers_of_a_product_are_in_order(catalog):
    for entry in catalog.gpus.entries:
        architecture = catalog.gpus.architectures[entry.architecture]
        first, last = architecture.first_branch, architecture.last_branch
        assert last is None or first is None or int(first) <= last
        for version in (entry.first_driver, entry.first_mig_driver):
            assert version is None or first is None or not is_older(version, first), entry.product


def test_every_generation_whose_first_driver_has_a_source_has_one(catalog):
    first = {name: item.first_branch for name, item in catalog.gpus.architectures.items()}

    assert {name for name, branch in first.items() if branch is None} == {"kepler", "maxwell", "pascal"}
    assert (first["hopper"], first["ada"], first["blackwell"]) == ("525", "525", "570")
    assert catalog.gpus.find("NVIDIA-GB300").first_driver == catalog.gpus.find("B300").first_driver == "575"


@pytest.mark.parametrize(("capability", "most"), [("6.0", 16), ("7.0", 16), ("7.5", 48), ("10.0", 48), (None, 48)])
def test_an_mps_server_takes_so_many_clients(capability, most):
    assert most_clients(capability) == most


def test_a_page_that_stops_before_a_release_is_of_lines_that_the_rule_has(catalog):
    for distribution in catalog.distributions.values():
        for rules in distribution.rules.values():
            for lines, paths in rules:
                assert set(paths.documented) <= set(lines)


def test_no_known_release_is_open_to_what_its_own_toolkit_mends():
    for tag in value_paths().tags:
        assert limits().of_operator(tag) == limits().of_toolkit(image_default("toolkit.version", tag))
