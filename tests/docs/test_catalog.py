"""Every release of the catalog is complete, generates, and has its row in docs/catalog.md."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from poolsmith.core.facts.store import DATA
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.chart_workloads import chart_releases
from poolsmith.interface.app.generate import generate
from poolsmith.interface.app.initialize import initialize

PAGE = Path(__file__).parents[2] / "docs/catalog.md"
CATALOG = Catalog()
RELEASES = CATALOG.releases.by_tag


def row(release):
    chart = CATALOG.chart(CATALOG.releases.chart_name, release.tag)
    cells = (
        release.tag,
        release.line,
        "unknown" if release.kubernetes is None else " to ".join(release.kubernetes),
        chart.default(("driver", "version")),
        "yes" if release.cdi_default else "no",
        release.sandbox_era,
        "one per driver object" if release.driver_object.upgrade_policy else "one per cluster",
    )
    return f"| {' | '.join(cells)} |"


def test_the_table_of_releases_is_that_of_the_catalog():
    before, begin, rest = PAGE.read_text("utf-8").partition("<!-- releases:begin -->\n")
    table, end, after = rest.partition("<!-- releases:end -->")
    head = "".join(table.splitlines(keepends=True)[:2])
    wanted = head + "".join(f"{row(release)}\n" for release in RELEASES.values())
    if os.environ.get("UPDATE_DOCS") == "1" and not os.environ.get("TESTS_RUN_IN_CI"):
        PAGE.write_text(before + begin + wanted + end + after, "utf-8")
        return
    assert begin
    assert end
    assert table == wanted, "run `make docs`"


def test_every_data_file_is_named():
    page = PAGE.read_text("utf-8")
    for path in DATA.glob("*.yaml"):
        assert f"`{path.name}`" in page
    for folder in (DATA / "charts").iterdir():
        assert f"`charts/{folder.name}/<tag>.json`" in page


def test_every_number_of_the_page_is_that_of_the_catalog():
    page = PAGE.read_text("utf-8")
    accepted = [item for item in CATALOG.distributions.values() if item.refused is None]
    assert f"{len(CATALOG.operating_systems)} systems" in page
    assert f"{len(accepted)} distributions and OpenShift" in page
    assert all(f"`{name}`" in page for name in CATALOG.gpus.architectures)
    plugins = chart_releases("nvidia-device-plugin")
    assert f"from {plugins[0]} to {plugins[-1]}" in page


@pytest.mark.parametrize("tag", RELEASES)
def test_a_release_is_complete(tag):
    release = RELEASES[tag]
    assert CATALOG.chart(CATALOG.releases.chart_name, tag) is not None
    assert release.line in CATALOG.releases.lines
    assert release.sandbox_era in CATALOG.sandboxes.eras
    for distribution in CATALOG.distributions.values():
        for runtime in distribution.rules:
            assert distribution.paths(runtime, release.line) is not None, (distribution.name, runtime)


@pytest.mark.rows(6, "each release once, with either engine")
@pytest.mark.parametrize("engine", ["argocd", "flux"])
@pytest.mark.parametrize("tag", RELEASES)
def test_a_release_generates(tmp_path, tag, engine):
    initialize(tmp_path, "lab", engine=engine)
    profile = tmp_path / "profiles/lab/cluster.yaml"
    newest = next(reversed(RELEASES))
    profile.write_text(profile.read_text("utf-8").replace(newest, tag), "utf-8")
    assert generate(tmp_path).written
    assert tag in (tmp_path / "output/clusters/lab/delivery/gpu-operator.yaml").read_text("utf-8")
