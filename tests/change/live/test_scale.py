"""A thousand nodes and six hundred pods on a real API server, each night, and a quarter of them before: read in pages, and
what is last is seen.
"""

from __future__ import annotations

import resource
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from time import process_time

import pytest

from change.live.conftest import live_cluster
from change.live.faulty_server import door
from poolsmith.interface.app.live.verify import Source, snapshot_of
from poolsmith.kubernetes.live.api_resources import NODES, PODS, Reading
from poolsmith.kubernetes.live.snapshot import Snapshot
from support.circles import DEEP
from support.live_cluster import nodes_of, told

NODES_MADE, PODS_MADE = (1000, 600) if DEEP else (250, 150)
PAGE = 100
POD_PATH = "/api/v1/namespaces/gpu-operator/pods"
MOST_SECONDS, MOST_MEGABYTES = 20, 150


@pytest.fixture(scope="module")
def large(control_plane):
    live = live_cluster(control_plane, "edge")
    (node, *_) = nodes_of(live.cluster)
    path = "/apis/apps/v1/namespaces/gpu-operator/daemonsets/nvidia-device-plugin-daemonset"
    found = live.client.request("GET", path).body
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "controller": True, "name": found["metadata"]["name"]}
    owner |= {"uid": found["metadata"]["uid"]}
    template = found["spec"]["template"]
    wrong = {**node["status"]["nodeInfo"], "containerRuntimeVersion": "docker://27.0.1"}

    numbers_made = NODES_MADE + PODS_MADE

    def make(client, numbers):
        for number in numbers:
            if number < NODES_MADE:
                last = number == NODES_MADE - 1
                status = {**node["status"], "nodeInfo": wrong} if last else node["status"]
                body = {**node, "metadata": {**node["metadata"], "name": f"n{number:05}"}, "status": status}
                assert client.request("POST", "/api/v1/nodes", body).taken
            else:
                metadata = {"name": f"p{number - NODES_MADE:05}", "namespace": "gpu-operator"}
                metadata |= {"labels": template["metadata"]["labels"]}
                metadata |= {} if number == numbers_made - 1 else {"ownerReferences": [owner]}
                body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
                answer = client.request("POST", POD_PATH, body)
                assert answer.taken, answer.message

    numbers = range(numbers_made)
    with ThreadPoolExecutor(4) as pool:
        for one in [pool.submit(make, live.scenario.client(), numbers[start::4]) for start in range(4)]:
            one.result()
    yield live
    live.scenario.end()


def test_the_text_of_a_snapshot_is_short_whatever_it_holds():
    """asyncio makes one of whatever it ran, and drops it."""
    assert len(repr(Snapshot(context="a", server="v1.34.1", taken="", lists=({"name": "x" * 10_000},)))) < 100


def test_a_large_cluster_is_read_in_pages_and_its_last_page_counts(large, tmp_path):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with door(large.scenario.client(), lambda _door, _path: None, tmp_path) as (opened, kubeconfig):
        begun = process_time()
        source = Source(reading=Reading(kubeconfig=str(kubeconfig), seconds=30.0))
        snapshot = snapshot_of(source, large.cluster.resources, large.cluster.namespaces)
        found = [text for text in told(large.cluster, snapshot) if "runs Kubernetes" not in text]
        seconds = process_time() - begun
    megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{seconds:.1f} s of the processor, {megabytes:.0f} MB more")

    assert len(snapshot.items(NODES)) == NODES_MADE + 1
    assert len(snapshot.items(PODS)) >= PODS_MADE
    assert opened.count("/api/v1/nodes") == ceil((NODES_MADE + 1) / PAGE)
    assert opened.count(POD_PATH) == ceil(len(snapshot.items(PODS)) / PAGE)
    assert {method for method, _ in opened.asked} == {"GET"}
    assert any(text.startswith("PSM855") and f"`n{NODES_MADE - 1:05}`" in text for text in found), found
    assert any(text.startswith("PSM852") and f"Pod/p{PODS_MADE - 1:05}" in text for text in found), found
    assert seconds < MOST_SECONDS
    assert megabytes < MOST_MEGABYTES
