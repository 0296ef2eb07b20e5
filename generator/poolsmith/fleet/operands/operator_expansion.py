"""From custom resources and nodes to all that a release's operator creates, in its steady state.

Nothing is guessed: what is not modelled is in `unknown`, and the operator's own errors are in `errors`. What is about
GPUClusters is imported when there is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import replace
from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.operands.custom_resources import ClusterPolicySpec, not_ready
from poolsmith.fleet.operands.expansion import NO_OPERANDS, ClusterState, Expansion, Node, ResourceCondition, in_order
from poolsmith.fleet.operands.expansion_context import Context, detect_runtime
from poolsmith.fleet.operands.kube import OperatorError
from poolsmith.fleet.operands.operator_labels import UPGRADE_ANNOTATION, labels_after, upgrades_driver
from poolsmith.fleet.operands.policy_expansion import early_failure, expand_policy, refusal
from poolsmith.gpu.catalog.node_labels import DRIVER_OWNER, GPU_PRESENT
from poolsmith.gpu.catalog.operands import OperandEntry, read_operands

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from poolsmith.fleet.operands.expansion import KubernetesObject


_LABELLING = "NodeLabeling/cluster"


def expand(release: str, state: ClusterState) -> Expansion:
    """What the operator of `release` makes of a cluster. Raises nothing, whatever the resources say."""
    entry = read_operands(release)
    if entry is None:
        return Expansion(release=release, unknown=(f"{NO_OPERANDS}{release}",))
    resources = _Resources(state)
    if resources.policy is None and not (resources.gpu_cluster or resources.drivers):
        return Expansion(release=release)
    policy = _policy(resources.policy, entry)
    if policy is not None and resources.gpu_cluster is not None:
        return _conflict(entry, state, resources)
    nodes, errors = _labelled(entry, policy, resources, state)
    context = _context(entry, policy, nodes, state)
    stopped = policy is not None and early_failure(context) is not None
    unmarked = stopped and not entry.behaviour["labelsApart"]
    parts = [
        Expansion(
            release=release,
            runtime=context.runtime if policy is not None and not stopped else "",
            node_labels={node.name: node.labels for node in nodes},
            node_annotations=_annotations(context, resources, conflict=bool(errors) or unmarked),
            errors=errors,
        )
    ]
    if policy is not None:
        parts.append(expand_policy(policy, context))
    if resources.drivers:
        parts.append(_drivers(context, resources))
    if resources.gpu_cluster is not None:
        parts.append(_gpu_cluster(context, resources, state))
    parts.append(Expansion(release=release, conditions=resources.ignored))
    return _together(parts)


class _Resources:
    """The custom resources of a cluster. Of several ClusterPolicies the operator takes the first by name."""

    def __init__(self, state: ClusterState) -> None:
        self.drivers = _of_kind(state, "NVIDIADriver")
        policies, gpu_clusters = _of_kind(state, "ClusterPolicy"), _of_kind(state, "GPUCluster")
        self.policy = next(iter(policies), None)
        self.gpu_cluster = next(iter(gpu_clusters), None)
        self.ignored = tuple(
            ResourceCondition(kind=item["kind"], name=item["metadata"]["name"], state="")
            for item in (*policies[1:], *gpu_clusters[1:])
        )


def _of_kind(state: ClusterState, kind: str) -> list[KubernetesObject]:
    return sorted(
        (item for item in state.resources if item["kind"] == kind), key=lambda item: str(item["metadata"]["name"])
    )


def _policy(resource: KubernetesObject | None, entry: OperandEntry) -> ClusterPolicySpec | None:
    return None if resource is None else ClusterPolicySpec(resource, cdi_by_default=entry.behaviour["cdiByDefault"])


def _labelled(
    entry: OperandEntry, policy: ClusterPolicySpec | None, resources: _Resources, state: ClusterState
) -> tuple[tuple[Node, ...], tuple[str, ...]]:
    """The nodes as the operator leaves them, by name, and what stopped it from telling drivers apart."""
    nodes = sorted(state.nodes, key=lambda node: node.name)
    if policy is not None:
        if not entry.behaviour["labelsApart"] and refusal(policy, entry.behaviour) is not None:
            return tuple(nodes), ()
        nodes = [replace(node, labels=labels_after(node, policy, entry.behaviour)) for node in nodes]
    elif resources.gpu_cluster is not None:
        from poolsmith.fleet.operands.gpu_cluster.gpu_cluster_expansion import gpu_cluster_labels  # on demand

        cluster = resources.gpu_cluster
        nodes = [
            replace(node, labels=gpu_cluster_labels(cluster, node.labels, release=entry.release)) for node in nodes
        ]
    if not entry.behaviour["driverOwners"] or (policy is not None and not policy.delegates_drivers):
        return tuple(nodes), ()
    if policy is None and resources.gpu_cluster is None:
        return tuple(nodes), ()
    from poolsmith.fleet.operands.nvidia_driver.conflicts import assign_owners  # on demand

    try:
        owners = assign_owners(resources.drivers, nodes)
    except OperatorError as error:
        return tuple(nodes), (f"{_LABELLING}: failed to assign NVIDIADriver owners to nodes: {error}",)
    return tuple(_with_owner(node, owners) for node in nodes), ()


def _with_owner(node: Node, owners: dict[str, str | None]) -> Node:
    labels = {key: value for key, value in node.labels.items() if key != DRIVER_OWNER or node.name not in owners}
    owner = owners.get(node.name)
    return replace(node, labels=labels | ({DRIVER_OWNER: owner} if owner else {}))


def _context(
    entry: OperandEntry, policy: ClusterPolicySpec | None, nodes: tuple[Node, ...], state: ClusterState
) -> Context:
    return Context(
        entry=entry,
        policy=policy,
        nodes=nodes,
        runtime=detect_runtime([node for node in nodes if node.labels.get(GPU_PRESENT) == "true"]),
        namespace=state.namespace,
        os_release=state.os_release,
        objects=state.objects,
        service_monitors=state.service_monitors,
        known=state.known,
    )


def _annotations(context: Context, resources: _Resources, *, conflict: bool) -> dict[str, dict[str, str]]:
    """Which nodes the operator may upgrade the driver of."""
    annotations = {node.name: dict(node.annotations) for node in context.nodes}
    policy, behaviour = context.policy, context.behaviour
    if conflict:
        return annotations
    by_driver = behaviour["autoUpgrade"] == "driver-object" and (
        policy is None or (policy.delegates_drivers and not policy.sandboxes)
    )
    upgraded = {
        str(driver["metadata"]["name"]): value_at(driver, ("spec", "upgradePolicy", "autoUpgrade"), missing=True)
        for driver in resources.drivers
    }
    for node in context.gpu_nodes:
        owner = node.labels.get(DRIVER_OWNER)
        if by_driver and owner not in upgraded:
            continue
        annotations[node.name].pop(UPGRADE_ANNOTATION, None)
        if upgraded[str(owner)] if by_driver else policy is not None and upgrades_driver(policy, behaviour):
            annotations[node.name][UPGRADE_ANNOTATION] = "true"
    return annotations


def _drivers(context: Context, resources: _Resources) -> Expansion:
    from poolsmith.fleet.operands.nvidia_driver.nvidia_driver_expansion import expand_drivers  # on demand

    made = expand_drivers(context, resources.drivers, gpu_cluster=resources.gpu_cluster is not None)
    return Expansion(
        release=context.entry.release,
        objects=made.objects,
        conditions=made.conditions,
        errors=made.errors,
        unknown=made.unknown,
    )


def _gpu_cluster(context: Context, resources: _Resources, state: ClusterState) -> Expansion:
    assert resources.gpu_cluster is not None, "asked for only where there is one"
    from poolsmith.fleet.operands.gpu_cluster.gpu_cluster_expansion import expand_gpu_cluster  # on demand

    made = expand_gpu_cluster(context, resources.gpu_cluster, resources.drivers, api_versions=state.api_versions)
    return Expansion(
        release=context.entry.release,
        objects=made.objects,
        namespace_labels=made.namespace_labels,
        conditions=made.conditions,
        errors=made.errors,
        unknown=made.unknown,
        notes=made.notes,
    )


def _conflict(entry: OperandEntry, state: ClusterState, resources: _Resources) -> Expansion:
    """A ClusterPolicy beside a GPUCluster: the operator does nothing for either."""
    from poolsmith.fleet.operands.gpu_cluster.gpu_cluster_expansion import policy_conflict  # on demand

    policy = _policy(resources.policy, entry)
    assert policy is not None, "asked for only where there are both"
    assert resources.gpu_cluster is not None, "asked for only where there are both"
    context = _context(entry, policy, tuple(sorted(state.nodes, key=lambda node: node.name)), state)
    message = policy_conflict(resources.gpu_cluster)
    condition = not_ready("ClusterPolicy", policy.name, "ReconcileFailed", message, state="")
    parts = [
        Expansion(release=entry.release, conditions=(condition,), errors=(f"ClusterPolicy/{policy.name}: {message}",)),
        _gpu_cluster(context, resources, state),
    ]
    return _together([*parts, _drivers(context, resources)] if resources.drivers else parts)


def _together(parts: Sequence[Expansion]) -> Expansion:
    """One expansion of several; where two bring the same object, the later one counts."""

    def all_of(name: str) -> tuple[Any, ...]:
        return tuple(dict.fromkeys(item for part in parts for item in getattr(part, name)))

    return replace(
        parts[0],
        objects=in_order(item for part in parts for item in part.objects),
        namespace_labels=_merged(part.namespace_labels for part in parts),
        conditions=tuple(item for part in parts for item in part.conditions),
        errors=all_of("errors"),
        unknown=all_of("unknown"),
        notes=all_of("notes"),
    )


def _merged(mappings: Iterable[Any]) -> dict[str, str]:
    return {key: value for mapping in mappings for key, value in mapping.items()}
