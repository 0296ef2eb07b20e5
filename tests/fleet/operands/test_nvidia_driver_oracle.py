"""Recorded runs of the operator with NVIDIADriver objects: every field of everything that it created for them.

Node labels and the container runtime are taken as they were recorded: others predict those.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from fleet.operands import oracle, scenarios, verdicts
from poolsmith.fleet.operands.custom_resources import ClusterPolicySpec
from poolsmith.fleet.operands.expansion import Expansion
from poolsmith.fleet.operands.expansion_context import Context
from poolsmith.fleet.operands.nvidia_driver import assign_owners, expand_drivers
from poolsmith.gpu.catalog.node_labels import DRIVER_OWNER
from poolsmith.gpu.catalog.operands import read_nvidia_drivers, read_operands

KIND = "NVIDIADriver"
SCRIPTS = "nvidia-driver-startup-probe"


def _has_owners(tag):
    entry = read_nvidia_drivers(tag)
    return entry is not None and entry.behaviour["owners"]


CASES = [case for case in verdicts.RUNS if "/s09" in case]

WITH_OWNERS = [case for case in CASES if _has_owners(case.partition("/")[0])]


@pytest.fixture
def recorded(case):
    return verdicts.RUNS[case]


@pytest.fixture
def state(recorded):
    return scenarios.cluster_state(
        recorded, scenarios.admitted_resources(recorded), oracle.node_labels, oracle.NODE_ANNOTATIONS
    )


@pytest.fixture
def labelled(recorded, state):
    after = recorded["result"]["nodeLabelsAfter"]
    nodes = sorted(state.nodes, key=lambda node: node.name)
    return tuple(replace(node, labels=after[node.name]["labels"]) for node in nodes)


@pytest.fixture
def expansion(recorded, state, labelled):
    found = _expanded(recorded, state, labelled)
    assert found.unknown == ()
    return found


def _expanded(recorded, state, labelled):
    entry = read_operands(recorded["tag"])
    policy = next(item for item in state.resources if item["kind"] == "ClusterPolicy")
    context = Context(
        entry=entry,
        policy=ClusterPolicySpec(policy, cdi_by_default=entry.behaviour["cdiByDefault"]),
        nodes=labelled,
        runtime=recorded["result"]["detectedRuntime"],
        namespace=state.namespace,
        os_release=state.os_release,
        objects=state.objects,
    )
    return expand_drivers(context, _drivers(state))


def _drivers(state):
    return [item for item in state.resources if item["kind"] == KIND]


def _of_drivers(form):
    """The parts of a recorded form that stem from NVIDIADriver objects."""
    workloads = [item for item in form["workloads"] if (item["owner"] or "").startswith(f"{KIND}/")]
    accounts = {item["serviceAccount"] for item in workloads}
    return {
        "workloads": workloads,
        "rbac": [item for item in form["rbac"] if item["name"] in accounts],
        "serviceAccounts": [item for item in form["serviceAccounts"] if item["name"] in accounts],
        "configMaps": [item for item in form["configMaps"] if workloads and item["name"] == SCRIPTS],
        "conditions": [item for item in form["conditions"] if item["kind"] == KIND],
        "reconcileErrors": {key: text for key, text in form["reconcileErrors"].items() if key.startswith(KIND)},
    }


@pytest.mark.parametrize("case", CASES)
def test_everything_recorded_of_nvidia_drivers_is_what_we_say(recorded, labelled, expansion):
    whole = Expansion(
        release=recorded["tag"],
        objects=expansion.objects,
        node_labels={node.name: node.labels for node in labelled},
        conditions=expansion.conditions,
        errors=expansion.errors,
    )
    ours = oracle.recorded_form(whole, recorded["inputs"])

    assert oracle.differences(_of_drivers(recorded["result"]), _of_drivers(ours)) == []


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_created_beside_what_was_recorded(recorded, expansion):
    result = recorded["result"]
    known = {(item["kind"], item["name"]) for key in ("workloads", "rbac") for item in result[key]}
    known |= {("ServiceAccount", item["name"]) for item in result["serviceAccounts"]}
    known |= {("ConfigMap", item["name"]) for item in result["configMaps"]}

    assert {(item["kind"], item["metadata"]["name"]) for item in expansion.objects} <= known


@pytest.mark.parametrize("case", CASES)
def test_names_are_the_recorded_ones_with_their_hashes(recorded, expansion):
    named = sorted(
        item["name"] for item in recorded["result"]["workloads"] if (item["owner"] or "").startswith(f"{KIND}/")
    )

    assert [item["metadata"]["name"] for item in expansion.objects if item["kind"] == "DaemonSet"] == named


@pytest.mark.parametrize("case", WITH_OWNERS)
def test_owners_are_the_recorded_labels(recorded, state, labelled):
    policy = next(item for item in state.resources if item["kind"] == "ClusterPolicy")
    recorded_owners = {node.name: node.labels.get(DRIVER_OWNER) for node in labelled}
    owners = assign_owners(_drivers(state), labelled)

    if ClusterPolicySpec(policy, cdi_by_default=True).delegates_drivers:
        assert owners == recorded_owners
    else:
        assert set(recorded_owners.values()) == {None}, "nobody asks for owners then"
