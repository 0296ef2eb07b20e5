"""What nodes say of themselves and of their GPUs: each thing that is wrong is one finding, and nothing else is told."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from change.live.conftest import ROOT
from poolsmith.change.verify.live_view import LiveView
from poolsmith.change.verify.verification import judge_live
from poolsmith.gpu.catalog.live_resources import DRIVERS
from poolsmith.kubernetes.live.api_resources import DAEMON_SETS, NODES, PODS, RUNTIME_CLASSES
from support.circles import parameters
from support.live_cluster import recorded_snapshot, told, view

if TYPE_CHECKING:
    from collections.abc import Callable

NODE = "l40s-shared"
"""Of prod-eu: time slicing with four replicas, and a driver that the operator installs."""
OS_LABELS = "feature.node.kubernetes.io/system-os_release."


@dataclass(frozen=True)
class Case:
    """A change of one node, and what is said of it: nothing where `words` are empty."""

    what: str
    change: Callable[[dict[str, Any]], None]
    words: tuple[str, ...] = ()


def label(key: str, value: str | None) -> Callable[[dict[str, Any]], None]:
    def change(node: dict[str, Any]) -> None:
        labels = node["metadata"]["labels"]
        labels.pop(key, None)
        if value is not None:
            labels[key] = value

    return change


def offers(capacity: dict[str, str], allocatable: dict[str, str] | None = None) -> Callable[[dict[str, Any]], None]:
    def change(node: dict[str, Any]) -> None:
        for field, found in (("capacity", capacity), ("allocatable", allocatable or capacity)):
            kept = {key: value for key, value in node["status"][field].items() if not key.startswith("nvidia.com/")}
            node["status"][field] = kept | found

    return change


def taint(key: str, value: Any = "", effect: str = "NoSchedule") -> Callable[[dict[str, Any]], None]:
    def change(node: dict[str, Any]) -> None:
        node["spec"]["taints"] = [*node["spec"].get("taints", []), {"key": key, "value": value, "effect": effect}]

    return change


def ready(status: str) -> Callable[[dict[str, Any]], None]:
    def change(node: dict[str, Any]) -> None:
        node["status"]["conditions"] = [{"type": "Ready", "status": status}]

    return change


def info(**facts: str) -> Callable[[dict[str, Any]], None]:
    return lambda node: node["status"]["nodeInfo"].update(facts)


def without_discovery(image: str) -> Callable[[dict[str, Any]], None]:
    def change(node: dict[str, Any]) -> None:
        labels = node["metadata"]["labels"]
        for key in [key for key in labels if key.startswith(OS_LABELS)]:
            del labels[key]
        node["status"]["nodeInfo"]["osImage"] = image

    return change


def both(*changes: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    def change(node: dict[str, Any]) -> None:
        for one in changes:
            one(node)

    return change


CASES = (
    Case(
        "an operand is switched off",
        label("nvidia.com/gpu.deploy.dcgm-exporter", "false"),
        ("PSM856", "has `false` as label `nvidia.com/gpu.deploy.dcgm-exporter`", "`true` is predicted"),
    ),
    Case(
        "the operator has not written a label",
        label("nvidia.com/gpu.deploy.driver", None),
        ("PSM856", "lacks what the operator writes: 1 label (`nvidia.com/gpu.deploy.driver`)"),
    ),
    Case(
        "all operands are switched off",
        both(
            label("nvidia.com/gpu.deploy.operands", "false"),
            label("nvidia.com/gpu.deploy.driver", None),
            label("nvidia.com/gpu.deploy.dcgm-exporter", None),
        ),
        ("PSM856", "`nvidia.com/gpu.deploy.operands`: the operator runs nothing there"),
    ),
    Case(
        "its driver is left as it is",
        label("nvidia.com/gpu-driver-upgrade.skip", "true"),
        ("PSM856", "the operator leaves its driver as it is"),
    ),
    Case(
        "an operand makes room for another",
        label("nvidia.com/gpu.deploy.dcgm-exporter", "paused-for-mig-change"),
    ),
    Case(
        "the host brings a driver of its own",
        label("nvidia.com/gpu.deploy.driver", "pre-installed"),
        ("PSM856", "has `pre-installed` as label", "`true` is predicted"),
    ),
    Case("the driver is upgraded", label("nvidia.com/gpu-driver-upgrade-state", "drain-required")),
    Case(
        "a layout could not be changed",
        label("nvidia.com/mig.config.state", "failed"),
        ("PSM858", "the change of the MIG layout failed (label `nvidia.com/mig.config.state`) on 1 node"),
    ),
    Case("the kubelet is gone", ready("Unknown"), ("PSM858", "the kubelet is not ready on 1 node")),
    Case("the kubelet is ready", ready("True")),
    Case(
        "a GPU is ill",
        offers({"nvidia.com/gpu": "16"}, {"nvidia.com/gpu": "12"}),
        ("PSM858", "the plugin holds 4 of 16 `nvidia.com/gpu` for unhealthy"),
    ),
    Case(
        "it is not shared",
        offers({"nvidia.com/gpu": "4"}),
        ("PSM855", "how many `nvidia.com/gpu` it offers is `4`", "the profile says `16`"),
    ),
    Case(
        "it offers slices",
        offers({"nvidia.com/mig-1g.10gb": "28"}),
        ("PSM855", "what it offers to pods is `nvidia.com/mig-1g.10gb`", "the profile says `nvidia.com/gpu`"),
    ),
    Case("it offered slices once", offers({"nvidia.com/gpu": "16", "nvidia.com/mig-1g.10gb": "0"})),
    Case(
        "it offers nothing",
        offers({"nvidia.com/gpu": "0"}),
        ("PSM858", "no `nvidia.com/gpu` is offered, though the device plugin is ready, on 1 node"),
    ),
    Case(
        "slices are in the making",
        both(offers({"nvidia.com/gpu": "0"}), label("nvidia.com/mig.config.state", "rebooting")),
    ),
    Case(
        "its GPUs are cut",
        label("nvidia.com/gpu.product", "NVIDIA-L40S-MIG-1g.10gb"),
        ("PSM855", "what its GPUs are cut into is `1g.10gb`", "the profile says `nothing`"),
    ),
    Case("its GPUs are shared", label("nvidia.com/gpu.product", "NVIDIA-L40S-SHARED")),
    Case("a storm is over it", taint("node.kubernetes.io/memory-pressure")),
    Case("it is to go", taint("ToBeDeletedByClusterAutoscaler", "1764000000")),
    Case(
        "somebody keeps it for himself",
        taint("example.com/mine", "yes"),
        ("PSM855", "has the taint `example.com/mine=yes:NoSchedule`, which the profile does not say"),
    ),
    Case(
        "its system is another one, as the kubelet tells",
        without_discovery("Ubuntu 22.04.5 LTS"),
        ("PSM855", "the version of the operating system is `22.04`", "`24.04`"),
    ),
    Case(
        "its kubelet tells of another system than its labels",
        info(osImage="Red Hat Enterprise Linux 9.6 (Plow)"),
        ("PSM855", "the operating system is `rhel`", "the profile says `ubuntu`"),
    ),
    Case(
        "its labels tell of another system than its kubelet",
        both(label(f"{OS_LABELS}VERSION_ID", "22.04"), info(osImage="Ubuntu 24.04.3 LTS")),
        ("PSM855", "the version of the operating system is `22.04`"),
    ),
    Case("its processor is another one by its label", label("kubernetes.io/arch", "arm64"), ("PSM855", "is `arm64`")),
    Case("nobody knows its system", without_discovery("A Linux of our own")),
    Case("its system is the right one, as the kubelet tells", without_discovery("Ubuntu 24.04.3 LTS")),
)


@pytest.fixture(scope="module")
def recorded():
    cluster = view(ROOT, "prod-eu")
    return cluster, recorded_snapshot(cluster)


def with_items(snapshot, resource, items):
    lists = tuple(replace(one, items=tuple(items)) if one.resource == resource else one for one in snapshot.lists)
    return replace(snapshot, lists=lists)


def with_node(snapshot, change, name=NODE):
    nodes = [copy.deepcopy(item) for item in snapshot.items(NODES)]
    change(next(item for item in nodes if item["metadata"]["name"] == name))
    return with_items(snapshot, NODES, nodes)


def test_the_recorded_cluster_is_clean(recorded):
    assert told(*recorded) == []


@pytest.mark.rows(6, "each kind of change to a node")
@pytest.mark.parametrize("case", CASES, ids=[case.what for case in CASES])
def test_it_is_told_and_nothing_else_is(recorded, case):
    cluster, snapshot = recorded
    found = told(cluster, with_node(snapshot, case.change))

    assert len(found) == bool(case.words), found
    assert all(word in found[0] for word in case.words)
    assert all("l40s-shared" in text for text in found)


@pytest.mark.parametrize("odd", [[], {}, {"a": []}, None, 7, True])
def test_what_is_of_a_wrong_type_says_nothing(recorded, odd):
    cluster, snapshot = recorded

    def spoil(node):
        node["spec"]["taints"] = [{"key": "example.com/odd", "value": odd, "effect": odd}, odd]
        node["status"]["conditions"] = odd
        node["status"]["capacity"] = {"nvidia.com/gpu": odd}

    assert isinstance(told(cluster, with_node(snapshot, spoil)), list)


def test_nodes_that_are_wrong_alike_are_one_finding(recorded):
    cluster, snapshot = recorded
    (node,) = (item for item in snapshot.items(NODES) if item["metadata"]["name"] == NODE)
    copies = []
    for number in range(50):
        item = copy.deepcopy(node)
        item["metadata"]["name"] = f"{NODE}-{number}"
        del item["metadata"]["labels"]["example.com/gpu-pool"]
        copies.append(item)
    (lost,) = told(cluster, with_items(snapshot, NODES, [*snapshot.items(NODES), *copies]))

    assert lost.startswith("PSM854 50 nodes (")
    assert "in no pool: no label `example.com/gpu-pool`" in lost


def test_a_node_with_the_label_of_another_pool_is_one_finding(recorded):
    cluster, snapshot = recorded
    (text,) = told(cluster, with_node(snapshot, label("example.com/gpu-pool", "h100-rhel")))

    assert text.startswith("PSM855 node `l40s-shared` of pool `h100-rhel` by its label is like pool `l40s-shared`")
    assert "the operating system is `ubuntu`" in text


@pytest.mark.parametrize("name", parameters(("machines", "kata-a10"), ("prod-eu", "prod-rke2")))
def test_each_node_with_the_label_of_each_other_pool_is_one_finding(name):
    cluster = view(ROOT, name)
    snapshot = recorded_snapshot(cluster)
    key = cluster.plan.cluster.spec.pool_label
    for node in snapshot.items(NODES):
        own = node["metadata"]["labels"][key]
        for pool in cluster.plan.pools:
            if pool.label_value != own:
                changed = with_node(snapshot, label(key, pool.label_value), node["metadata"]["name"])
                (text,) = told(cluster, changed)
                assert f"node `{node['metadata']['name']}` of pool `{pool.name}` " in text
                assert f" by its label is like pool `{own}`, and unlike its own: " in text or " is wanted" in text


def test_a_node_that_is_like_no_pool_is_told_thing_by_thing(recorded):
    change = both(info(architecture="arm64", osImage="Red Hat Enterprise Linux 9.6 (Plow)"))
    found = told(recorded[0], with_node(recorded[1], change))

    assert len(found) == 2
    assert all(text.startswith("PSM855 node `l40s-shared` of pool `l40s-shared`: ") for text in found)


@pytest.mark.parametrize(
    ("taints", "words"),
    [
        (
            ("nvidia.com/gpu", "", "PreferNoSchedule"),
            "has no taint `nvidia.com/gpu=:NoSchedule`, and `nvidia.com/gpu=:P",
        ),
        (("nvidia.com/gpu", "mine", "NoSchedule"), "and `nvidia.com/gpu=mine:NoSchedule` in its place"),
    ],
)
def test_a_taint_in_the_place_of_another_is_one_finding(recorded, taints, words):
    def change(node):
        (wanted,) = (one for one in node["spec"]["taints"] if one["key"] == taints[0])
        wanted |= {"value": taints[1], "effect": taints[2]}

    (text,) = told(recorded[0], with_node(recorded[1], change, "a100-mig"))

    assert text.startswith("PSM856 node `a100-mig`")
    assert words in text


WAITS = {"name": "c", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({"conditions": [{"type": "Ready", "status": "False"}]}, "is not ready"),
        ({"phase": "Running", "containerStatuses": [WAITS]}, "is not ready: container `c` is in CrashLoopBackOff"),
        ({"phase": "Failed", "conditions": [{"type": "Ready", "status": "False"}]}, ""),
        ({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}, ""),
    ],
)
def test_a_pod_that_says_it_fails_is_told_whatever_its_controller_counts(recorded, status, words):
    cluster, snapshot = recorded
    pods = [copy.deepcopy(item) for item in snapshot.items(PODS)]
    pod = next(item for item in pods if item["metadata"]["name"].startswith("nvidia-dcgm-exporter-"))
    pod["status"] = status
    found = told(cluster, with_items(snapshot, PODS, pods))

    assert len(found) == bool(words)
    for text in found:
        assert text.startswith("PSM858 `DaemonSet/nvidia-dcgm-exporter` in `gpu-operator`")
        assert f"pod `{pod['metadata']['name']}`" in text
        assert words in text


def test_how_far_an_upgrade_is_is_said(recorded):
    cluster, snapshot = recorded
    snapshot = with_node(snapshot, label("nvidia.com/gpu-driver-upgrade-state", "drain-required"))
    snapshot = with_node(snapshot, label("nvidia.com/gpu-driver-upgrade-state", "upgrade-done"), "h100-rhel")
    facts = judge_live(LiveView(cluster, snapshot)).facts

    (line,) = (text for text in facts if text.startswith("driver upgrades, by node: "))
    assert "1 drain-required, " in line


def test_a_pool_without_nodes_lacks_what_the_operator_would_make_for_them(recorded):
    """Scaled to nothing: its NVIDIADriver stands, and the operator makes nothing of it."""
    cluster, snapshot = recorded
    of_pool = {item["metadata"]["uid"] for item in snapshot.items(DRIVERS) if item["metadata"]["name"].startswith(NODE)}

    def is_of_pool(item):
        return any(owner["uid"] in of_pool for owner in item["metadata"].get("ownerReferences", ()))

    of_pool |= {item["metadata"]["uid"] for item in snapshot.items(DAEMON_SETS) if is_of_pool(item)}
    lists = tuple(
        replace(one, items=tuple(item for item in one.items if not is_of_pool(item))) for one in snapshot.lists
    )
    nodes = [item for item in snapshot.items(NODES) if item["metadata"]["name"] != NODE]
    outcome = judge_live(LiveView(cluster, with_items(replace(snapshot, lists=lists), NODES, nodes)))

    assert [item.message for item in outcome.diagnostics] == []
    assert f"no node yet in 1 pool: `{NODE}`" in outcome.facts


def test_without_any_node_no_daemon_set_of_the_operator_is_missed(recorded):
    cluster, snapshot = recorded
    kept = [item for item in snapshot.items(DAEMON_SETS) if not item["metadata"].get("ownerReferences")]
    found = told(cluster, with_items(with_items(snapshot, NODES, []), DAEMON_SETS, kept))

    assert not any(text.startswith("PSM850 `DaemonSet") for text in found), found


@pytest.mark.parametrize(("name", "distribution"), [("prod-eu", "kubeadm"), ("prod-rke2", "rke2")])
def test_runtime_classes_of_a_distribution_are_not_left_over(name, distribution):
    cluster = view(ROOT, name)
    snapshot = recorded_snapshot(cluster)
    assert cluster.plan.cluster.spec.kubernetes.distribution == distribution
    held = list(snapshot.items(RUNTIME_CLASSES))
    names = {item["metadata"]["name"] for item in held}
    more = [
        {"metadata": {"name": item}, "handler": item}
        for item in ("nvidia-experimental", "nvidia-mine")
        if item not in names
    ]
    found = told(cluster, with_items(snapshot, RUNTIME_CLASSES, [*held, *more]))

    assert sum("RuntimeClass/nvidia-experimental" in text for text in found) == (distribution == "kubeadm")
    assert sum("RuntimeClass/nvidia-mine" in text for text in found) == 1


def test_applications_of_a_hub_stand_there(recorded):
    """Argo CD runs in another cluster, and delivers from there: what it needs for that is not looked for here."""
    from poolsmith.change.verify.expected import expected_objects
    from poolsmith.fleet.profiles.cluster import ArgoDestination

    plan = recorded[0].plan

    def objects(destination):
        delivery = replace(plan.cluster.spec.delivery, destination=destination)
        moved = replace(plan, cluster=replace(plan.cluster, spec=replace(plan.cluster.spec, delivery=delivery)))
        return {item.shown for item in expected_objects(moved, recorded[0].prediction, ())}

    here, there = objects(ArgoDestination(server="https://kubernetes.default.svc")), objects(ArgoDestination(name="a"))

    assert {text.partition("/")[0] for text in here - there} <= {"`Application", "`AppProject", "`Kustomization"}
    assert here - there
    assert not there - here
    assert objects(None) == objects(ArgoDestination(name="in-cluster")) == here
