"""Small clusters for the tests of NVIDIADriver objects."""

from __future__ import annotations

from dataclasses import replace

from poolsmith.fleet.operands.custom_resources import ClusterPolicySpec
from poolsmith.fleet.operands.expansion import Node
from poolsmith.fleet.operands.expansion_context import Context
from poolsmith.fleet.operands.kube import OperatorError
from poolsmith.fleet.operands.nvidia_driver import assign_owners, expand_drivers
from poolsmith.gpu.catalog.node_labels import DRIVER_OWNER
from poolsmith.gpu.catalog.operands import read_operands

NFD = "feature.node.kubernetes.io/"
RELEASES = ("v24.6.1", "v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0")
NEWEST = RELEASES[-1]
IMAGE = {"repository": "nvcr.io/nvidia", "image": "driver", "version": "595.91.07"}
DELEGATING = {"driver": {"useNvidiaDriverCRD": True}}


def driver(name="pool", uid=None, **spec):
    metadata = {"name": name, **({"uid": uid} if uid else {})}
    whole = {"driverType": "gpu", "usePrecompiled": False, **IMAGE, **spec}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": "NVIDIADriver", "metadata": metadata, "spec": whole}


def node(name="node-1", os_id="ubuntu", version="22.04", kernel="", **labels):
    system = {f"{NFD}system-os_release.ID": os_id, f"{NFD}system-os_release.VERSION_ID": version}
    system[f"{NFD}system-os_release.VERSION_ID.major"] = version.split(".")[0]
    if kernel:
        system[f"{NFD}kernel-version.full"] = kernel
    return Node(name=name, labels={"nvidia.com/gpu.present": "true", **system, **labels})


def config_map(name, *keys):
    return {"kind": "ConfigMap", "metadata": {"name": name}, "data": dict.fromkeys(keys, "text")}


def expanded(drivers, nodes=None, release=NEWEST, policy=DELEGATING, runtime="containerd", objects=(), **options):
    """What becomes of them, with owners on the nodes where the release has that."""
    nodes = [node()] if nodes is None else nodes
    stated = {"metadata": {"name": "policy"}, "spec": policy}
    context = Context(
        entry=read_operands(release),
        policy=None if policy is None else ClusterPolicySpec(stated, cdi_by_default=True),
        nodes=tuple(_owned(drivers, nodes) if release == NEWEST else nodes),
        runtime=runtime,
        objects=tuple(objects),
    )
    return expand_drivers(context, drivers, **options)


def _owned(drivers, nodes):
    try:
        owners = assign_owners(drivers, nodes)
    except OperatorError:
        return nodes
    return [
        replace(item, labels={**item.labels, DRIVER_OWNER: owners[item.name]}) if owners.get(item.name) else item
        for item in nodes
    ]


def daemon_sets(expansion):
    """All of them, with nothing unknown and nothing refused."""
    assert expansion.unknown == ()
    assert {item.state for item in expansion.conditions} <= {"ready"}, expansion.conditions
    return [item for item in expansion.objects if item["kind"] == "DaemonSet"]


def pod(drivers, **options):
    (only,) = daemon_sets(expanded(drivers if isinstance(drivers, list) else [drivers], **options))
    return only["spec"]["template"]["spec"]


def container(pod_spec, name="nvidia-driver-ctr"):
    everything = [*pod_spec["initContainers"], *pod_spec["containers"]]
    return next((item for item in everything if item["name"] == name), None)


def variables(found):
    """Names and values in order; None for what no one can know offline."""
    return [(item["name"], item.get("value")) for item in found.get("env", ()) if "valueFrom" not in item]


def errors(expansion):
    """State, reason and message of every resource that is not ready."""
    found = {}
    for item in expansion.conditions:
        told = next(condition for condition in item.conditions if condition["type"] == "Error")
        if told["status"] == "True":
            found[item.name] = (item.state, told["reason"], told["message"])
    return found
