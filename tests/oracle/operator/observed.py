"""What the operator left in a cluster, as an expansion, and so in the form of the other recordings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from oracle.operator.binary import NAMESPACE, Log
from oracle.operator.cluster import Cluster, is_ready
from oracle.operator.server_defaults import bare
from poolsmith.fleet.operands.expansion import Expansion, ResourceCondition, in_order

_OWN = ("ClusterPolicy", "NVIDIADriver", "GPUCluster")
_BY_KUBERNETES = ("Pod", "ControllerRevision", "Endpoints", "EndpointSlice", "IPAddress", "Node", *_OWN)
"""What the operator does not create itself: its input, and what the controllers of Kubernetes make."""
UPGRADE_STATE = "nvidia.com/gpu-driver-upgrade-state"
"""The label of the upgrade controller, which says how far an upgrade is; no prediction has it."""
_DIGESTS = ("DRIVER_CONFIG_DIGEST",)
"""Variables whose value is a hash of the program's own structures."""
_CONDITION = ("type", "status", "reason", "message")


def observed(release: str, cluster: Cluster, before: dict, log: Log) -> Expansion:
    """All that is in the cluster and was not `before`, without the server's defaults."""
    after = cluster.everything()
    changed = [item for key, item in after.items() if key[1] not in _BY_KUBERNETES and not _same(before.get(key), item)]
    custom = cluster.custom_resources()
    ready = {f"{item['kind']}/{item['metadata']['name']}" for item in custom if is_ready(item)}
    nodes = {item["metadata"]["name"]: item["metadata"] for key, item in after.items() if key[1] == "Node"}
    namespace = cluster.client.get("v1", "Namespace", NAMESPACE).body["metadata"]
    labels = dict(namespace.get("labels", {}))
    labels.pop("kubernetes.io/metadata.name", None)
    found = Expansion(
        release=release,
        objects=tuple(changed),
        node_labels={name: _without_upgrades(metadata.get("labels", {})) for name, metadata in nodes.items()},
        node_annotations={name: dict(metadata.get("annotations", {})) for name, metadata in nodes.items()},
        namespace_labels=labels,
        runtime=log.runtime(),
        conditions=tuple(_condition(item) for item in custom),
        errors=tuple(text for text in log.errors() if text.partition(": ")[0] not in ready),
    )
    return bared(found)


def bared(expansion: Expansion) -> Expansion:
    """An expansion as `observed` shows one: without defaults, and without values that are hashes of the program's."""
    return replace(expansion, objects=in_order(_without_digests(bare(item)) for item in expansion.objects))


def _without_digests(item: dict[str, Any]) -> dict[str, Any]:
    if item["kind"] == "DaemonSet":
        pod = item["spec"]["template"]["spec"]
        for container in [*pod.get("initContainers", ()), *pod["containers"]]:
            for variable in container.get("env", ()):
                if variable["name"] in _DIGESTS:
                    variable.pop("value", None)
    return item


def _same(before: dict[str, Any] | None, after: dict[str, Any]) -> bool:
    return before is not None and bare(before) == bare(after)


def _without_upgrades(labels: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in labels.items() if key != UPGRADE_STATE}


def _condition(item: dict[str, Any]) -> ResourceCondition:
    status = item.get("status", {})
    return ResourceCondition(
        kind=item["kind"],
        name=item["metadata"]["name"],
        state=status.get("state", ""),
        conditions=tuple({key: told[key] for key in _CONDITION} for told in status.get("conditions", ())),
    )
