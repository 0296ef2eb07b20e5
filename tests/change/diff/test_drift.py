"""Which drift a change brings and ends."""

from __future__ import annotations

import pytest

from poolsmith.change.diff.cluster_changes import drift_changes
from poolsmith.change.review.seen_cluster import SeenCluster
from poolsmith.gpu.catalog import Catalog
from poolsmith.guard.ledger.prediction import Predictions
from poolsmith.kubernetes.server.field_changes import Standing


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


def test_a_release_that_server_side_apply_refuses_brings_its_cure_with_its_line(seen):
    before, after = seen({"stack": "{release: v26.3.3}"}), seen({"stack": "{release: v25.3.4}"})
    (found,) = drift_changes(before, after)

    assert (found.standing, found.cured) == (Standing.ADDED, True)
    assert found.what == "ClusterPolicy/cluster-policy /spec/validator/plugin"
    assert found.words.endswith("; cured by the value `validator.plugin: null`")
    assert str(found.place.span).startswith("profiles/prod/cluster.yaml:6:")
    assert [item.standing for item in drift_changes(after, before)] == [Standing.REMOVED]


def test_what_somebody_writes_and_nothing_cures_is_told(seen):
    stack = "{release: v26.3.3, values: {dcgm: {enabled: null}}}"
    (found,) = drift_changes(seen({"stack": "{release: v26.3.3}"}), seen({"stack": stack}))

    assert (found.what, found.cured) == ("ClusterPolicy/cluster-policy /spec/dcgm/enabled", False)


def test_nothing_is_news_of_a_cluster_that_stays(seen):
    one, other = seen({"stack": "{release: v25.3.4}"}), seen({"stack": "{release: v25.3.4}"}, {"b": {}})

    assert drift_changes(one, other) == ()
    assert drift_changes(None, None) == ()


def test_a_new_cluster_brings_what_it_has(seen):
    after = seen({"stack": "{release: v25.3.4}"})

    assert [item.standing for item in drift_changes(None, after)] == [Standing.ADDED]
    assert [item.standing for item in drift_changes(after, None)] == [Standing.REMOVED]
