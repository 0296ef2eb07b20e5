"""Clusters whose operands the operator's own program made, on a real API server: what was recorded of them is clean.

Nothing here is predicted but what it is held against; `tests/e2e/record_live.py` records them anew.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from live.conftest import ROOT
from poolsmith.live.resources import DRIVERS, NODES, WORKLOADS
from poolsmith.live.stored import from_text
from support.live_cluster import told, view
from support.recordings import recording

CLUSTERS = sorted(recording("live_clusters"))
LEAST = 5
DAEMON_SETS = next(item for item in WORKLOADS if item.kind == "DaemonSet")


@pytest.fixture(params=CLUSTERS)
def recorded(request):
    """The view of a cluster, and its snapshot with the profile's version of Kubernetes, which no test server has."""
    cluster = view(ROOT, request.param)
    snapshot = from_text(json.dumps(recording("live_clusters")[request.param]), "recorded")
    return cluster, replace(snapshot, server=f"v{cluster.plan.cluster.spec.kubernetes.version}")


def test_what_the_operator_itself_has_made_is_clean(recorded):
    cluster, snapshot = recorded

    assert list(told(cluster, snapshot)) == []
    made = [
        item
        for resource in WORKLOADS
        for item in snapshot.items(resource)
        if any(
            owner["kind"] in ("ClusterPolicy", "NVIDIADriver") for owner in item["metadata"].get("ownerReferences", ())
        )
    ]
    assert len(made) >= LEAST
    assert snapshot.items(NODES)


def test_an_operand_that_is_gone_or_edited_is_named(recorded):
    cluster, snapshot = recorded
    text = json.dumps(recording("live_clusters")[cluster.name])
    edited = from_text(text.replace("k8s-device-plugin:v", "k8s-device-plugin:w"), "recorded")
    found = told(cluster, replace(edited, server=snapshot.server))

    assert any(item.startswith("PSM851") and "nvidia-device-plugin-daemonset" in item for item in found)
    lists = tuple(replace(item, items=()) if item.resource.kind == "DaemonSet" else item for item in snapshot.lists)
    gone = told(cluster, replace(snapshot, lists=lists))
    assert any(item.startswith("PSM850") and "nvidia-device-plugin-daemonset" in item for item in gone)


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


def test_without_its_resources_only_these_are_missing(recorded):
    cluster, snapshot = recorded
    lists = tuple(replace(item, items=()) if item.resource == DRIVERS else item for item in snapshot.lists)
    found = told(cluster, replace(snapshot, lists=lists))

    assert len(found) == len(snapshot.items(DRIVERS))
    assert all(text.startswith("PSM850 `NVIDIADriver/") for text in found)
