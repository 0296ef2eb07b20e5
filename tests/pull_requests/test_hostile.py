"""Hostile pull requests: each is refused, by a finding that names what would be gained, and where.

They are made from tables: powers by the paths that reach them, sources by what they could be, files by folders. An
ordinary run tries some of every kind alone, and the Helm values of each cluster many at a time.
"""

import pytest

from pull_requests.batches import batches, together
from pull_requests.conftest import some_of
from pull_requests.files_table import file_changes
from pull_requests.pools_table import pool_changes
from pull_requests.sources_table import source_changes
from pull_requests.switches_table import switch_changes
from pull_requests.texts_table import text_changes
from pull_requests.values_table import value_changes
from support.circles import parameters

VALUES = [*value_changes(), *text_changes()]
OTHERS = [*source_changes(), *pool_changes(), *switch_changes(), *file_changes()]
EACH = {"source": 2, "judge": 2}


def _batches():
    """The first one of all, and the last."""
    first, *rest, last = batches(VALUES)
    return parameters([first, last], rest, lambda batch: f"{len(batch)} of {batch[0].name}")


@pytest.mark.deep("a whole run, 1.0 s; its parts have tests of their own")
@pytest.mark.rows(2, "a commit and a check of a fleet each")
@pytest.mark.parametrize("change", some_of(OTHERS, EACH))
def test_a_hostile_change_is_refused_by_name(fleets, change):
    _refused(fleets, change)


@pytest.mark.deep("a whole run, 1.4 s; its parts have tests of their own")
@pytest.mark.rows(2, "a commit and a check of a fleet each")
@pytest.mark.parametrize("change", some_of(VALUES, {"text": 1}))
def test_a_hostile_value_is_refused_by_name(fleets, change):
    _refused(fleets, change)


@pytest.mark.deep("a whole run, 2.0 s; its parts have tests of their own")
@pytest.mark.rows(1, "one batch of many values")
@pytest.mark.parametrize("batch", _batches())
def test_of_many_hostile_values_each_is_named(fleets, batch):
    fleet = fleets(batch[0])
    while batch:
        verdict = fleet.propose(together(batch))
        missing = [change for change in batch if not verdict.names(change)]

        assert verdict.check == 1, verdict.told[-2000:]
        if len(missing) == len(batch) or not (verdict.generate or verdict.counts_more):
            assert [change.name for change in missing] == []
        batch = missing  # nobody looks at the others before what `generate` refuses is gone, or what was only counted


def _refused(fleets, change):
    verdict = fleets(change).propose(change)

    assert verdict.check not in (0, 70), verdict.told[-2000:]
    assert verdict.names(change), [f"{error.rule}: {error.words[:300]}" for error in verdict.errors]


def test_there_are_many_kinds():
    assert len({change.kind for change in (*VALUES, *OTHERS)}) >= 20
    assert len({(change.cluster, change.name) for change in (*VALUES, *OTHERS)}) == len(VALUES) + len(OTHERS)
