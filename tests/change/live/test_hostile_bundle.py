"""A bundle comes from anybody: whatever stands in it, it is judged, and nothing breaks."""

from __future__ import annotations

import copy
import json
import random

import pytest

from change.live.conftest import ROOT
from poolsmith.change.verify.live_view import LiveView
from poolsmith.change.verify.verification import judge_live
from poolsmith.core.diagnostics import UsageError
from poolsmith.kubernetes.live.api_resources import NODES, PODS
from poolsmith.kubernetes.live.snapshot import LEFT_OUT, from_text
from poolsmith.kubernetes.server.fields import differences
from support.circles import DEEP
from support.live_cluster import nodes_of, view

ODD = (None, True, -1, 1.5, "", "x", "\x1b[31m", [], [None], {}, {"name": 1}, [[]], {"": {}}, "9" * 50, ["a", {}])
KEPT = ("metadata", "name")
"""Without them an item is no object, and the bundle is refused."""
ROUNDS = 40 if DEEP else 12
CHANGES = 400


@pytest.fixture(scope="module")
def cluster():
    return view(ROOT, "edge")


@pytest.fixture(scope="module")
def body(cluster):
    """As `--save` writes it, of what is predicted."""
    lists = {}
    for item in cluster.expected:
        one = copy.deepcopy(item.body)
        one["metadata"].setdefault("name", item.pattern)
        lists.setdefault(item.resource, []).append(one)
    lists.setdefault(PODS, []).append(
        {"metadata": {"name": "p", "namespace": "gpu-operator"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    )
    lists[NODES] = nodes_of(cluster)
    rows = [
        {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "state": "read",
            "reason": "",
            "namespaces": [],
            "items": items,
        }
        for resource, items in sorted(lists.items())
    ]
    return {"version": 1, "kind": "ClusterSnapshot", "context": "c", "server": "v1.34.1", "taken": "t", "lists": rows}


def places(value, found):
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            found.append((value, key))
            places(value[key], found)
    return found


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_an_odd_bundle_is_judged(cluster, body, seed):
    chance = random.Random(seed)
    changed = json.loads(json.dumps(body))
    for row in changed["lists"]:
        for parent, key in chance.sample(places(row["items"], []), min(CHANGES, len(row["items"]))):
            if isinstance(parent, dict) and key not in KEPT:
                parent[key] = chance.choice(ODD)
    try:
        snapshot = from_text(json.dumps(changed), "bundle.json")
    except UsageError as error:
        pytest.fail(f"refused as no snapshot: {error}")
    outcome = judge_live(LiveView(cluster, snapshot))

    assert all(item.message for item in outcome.diagnostics)


def test_an_empty_bundle_is_not_taken_for_a_clean_cluster(cluster, body):
    snapshot = from_text(json.dumps({**body, "lists": []}), "bundle.json")
    outcome = judge_live(LiveView(cluster, snapshot))

    assert outcome.diagnostics == ()
    assert outcome.not_evaluated >= len(cluster.required)


def test_a_bundle_of_fewer_namespaces_says_so(cluster, body):
    rows = [{**row, "namespaces": ["elsewhere"]} if row["kind"] == "DaemonSet" else row for row in body["lists"]]
    outcome = judge_live(LiveView(cluster, from_text(json.dumps({**body, "lists": rows}), "bundle.json")))

    assert "it was not read in gpu-operator" in {item.reason for item in outcome.skipped}


def test_what_a_bundle_leaves_out_is_no_difference():
    given = {"env": [{"name": "API_TOKEN", "value": "x"}]}

    assert list(differences(given, {"env": [{"name": "API_TOKEN", "value": LEFT_OUT}]})) == []
    assert len(list(differences(given, {"env": [{"name": "API_TOKEN", "value": "y"}]}))) == 1
