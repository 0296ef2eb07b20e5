"""A cluster that runs as it is committed: nothing is found, whichever way it is read."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from change.live.conftest import ROOT, live_cluster
from poolsmith.kubernetes.live.api_resources import OF_NAMESPACES, PODS, ApiResource
from poolsmith.kubernetes.live.snapshot import from_text, to_text
from support.circles import parameters
from support.live_cluster import read, told

LEAST_OBJECTS = 60


def test_nothing_is_found_and_everything_was_read(prod):
    snapshot = read(prod.scenario, prod.cluster)

    assert told(prod.cluster, snapshot) == []
    assert sum(len(item.items) for item in snapshot.lists) > LEAST_OBJECTS
    assert list(snapshot.unread) == []


OTHERS = ("kata-l40s", "claims")
MORE = tuple(
    path.name for path in sorted((ROOT / "output/clusters").iterdir()) if path.name not in (*OTHERS, "prod-eu")
)


@pytest.mark.parametrize("name", parameters(OTHERS, MORE))
def test_other_clusters_are_as_clean(control_plane, name):
    """With nodes that their own admission policies take."""
    live = live_cluster(control_plane, name)
    try:
        assert live.told() == []
    finally:
        live.scenario.end()


def test_who_is_in_an_event_loop_may_ask_too(prod):
    async def inside():
        return told(prod.cluster, read(prod.scenario, prod.cluster))

    with ThreadPoolExecutor(1) as thread:  # in the main thread other tests may keep a loop of their own
        assert thread.submit(lambda: asyncio.run(inside())).result() == []


def test_what_is_saved_says_the_same(prod):
    snapshot = read(prod.scenario, prod.cluster)
    text = to_text(snapshot)
    again = from_text(text, "bundle.json")

    assert told(prod.cluster, again) == []
    assert to_text(again) == text
    assert '"managedFields":' not in text


def test_another_version_of_kubernetes_is_told(prod):
    snapshot = replace(read(prod.scenario, prod.cluster), server="v1.99.0")
    server, kubelets = told(prod.cluster, snapshot)

    assert server.startswith("PSM860 cluster `prod-eu` runs Kubernetes 1.99.0")
    assert "older than 1.96: the API server is 1.99.0" in kubelets


def test_plurals_and_places_are_those_of_the_server(prod):
    for resource in prod.cluster.resources:
        served = prod.client.resource(resource.api_version, resource.kind)
        if served is not None:
            assert (resource.plural, resource in OF_NAMESPACES) == (served.plural, served.namespaced), resource


def test_a_saved_snapshot_has_no_secret():
    pod = {
        "metadata": {"name": "p", "managedFields": [{}], "annotations": {"a": "b"}},
        "spec": {"containers": [{"env": [{"name": "API_TOKEN", "value": "hunter2"}, {"name": "PLAIN", "value": "x"}]}]},
    }
    secret = {"kind": "Secret", "metadata": {"name": "s"}, "data": {"k": "aHVudGVyMg=="}}
    listed = {
        "apiVersion": "v1",
        "kind": "Pod",
        "state": "read",
        "reason": "",
        "namespaces": [],
        "items": [pod, secret],
    }
    body = {"version": 1, "kind": "ClusterSnapshot", "context": "", "server": "", "taken": "", "lists": [listed]}
    text = to_text(from_text(json.dumps(body), "x"))

    assert "hunter2" not in text
    assert "aHVudGVyMg" not in text
    assert '"value": "x"' in text
    assert from_text(text, "x").items(PODS)[0]["metadata"]["annotations"] == {"a": "b"}


def test_a_kind_is_told_from_its_namesake():
    ours, theirs = ApiResource("nvidia.com/v1", "ClusterPolicy"), ApiResource("kyverno.io/v1", "ClusterPolicy")

    assert ours != theirs
    assert (ours.named, theirs.named) == ("clusterpolicies.nvidia.com", "clusterpolicies.kyverno.io")
    assert ROOT.is_dir()
