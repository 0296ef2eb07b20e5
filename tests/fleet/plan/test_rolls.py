"""A pool whose nodes are on their way from one kernel, or version of their system, to another."""

from __future__ import annotations

import pytest

from poolsmith.fleet.operands.pool_nodes import pool_nodes
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.node_labels import KERNEL, OS_VERSION
from poolsmith.guard.ledger.prediction import Predictions

OLD, NEW = "5.15.0-105-generic", "5.15.0-113-generic"
BOTH = {"kernel": f"{{releases: [{OLD}, {NEW}]}}"}
PRECOMPILED = {"driver": '{source: precompiled, version: "570"}'}
OBJECTS = {"stack": "{release: v25.3.4, driverMode: nvidia-driver}"}
LATER = {"stack": "{release: v26.3.3, driverMode: nvidia-driver}"}
POLICY = {"stack": "{release: v25.3.4}"}


def prediction_of(outcome):
    return Predictions(Catalog()).of(outcome.plan, outcome.loaded)


def driver_sets(outcome):
    """Name, kernel that it is bound to, image, and the pools that it lands on."""
    prediction = prediction_of(outcome)
    found = {}
    for made in prediction.installation.made:
        pod = made.body.get("spec", {}).get("template", {}).get("spec", {})
        for container in pod.get("containers", ()):
            if container["name"] == "nvidia-driver-ctr":
                selector = pod["nodeSelector"]
                found[made.name] = (selector.get(KERNEL), container["image"], prediction.ledger.landing[made.key])
    return found


@pytest.mark.parametrize("mode", [OBJECTS, POLICY], ids=["objects", "policy"])
def test_a_precompiled_driver_has_pods_and_an_image_for_each_kernel(resolve, mode):
    sets = driver_sets(resolve(mode, {"a": {**PRECOMPILED, **BOTH}}))

    assert sorted(kernel for kernel, _, _ in sets.values()) == [OLD, NEW]
    assert all(kernel in image for kernel, image, _ in sets.values())
    assert {pools for _, _, pools in sets.values()} == {("a",)}


@pytest.mark.parametrize("mode", [OBJECTS, POLICY], ids=["objects", "policy"])
def test_the_old_image_stays_until_the_old_kernel_leaves_the_profile(resolve, mode):
    def images(**fields):
        outcome = resolve(mode, {"a": {**PRECOMPILED, **fields}})
        return {use.image for use in prediction_of(outcome).images() if "/driver:" in use.image}

    before, during, after = images(kernel=f"{{release: {OLD}}}"), images(**BOTH), images(kernel=f"{{release: {NEW}}}")

    assert during == before | after
    assert len(before) == len(after) == 1
    assert before != after


@pytest.mark.parametrize("mode", [OBJECTS, POLICY], ids=["objects", "policy"])
def test_a_compiled_driver_is_built_anew_by_the_same_pods(resolve, mode):
    one = resolve(mode, {"a": {"kernel": f"{{release: {OLD}}}"}})
    many = resolve(mode, {"a": BOTH})

    assert driver_sets(many) == driver_sets(one)
    assert many.values == one.values


def test_two_versions_of_a_system_have_an_image_each_under_driver_objects(resolve):
    rolled = {"os": '{id: ubuntu, versions: ["22.04", "24.04"]}'}
    sets = driver_sets(resolve(OBJECTS, {"a": rolled}))

    assert sorted(image.rpartition("-")[2] for _, image, _ in sets.values()) == ["ubuntu22.04", "ubuntu24.04"]


def test_and_are_refused_under_one_cluster_policy(resolve):
    rolled = {"os": '{id: ubuntu, versions: ["22.04", "24.04"]}'}
    outcome = resolve(POLICY, {"a": rolled})

    assert "driver-disagreement" in outcome.names
    (found,) = [item for item in outcome.diagnostics if item.name == "driver-disagreement"]
    assert "ubuntu22.04, ubuntu24.04" in found.message


def test_versions_and_kernels_of_one_length_belong_together(resolve, catalog):
    rolled = {
        "os": '{id: ubuntu, versions: ["22.04", "24.04"]}',
        "kernel": "{releases: [5.15.0-105-generic, 6.8.0-40-generic]}",
    }
    plan = resolve(OBJECTS, {"a": rolled, "b": {}}).plan
    nodes = pool_nodes(plan, catalog.gpus)

    assert [(node.name, node.pool) for node in nodes] == [("a", "a"), ("a.2", "a"), ("b", "b")]
    assert [(node.labels[OS_VERSION], node.labels[KERNEL]) for node in nodes[:2]] == [
        ("22.04", "5.15.0-105-generic"),
        ("24.04", "6.8.0-40-generic"),
    ]


REFUSED = [
    ("versions and kernels of other lengths", {"os": '{id: ubuntu, versions: ["22.04", "24.04"]}', "kernel": "{releases: [a, b, c]}"}, "/spec/kernel/releases", "invalid-value"),
    ("more than anybody rolls", {"kernel": f"{{releases: [{', '.join(f'k{n}' for n in range(9))}]}}"}, "/spec/kernel/releases", "out-of-range"),
    ("a kernel of another processor", {**PRECOMPILED, "kernel": "{releases: [5.15.0-105-generic, 5.15.0-1.aarch64]}"}, "/spec/kernel/releases/1", "driver-contradiction"),
    ("a version that nobody knows", {"os": '{id: ubuntu, versions: ["22.04", "23.33"]}'}, "/spec/os/versions/1", "unknown-operating-system"),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[0])
def test_what_is_refused_is_told_at_the_item(resolve, case):
    _, pool, place, name = case
    found = [item for item in resolve(OBJECTS, {"a": pool}).diagnostics if item.name == name]

    assert found
    assert all(item.primary.pointer.startswith(place) for item in found)


def test_one_finding_is_at_the_second_item_where_only_that_is_wrong(resolve):
    outcome = resolve(OBJECTS, {"a": {"os": '{id: ubuntu, versions: ["22.04", "23.33"]}'}})
    (found,) = [item for item in outcome.diagnostics if item.name == "unknown-operating-system"]

    assert "23.33" in found.message
    assert str(found.primary.span).endswith("a.yaml:5:40")


def test_a_version_without_a_row_is_told_though_the_one_before_has_one(resolve):
    pool = {"os": '{id: ubuntu, versions: ["22.04", "20.04"]}', "driver": "{source: container}"}
    found = [item for item in resolve(LATER, {"a": pool}).diagnostics if item.name == "no-support-row"]
    before = {**pool, "os": '{id: ubuntu, version: "22.04"}'}

    assert [item for item in resolve(LATER, {"a": before}).diagnostics if item.name == "no-support-row"] == []
    assert "/spec/os/versions/1" in {item.primary.pointer for item in found}
