"""The table of engines: each row can be shown or has a rule that tells it, has its source, and divides the versions."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics.known_rules import known_rules
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.gpu.catalog.engines import differences, engine_facts, holds, is_known, tool_version
from support.recordings import recording

ENGINES = [engine.value for engine in Engine]
ROWS = [pytest.param(row, id=row["id"]) for row in differences()]
VERSIONS = [pytest.param(engine, version, id=f"{engine}-{version}") for engine in ENGINES for version in engine_facts(engine)["versions"]]  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_a_row_says_where_it_is_from_and_what_to_do_where_it_is_seen(row):
    assert row["source"]
    assert row.get("engine", "flux") in ENGINES
    assert ("engine" in row) != ("tool" in row)
    assert ("do" in row) == ("kind" in row or "value" in row) == ("rule" not in row)
    assert ("path" in row) == ("kind" in row) == ("group" in row)
    assert row.get("rule", "PSM930") in known_rules()


@pytest.mark.parametrize("row", ROWS)
def test_a_row_divides_the_versions_that_are_known(row):
    engines = [row["engine"]] if "engine" in row else ENGINES
    found = {holds(row, {engine: version}) for engine in engines for version in engine_facts(engine)["versions"]}

    assert found == {True, False}
    assert holds(row, {}) is None


@pytest.mark.parametrize("engine", ENGINES)
def test_a_version_is_known_by_its_minor(engine):
    newest = list(engine_facts(engine)["versions"])[-1]

    assert is_known(engine, f"{newest}.7")
    assert not is_known(engine, "99.1")


@pytest.mark.parametrize(("engine", "version"), VERSIONS)
def test_a_version_says_what_it_renders_with(engine, version):
    assert {tool_version(tool, {engine: version}).partition(".")[0] for tool in ("helm", "kustomize")} <= {
        "3",
        "4",
        "5",
    }
    assert set(engine_facts(engine).get("parts", ())) <= set(engine_facts(engine)["versions"][version])


@pytest.mark.parametrize(
    ("engines", "helm"),
    [
        ({"flux": "2.9"}, "4.2"),
        ({"flux": "2.9", "argocd": "3.4"}, ""),
        ({"helm": "3.5", "argocd": "3.5"}, "3.5"),
        ({}, ""),
    ],
)
def test_a_tool_that_nobody_knows_has_no_version(engines, helm):
    assert tool_version("helm", engines) == helm


@pytest.fixture(scope="module")
def inflated():
    """What kustomize made of a chart, by its minor version and the way that the entry is written."""
    found = {}
    for key, made in recording("kustomize_charts").items():
        kustomize, _, way = key.split("/")
        found.setdefault((".".join(kustomize.split(".")[:2]), way), []).append(made)
    return found


@pytest.mark.parametrize(("engine", "version"), VERSIONS)
def test_what_kustomize_does_with_charts_is_recorded_for_each_version(inflated, engine, version):
    kustomize = ".".join(tool_version("kustomize", {engine: version}).split(".")[:2])
    row = next(row for row in differences() if row["id"] == "namespace-of-inflated-charts")
    around, alone = (inflated[kustomize, way] for way in ("namespace of the kustomization", "nothing"))

    assert {made["bare"] for made in around} == ({"-"} if holds(row, {engine: version}) else {"outer"})
    assert {made["named"] for made in around} == {"outer"}
    assert {made["things.example.com"] for made in alone} == {None}
    assert {made["things.example.com"] for made in inflated[kustomize, "includeCRDs"]} == {"-"}
