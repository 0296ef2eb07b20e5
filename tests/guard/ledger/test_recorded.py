"""Ledgers of what the operator ships and of what its own code produced."""

from __future__ import annotations

from itertools import chain
from pathlib import PurePosixPath

import pytest

from poolsmith.core.sources.pod_template import containers_of, pod_template_of
from poolsmith.fleet.operands.expansion import Node
from poolsmith.guard.ledger.installed_ledger import ledger_of
from poolsmith.guard.ledger.placement import placement_of
from poolsmith.guard.ledger.privilege import Privilege
from poolsmith.guard.ledger.reach import Reach, reach_of
from support.recordings import recording

SHIPPED = recording("gpu_operator")
RUNS = recording("operator_runs")
GOLDEN = SHIPPED.below("gpu-operator/v26.7.0/golden-driver")
STATES = sorted(
    {key.rpartition("/")[0] for key in SHIPPED if "/operands/" in key and "daemonset" in key.rpartition("/")[2]}
)
TAGS = sorted({key.partition("/")[0] for key in RUNS})


def documents(*keys):
    """Objects of files."""
    return [
        document
        for document in chain.from_iterable(SHIPPED[key] for key in keys)
        if isinstance(document, dict) and document.get("kind")
    ]


def settled_in_one_namespace(objects):
    """As the operator does with what it ships."""
    for item in objects:
        if item["kind"] not in ("ClusterRole", "ClusterRoleBinding", "RuntimeClass"):
            item["metadata"]["namespace"] = "gpu-operator"
        for subject in item.get("subjects") or ():
            if subject.get("kind") == "ServiceAccount":
                subject["namespace"] = "gpu-operator"
    return objects


def node(**labels):
    return Node(name="n", labels={f"nvidia.com/{key}": value for key, value in labels.items()})


def as_the_facts_count(objects):
    """Privileged containers and mounted host paths, counted the plain way."""
    privileged, mounted = set(), set()
    for item in objects:
        template = pod_template_of(item)
        if template is None:
            continue
        pod = template["spec"]
        paths = {
            volume["name"]: volume["hostPath"]["path"] for volume in pod.get("volumes", ()) if "hostPath" in volume
        }
        for container in containers_of(pod):
            key = (f"{item['kind']}/{item['metadata']['name']}", container["name"])
            if (container.get("securityContext") or {}).get("privileged"):
                privileged.add(key)
            for mount in container.get("volumeMounts", ()):
                if mount["name"] in paths:
                    path = PurePosixPath(paths[mount["name"]], mount.get("subPath", ""))
                    mounted.add((*key, str(path), "ro" if mount.get("readOnly") else "rw"))
    return privileged, mounted


def assert_complete(objects):
    ledger = ledger_of(objects, {})
    privileged, mounted = as_the_facts_count(objects)

    assert {
        (line.workload, line.container) for line in ledger.lines if line.privilege.name == "privileged"
    } == privileged
    assert {
        (line.workload, line.container, *line.privilege.arguments[:2])
        for line in ledger.lines
        if line.privilege.name == "host-path" and line.container
    } == mounted
    assert all(Privilege.parse(str(line.privilege)) == line.privilege for line in ledger.lines)
    assert all(line.reach is reach_of(line.privilege) for line in ledger.lines)
    return ledger


@pytest.mark.parametrize("key", GOLDEN)
def test_a_rendered_driver_has_all_its_privileged_containers_mounts_and_rights(key):
    ledger = assert_complete(documents(key))

    assert ledger.unknown == ()
    if "/driver-" in key:
        tokens = {str(line.privilege) for line in ledger.lines}
        assert {"privileged", "host-pid", "host-path:/run/nvidia:rw:bidirectional"} <= tokens
        assert "rbac:core/nodes:patch@cluster" in tokens
        assert "rbac:core/pods/eviction:create@cluster" in tokens
        assert Reach.NODE_ROOT in {line.reach for line in ledger.lines}


@pytest.mark.parametrize("state", STATES)
def test_a_shipped_operand_has_all_its_privileged_containers_and_mounts(state):
    objects = settled_in_one_namespace(documents(*SHIPPED.below(state)))
    ledger = assert_complete(objects)

    assert ledger.unknown == ()
    assert Reach.NODE_ROOT in {line.reach for line in ledger.lines}


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (
            "state-mig-manager",
            {
                "host-pid",
                "host-ipc",
                "host-path:/:rw:host-to-container",
                "rbac:core/nodes:patch@cluster",
                "rbac:core/pods:delete@ns/gpu-operator",
            },
        ),
        ("state-vfio-manager", {"host-path:/:rw:none", "host-path:/lib/modules:ro:none"}),
        ("state-operator-validation", {"rbac:core/pods:create@ns/gpu-operator", "host-path:/:ro:host-to-container"}),
        (
            "state-node-status-exporter",
            {"rbac:security.openshift.io/securitycontextconstraints:use@ns/gpu-operator"},
        ),
    ],
)
def test_what_is_worth_flagging_in_v26_7_0_is_there(state, expected):
    files = SHIPPED.below(f"gpu-operator/v26.7.0/operands/{state}")
    ledger = ledger_of(settled_in_one_namespace(documents(*files)), {})
    tokens = {str(line.privilege) for line in ledger.lines}

    assert {text for text in expected if text not in tokens} == set()


def test_the_operands_land_where_the_labels_of_the_operator_send_them():
    folder = "gpu-operator/v26.7.0/operands"
    files = [*SHIPPED.below(f"{folder}/state-mig-manager"), *SHIPPED.below(f"{folder}/state-vfio-manager")]
    objects = settled_in_one_namespace(documents(*files))
    pools = {
        "mig": [node(**{"gpu.deploy.mig-manager": "true"})],
        "plain": [node(**{"gpu.deploy.mig-manager": "false"})],
        "passthrough": [node(**{"gpu.deploy.vfio-manager": "true"})],
    }
    ledger = ledger_of(objects, pools)

    assert ledger.pools == ("mig", "passthrough")
    assert ledger.only(pool="mig").workloads == ("DaemonSet/nvidia-mig-manager",)
    assert ledger.only(pool="passthrough").workloads == ("DaemonSet/nvidia-vfio-manager",)


@pytest.mark.parametrize("tag", TAGS)
def test_each_recorded_workload_lands_on_the_nodes_that_were_recorded(tag):
    told = 0
    for key in RUNS.below(tag):
        result = RUNS[key]["result"]
        nodes = [Node(name=name, labels=item["labels"]) for name, item in result.get("nodeLabelsAfter", {}).items()]
        for workload in result.get("workloads", ()):
            placement = placement_of(workload["kind"], workload)
            placement_without_taints = [item.name for item in nodes if placement.takes(item)]
            assert sorted(placement_without_taints) == sorted(workload["matchingNodes"]), f"{key}: {workload['name']}"
            told += 1

    assert told > 100
