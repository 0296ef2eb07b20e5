"""The table of engines: each row can be shown, has its source, and holds from the version that it names."""

from __future__ import annotations

import pytest

from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.gpu.catalog.engines import differences, engine_facts, holds, is_known, told_since

ROWS = [pytest.param(row, id=row["id"]) for row in differences()]


@pytest.mark.parametrize("row", ROWS)
def test_a_row_says_where_it_is_from_and_what_to_do_where_it_is_seen(row):
    assert row["source"]
    assert row["engine"] in {engine.value for engine in Engine}
    assert ("do" in row) == ("kind" in row or "value" in row)
    assert ("path" in row) == ("kind" in row) == ("group" in row)


@pytest.mark.parametrize("row", ROWS)
def test_a_row_divides_the_versions_that_are_known(row):
    versions = engine_facts(row["engine"])["versions"]

    assert {holds(row, version) for version in versions} == {True, False}
    assert holds(row, f"{row['since']}.99")


@pytest.mark.parametrize("engine", [engine.value for engine in Engine])
def test_the_oldest_version_does_nothing_otherwise(engine):
    oldest, *_, newest = engine_facts(engine)["versions"]

    assert told_since(engine, oldest) == ()
    assert told_since(engine, f"{newest}.1")
    assert is_known(engine, f"{newest}.7")
    assert not is_known(engine, "99.1")
