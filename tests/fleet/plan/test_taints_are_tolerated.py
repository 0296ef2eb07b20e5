"""Whatever taints pools have: what would run on their nodes without them runs there with them, from the first moment on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poolsmith.fleet.profiles.toleration import Tolerations, covered, stays, tolerates
from poolsmith.guard.ledger.placement import placement_of
from poolsmith.guard.ledger.prediction import Predictions

KEYS = ("nvidia.com/gpu", "team", "example.com/starting", "a/b")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
CONTAINERS = {"driver": "{source: container}"}
PREINSTALLED = {"driver": "{source: preinstalled}"}
PASSTHROUGH = {
    "driver": None,
    "workload": "vm-passthrough",
    "gpu": "{product: NVIDIA-A10, count: 1}",
    "acknowledge": "[{fact: iommu}, {fact: acs}, {fact: nouveau-off}]",
}
STACKS = (
    ("{release: v24.9.2}", CONTAINERS),
    ("{release: v26.3.3}", CONTAINERS),
    ("{release: v26.3.3, driverMode: nvidia-driver}", CONTAINERS),
    ("{release: v26.7.0, driverMode: nvidia-driver}", CONTAINERS),
    ("{release: v25.10.1}", PASSTHROUGH),
    ("{release: v26.7.0}", PASSTHROUGH),
    ("{kind: device-plugin, release: v0.17.1, dcgmExporter: {release: 4.1.1-4.0.4}}", PREINSTALLED),
)
taints = st.lists(
    st.tuples(st.sampled_from(KEYS), st.sampled_from(("", "true", "present")), st.sampled_from(EFFECTS)),
    max_size=3,
    unique_by=lambda taint: (taint[0], taint[2]),
)


@st.composite
def pools(draw):
    """Taints and startup taints, none of them twice."""
    permanent = draw(taints)
    seen = {(key, effect) for key, _, effect in permanent}
    startup = [item for item in draw(taints) if (item[0], item[2]) not in seen and item[2] != "PreferNoSchedule"]
    return permanent, startup


def written(found):
    return "[" + ", ".join(f'{{key: {key}, value: "{value}", effect: {effect}}}' for key, value, effect in found) + "]"


def bodies(found):
    return tuple({"key": key, "value": value, "effect": effect} for key, value, effect in found)


def workloads(installation):
    """What has to run on GPU nodes: not the Deployments of operator and NFD, which run anywhere, nor hook jobs."""
    for item in installation.made:
        if item.body["kind"] in ("DaemonSet", "Pod"):
            body = item.body
            yield item.workload, placement_of(body["kind"], body["spec"] if body["kind"] == "Pod" else pod_of(body))


def pod_of(body):
    return body["spec"]["template"]["spec"]


@pytest.mark.deep("a whole run, 1.1 s; its parts have tests of their own")
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stack=st.sampled_from(STACKS), found=st.lists(pools(), min_size=1, max_size=3))
def test_no_workload_is_kept_off_a_pool_by_its_taints(resolve, catalog, stack, found):
    release, pool = stack
    profiles = {
        f"p{index}": {**pool, "nodes": f"{{taints: {written(kept)}, startupTaints: {written(starting)}}}"}
        for index, (kept, starting) in enumerate(found)
    }
    outcome = resolve({"stack": release}, profiles)
    assert outcome.plan is not None, [item.message for item in outcome.diagnostics]
    installation = Predictions(catalog).of(outcome.plan, outcome.loaded).installation

    placed = list(workloads(installation))
    assert placed
    for index, (kept, starting) in enumerate(found):
        (node,) = [node for node in installation.nodes if node.name == f"p{index}"]
        free, new = replace(node, taints=()), replace(node, taints=bodies([*kept, *starting]))
        assert [name for name, placement in placed if placement.takes(free)] == [
            name for name, placement in placed if placement.takes(new)
        ]


@pytest.mark.parametrize(
    ("toleration", "taint", "answer"),
    [
        ({"operator": "Exists"}, {"key": "a", "effect": "NoSchedule"}, True),
        ({"key": "a", "operator": "Exists"}, {"key": "a", "value": "x", "effect": "NoExecute"}, True),
        ({"key": "a", "operator": "Exists", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"}, False),
        ({"key": "a"}, {"key": "a", "effect": "NoSchedule"}, True),
        ({"key": "a", "value": "x"}, {"key": "a", "value": "y", "effect": "NoSchedule"}, False),
        ({"key": "a", "operator": "Equal", "value": None}, {"key": "a", "value": "", "effect": "NoSchedule"}, True),
        ({"value": ""}, {"key": "a", "value": "", "effect": "NoSchedule"}, False),
        ({"key": "a", "operator": "exists"}, {"key": "a", "effect": "NoSchedule"}, False),
        ({"key": "a", "operator": "Gt", "value": "1"}, {"key": "a", "value": "2", "effect": "NoSchedule"}, None),
        ({"key": "b", "operator": "Gt", "value": "1"}, {"key": "a", "value": "2", "effect": "NoSchedule"}, False),
    ],
)
def test_a_toleration_matches_as_in_the_scheduler(toleration, taint, answer):
    assert tolerates(toleration, taint) is answer


def test_a_pod_that_is_to_stay_needs_more_than_some_seconds():
    taint = {"key": "a", "effect": "NoExecute"}
    for_a_minute = {"key": "a", "operator": "Exists", "tolerationSeconds": 60}

    assert tolerates(for_a_minute, taint) is True
    assert stays(for_a_minute, taint) is False


def test_taints_are_covered_by_any_toleration_and_preferences_by_none():
    compares = {"key": "a", "operator": "Lt", "value": "5"}

    assert covered({"key": "a", "effect": "PreferNoSchedule"}, []) is True
    assert covered({"key": "a", "effect": "NoSchedule"}, []) is False
    assert covered({"key": "a", "effect": "NoSchedule"}, [compares]) is None
    assert covered({"key": "a", "effect": "NoSchedule"}, [compares, {"operator": "Exists"}]) is True


@given(
    st.lists(
        st.fixed_dictionaries(
            {"operator": st.sampled_from(("Exists", "Equal"))},
            optional={
                "key": st.sampled_from(KEYS),
                "value": st.sampled_from(("", "true")),
                "effect": st.sampled_from(EFFECTS),
            },
        ),
        max_size=4,
    ),
    taints,
)
def test_many_tolerations_answer_as_each_of_them(tolerations, found):
    for taint in bodies(found):
        assert Tolerations(tolerations).cover(taint) is covered(taint, tolerations)


def test_what_is_no_toleration_tolerates_nothing():
    taint = {"key": "a", "value": "x", "effect": "NoSchedule"}
    found = Tolerations([None, "a", {"key": "a", "value": "y"}])

    assert found.cover(taint) is False
    assert found.near(taint) == (2, "y")
