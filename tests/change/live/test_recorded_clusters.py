"""Clusters whose operands the operator's own program made, on a real API server: what was recorded of them is clean.

Nothing here is predicted but what it is held against; `tests/e2e/record_live.py` records them anew.
"""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from functools import cache

import pytest

from change.live.conftest import ROOT
from poolsmith.change.verify.expected import Bringer
from poolsmith.gpu.catalog.live_resources import DRIVERS
from poolsmith.kubernetes.live.api_resources import NODES, PODS, WORKLOADS
from poolsmith.kubernetes.live.snapshot import ListedObjects, State, from_text
from support.live_cluster import recorded_snapshot, told, view
from support.recordings import recording

CLUSTERS = sorted(recording("live_clusters"))
LEAST = 5
DAEMON_SETS = next(item for item in WORKLOADS if item.kind == "DaemonSet")


@cache
def _recorded(name):
    cluster = view(ROOT, name)
    return cluster, recorded_snapshot(cluster)


@pytest.fixture(params=CLUSTERS)
def recorded(request):
    """The view of a cluster, and its snapshot."""
    return _recorded(request.param)


def test_each_sample_cluster_with_an_operator_is_recorded():
    assert set(CLUSTERS) == {
        path.parents[2].name for path in ROOT.glob("output/clusters/*/platform/values/gpu-operator.yaml")
    }


def test_a_smoke_test_is_what_a_person_brings(recorded):
    cluster, _ = recorded
    brought = [item.body["kind"] for item in cluster.expected if item.bringer is Bringer.PERSON]

    assert brought.count("Job") == len(list((ROOT / "output/clusters" / cluster.name / "smoke").glob("*.yaml"))) > 0


def test_what_the_operator_itself_has_made_is_clean(recorded):
    cluster, snapshot = recorded

    assert list(told(cluster, snapshot)) == []
    made = [
        item
        for resource in WORKLOADS
        for item in snapshot.items(resource)
        if any(
            owner["kind"] in ("ClusterPolicy", "NVIDIADriver", "GPUCluster")
            for owner in item["metadata"].get("ownerReferences", ())
        )
    ]
    assert len(made) >= LEAST
    assert snapshot.items(NODES)


@pytest.mark.rows(4, "recorded clusters that differ most")
def test_an_operand_that_is_gone_or_edited_is_named(recorded):
    cluster, snapshot = recorded
    operand = next(
        item
        for item in snapshot.items(DAEMON_SETS)
        if any(
            owner["kind"] in ("ClusterPolicy", "GPUCluster") for owner in item["metadata"].get("ownerReferences", ())
        )
    )
    edited = copy.deepcopy(operand)
    edited["spec"]["template"]["spec"]["containers"][0]["image"] = "example.com/edited:1"

    def with_operand(*items):
        others = [item for item in snapshot.items(DAEMON_SETS) if item is not operand]
        daemon_sets = ListedObjects(DAEMON_SETS, State.READ, (*others, *items))
        return replace(
            snapshot, lists=tuple(daemon_sets if item.resource == DAEMON_SETS else item for item in snapshot.lists)
        )

    name = operand["metadata"]["name"]
    (change,) = [text for text in told(cluster, with_operand(edited)) if "PSM860" not in text]
    assert change.startswith("PSM851")
    assert name in change
    gone = told(cluster, with_operand())
    assert [text for text in gone if text.startswith("PSM850") and name in text]
    assert {text[:6] for text in gone} <= {"PSM850", "PSM852"}  # its pods are nobody's now


def test_names_that_follow_from_uids_are_those_of_the_cluster(recorded):
    cluster, snapshot = recorded
    drivers = [item["metadata"] for item in snapshot.items(DRIVERS)]
    named = {item.pattern for item in cluster.as_seen(snapshot).expected if item.through.startswith("NVIDIADriver/")}
    live = {item["metadata"]["name"] for item in snapshot.items(DAEMON_SETS)}

    assert bool(named & live) == bool(drivers)


def test_a_uid_that_is_none_changes_nothing(recorded):
    cluster, snapshot = recorded
    odd = json.loads(json.dumps(recording("live_clusters")[cluster.name]))
    for row in odd["lists"]:
        for item in row["items"]:
            item["metadata"]["uid"] = {"a": ["b"]}

    assert cluster.as_seen(from_text(json.dumps(odd), "odd")) is cluster
    assert snapshot.items(NODES)


def test_the_pods_that_controllers_have_made_are_known(recorded):
    cluster, snapshot = recorded
    pods = snapshot.items(PODS)
    without = replace(snapshot, lists=tuple(item for item in snapshot.lists if item.resource != PODS))

    assert len(pods) >= LEAST
    assert told(cluster, without) == ["not evaluated: list of pods: what was saved has no such list"]


def test_without_its_resources_only_these_are_missing(recorded):
    cluster, snapshot = recorded
    lists = tuple(replace(item, items=()) if item.resource == DRIVERS else item for item in snapshot.lists)
    found = told(cluster, replace(snapshot, lists=lists))

    assert len(found) == len(snapshot.items(DRIVERS))
    assert all(text.startswith("PSM850 `NVIDIADriver/") for text in found)
