"""Which drift a change brings and ends."""

from __future__ import annotations

import pytest

from poolsmith.catalog import Catalog
from poolsmith.changes.change_report import Standing
from poolsmith.changes.drift import drift_changes
from poolsmith.ledger.prediction import Predictions
from poolsmith.review.change import SeenCluster


@pytest.fixture
def seen(resolve):
    """A cluster `prod` as one revision has it."""

    def run(cluster=None, pools=None):
        outcome = resolve(cluster, pools)
        assert outcome.plan is not None, outcome.findings
        return SeenCluster(
            loaded=outcome.loaded,
            plan=outcome.plan,
            prediction=Predictions(Catalog()).of(outcome.plan, outcome.loaded),
        )

    return run


def test_a_release_with_nulls_brings_cured_drift_with_its_line(seen):
    before, after = seen({"stack": "{release: v26.3.3}"}), seen({"stack": "{release: v25.10.0}"})
    found = drift_changes(before, after)

    assert {(str(item.standing), item.cured) for item in found} == {("added", True)}
    assert {item.what for item in found} == {
        "ClusterPolicy/cluster-policy /spec/migManager/config/name",
        "ClusterPolicy/cluster-policy /spec/cdi/default",
    }
    assert all(str(item.place.span).startswith("profiles/prod/cluster.yaml:6:") for item in found)
    assert {item.standing for item in drift_changes(after, before)} == {Standing.REMOVED}


def test_nothing_is_news_of_a_cluster_that_stays(seen):
    one, other = seen({"stack": "{release: v25.10.0}"}), seen({"stack": "{release: v25.10.0}"}, {"b": {}})

    assert drift_changes(one, other) == ()
    assert drift_changes(None, None) == ()


def test_a_new_cluster_brings_what_it_has(seen):
    after = seen({"stack": "{release: v25.10.0}"})

    assert len(drift_changes(None, after)) == 2
    assert [item.standing for item in drift_changes(after, None)] == [Standing.REMOVED] * 2
