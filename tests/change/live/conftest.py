"""A real API server with one sample cluster applied, its operands as predicted, and its nodes."""

from __future__ import annotations

import gc
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from control_plane.delivered import steps
from poolsmith.change.verify.live_view import ClusterView
from support.api_client import ApiClient
from support.control_plane import Scenario
from support.live_cluster import create_nodes, nodes_of, read, told, view

ROOT = Path(__file__).resolve().parents[3]
NO_NAMESPACE = 404


@dataclass
class Live:
    """A cluster that runs, and what is said of it."""

    scenario: Scenario
    client: ApiClient
    cluster: ClusterView

    def told(self):
        return told(self.cluster, read(self.scenario, self.cluster))


def live_cluster(control_plane, name):
    server = control_plane.scenario()
    client = server.client()
    for step in steps(ROOT / "output/clusters" / name):
        for item in step.objects:
            if "name" in item["metadata"]:
                answer = client.apply(item, manager=step.manager)
                assert answer.taken, answer.message
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "default", "namespace": "gpu-operator"},
    }
    answer = client.create(account)  # which a controller makes
    assert answer.taken or answer.status == NO_NAMESPACE, answer.message
    cluster = view(ROOT, name)
    named_by_uid(client, server, cluster)
    create_nodes(client, nodes_of(cluster))
    return Live(server, client, cluster)


def named_by_uid(client, server, cluster):
    """Operands whose names follow from the uid of a resource, which the server has only now given."""
    seen = cluster.as_seen(read(server, cluster))
    before = {(item.resource, item.namespace, item.pattern): item for item in cluster.expected}
    now = {(item.resource, item.namespace, item.pattern): item for item in seen.expected}
    for key in before.keys() - now.keys():
        assert client.delete(key[0].api_version, key[0].kind, key[2], key[1] or None).taken, key
    for key in now.keys() - before.keys():
        answer = client.apply(now[key].body, manager="operator", force=True)
        assert answer.taken, answer.message


@pytest.fixture
def prod(control_plane):
    """prod-eu: eight pools, NVIDIADriver objects, a toolkit of a pool's own. The server closes connections that idle."""
    live = control_plane.kept("prod-eu", lambda: live_cluster(control_plane, "prod-eu"))
    return replace(live, client=live.scenario.client())


@pytest.fixture(autouse=True)
def _nothing_stays_open():
    """What a test leaves open is told of that test, and not of a later one; all that was there before is left alone."""
    gc.collect(1)
    gc.freeze()
    yield
    gc.collect()
