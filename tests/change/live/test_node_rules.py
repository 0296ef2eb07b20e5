"""Rules over nodes, of those of a live cluster: the same words as of the nodes of a file."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from change.live.conftest import ROOT
from poolsmith.kubernetes.live.api_resources import NODES
from support.live_cluster import bundle_of, told, view

CLUSTER = "prod-eu"
MISTAKES = {
    "a typo of an opt-out": ({"nvidia.com/gpu.deploy.drivers": "false"}, {}, "PSM299"),
    "a word that nobody knows": ({"nvidia.com/gpu.workload.config": "vm-passthough"}, {}, "PSM299"),
    "a workload while sandboxes are off": ({"nvidia.com/gpu.workload.config": "vm-vgpu"}, {}, "PSM299"),
    "a layout that there is not": ({"nvidia.com/mig.config": "all-1g.5g"}, {}, "PSM299"),
    "a runtime without CDI": ({}, {"containerRuntimeVersion": "containerd://1.6.2"}, "PSM297"),
    "a GPU that the driver does not know": ({"nvidia.com/gpu.product": "Tesla-K80"}, {}, "PSM268"),
}


@pytest.fixture(scope="module")
def cluster():
    return view(ROOT, CLUSTER)


def changed(snapshot, labels, info, nodes=1):
    items = [copy.deepcopy(item) for item in snapshot.items(NODES)]
    for item in items[:nodes]:
        item["metadata"]["labels"].update(labels)
        item["status"].setdefault("nodeInfo", {}).update(info)
    lists = [replace(item, items=tuple(items)) if item.resource == NODES else item for item in snapshot.lists]
    return replace(snapshot, lists=tuple(lists))


def codes(cluster, snapshot):
    return {line.partition(" ")[0] for line in told(cluster, snapshot)}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_on_a_live_node_is_told_by_the_rule_over_nodes(cluster, name):
    labels, info, code = MISTAKES[name]
    clean = bundle_of(cluster)

    assert code not in codes(cluster, clean)
    assert code in codes(cluster, changed(clean, labels, info))


def test_nodes_that_are_alike_are_told_once(cluster):
    clean = bundle_of(cluster)
    (first, *_) = clean.items(NODES)
    many = [{**first, "metadata": {**first["metadata"], "name": f"n{number}"}} for number in range(50)]
    lists = [replace(item, items=tuple(many)) if item.resource == NODES else item for item in clean.lists]
    crowd = changed(replace(clean, lists=tuple(lists)), {"nvidia.com/gpu.deploy.drivers": "false"}, {}, nodes=50)

    found = [line for line in told(cluster, crowd) if line.startswith("PSM299")]

    assert len(found) == 1
    assert "n0 and 49 like it" in found[0]
