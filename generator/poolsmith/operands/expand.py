"""From custom resources and nodes to all that a release's operator creates, in its steady state. Floor: operands.

Nothing is guessed: what is not modelled is in `unknown`, and the operator's own errors are in `errors`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.catalog.operands import OperandEntry, read_operands
from poolsmith.model.expansion import ClusterState, Expansion, Node, ResourceCondition, in_order
from poolsmith.operands.cluster_policy import Policy
from poolsmith.operands.conditions import not_ready, ready
from poolsmith.operands.container_runtime import detect_runtime, is_ambiguous
from poolsmith.operands.context import Context
from poolsmith.operands.daemon_sets.driver import kernels
from poolsmith.operands.kube import OperatorError
from poolsmith.operands.node_labels import UPGRADE_ANNOTATION, labels_after, upgrades_driver
from poolsmith.operands.os_tag import OS_ID, OS_VERSION, cluster_os_tag
from poolsmith.operands.states import Created, create_all

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.model.expansion import KubernetesObject

_POD_SECURITY = tuple(f"pod-security.kubernetes.io/{mode}" for mode in ("enforce", "audit", "warn"))
_NFD = "feature.node.kubernetes.io/"
_READY = "ClusterPolicy is ready as all resources have been successfully reconciled"
_NO_GPU = "No GPU node found, watching for new nodes to join the cluster."


def expand(release: str, state: ClusterState) -> Expansion:
    """What the operator of `release` makes of a cluster. Raises nothing, whatever the resources say."""
    entry = read_operands(release)
    if entry is None:
        return Expansion(release=release, unknown=(f"the operands of release {release}",))
    policies = sorted(_of_kind(state, "ClusterPolicy"), key=lambda item: item["metadata"]["name"])
    if not policies:
        return Expansion(release=release)
    policy = Policy(policies[0], cdi_by_default=entry.behaviour["cdiByDefault"])
    expansion = _expand_policy(entry, policy, state)
    ignored = tuple(
        ResourceCondition(kind="ClusterPolicy", name=item["metadata"]["name"], state="") for item in policies[1:]
    )
    return replace(expansion, conditions=(*expansion.conditions, *ignored))


def _expand_policy(entry: OperandEntry, policy: Policy, state: ClusterState) -> Expansion:
    try:
        _validate(policy, entry.behaviour)
    except OperatorError as error:
        return Expansion(
            release=entry.release, conditions=(_failed(policy, str(error)),), errors=(_line(policy, error),)
        )
    nodes = tuple(
        replace(node, labels=labels_after(node, policy, entry.behaviour))
        for node in sorted(state.nodes, key=lambda node: node.name)
    )
    context = Context(
        entry=entry,
        policy=policy,
        nodes=nodes,
        runtime=detect_runtime([node for node in nodes if node.labels.get("nvidia.com/gpu.present") == "true"]),
        namespace=state.namespace,
        os_release=state.os_release,
        objects=state.objects,
        service_monitors=state.service_monitors,
    )
    settled = Expansion(
        release=entry.release,
        node_labels={node.name: node.labels for node in nodes},
        namespace_labels=dict.fromkeys(_POD_SECURITY, "privileged") if policy.enabled("psa") else {},
        notes=_unpredictable(context),
    )
    try:
        _look_around(context)
    except OperatorError as error:
        return replace(settled, conditions=(_failed(policy, str(error)),), errors=(_line(policy, error),))
    created = create_all(context)
    return replace(
        settled,
        objects=in_order(_owned(item, policy) for item in created.objects),
        node_annotations={node.name: _annotations(node, context) for node in nodes},
        runtime=context.runtime,
        conditions=(_condition(created, context),),
        errors=(f"ClusterPolicy/{policy.name}: {created.error}",) if created.failed else (),
        unknown=tuple(created.unknown),
    )


def _of_kind(state: ClusterState, kind: str) -> list[KubernetesObject]:
    return [item for item in state.resources if item["kind"] == kind]


def _validate(policy: Policy, behaviour: Mapping[str, Any]) -> None:
    """What the operator refuses before it looks at any node."""
    if behaviour["nri"] == "none" or not policy.nri:
        return
    for component, title, checked in (
        ("cdi", "CDI", True),
        ("toolkit", "the Container Toolkit", behaviour["nriNeedsToolkit"]),
    ):
        if checked and not policy.enabled(component):
            raise OperatorError(
                f"error validating clusterpolicy: the NRI Plugin cannot be enabled when {title} is disabled"
            )


def _look_around(context: Context) -> None:
    """What the operator has to know of the nodes before its first step."""
    if not context.gpu_nodes:
        return
    if context.behaviour["osTag"] == "of-first-node-or-error":
        try:
            cluster_os_tag(context)
        except OperatorError as error:
            raise OperatorError(f"failed to retrieve GPU node OS tag: {error}") from None
    if context.spec.enabled("driver") and context.spec.precompiled:
        kernels(context)


def _unpredictable(context: Context) -> tuple[str, ...]:
    """What depends on the order in which a live operator happens to list nodes."""
    found = []
    if is_ambiguous(context.gpu_nodes):
        found.append("the container runtime: cri-o beside docker without containerd; the node listed last decides")
    policy = context.spec
    systems = {(node.labels.get(OS_ID), node.labels.get(OS_VERSION)) for node in context.gpu_nodes}
    if len(systems) > 1 and policy.enabled("driver") and not policy.delegates_drivers:
        found.append(
            "the driver image: nodes of several operating systems under one ClusterPolicy; any of them decides"
        )
    return tuple(found)


def _annotations(node: Node, context: Context) -> dict[str, str]:
    annotations = dict(node.annotations)
    if node not in context.gpu_nodes:
        return annotations
    annotations.pop(UPGRADE_ANNOTATION, None)
    if upgrades_driver(context.spec, context.behaviour):
        annotations[UPGRADE_ANNOTATION] = "true"
    return annotations


def _condition(created: Created, context: Context) -> ResourceCondition:
    policy = context.spec
    if created.failed:
        message = f"Failed to reconcile {created.failed}: {created.error}"
        return not_ready("ClusterPolicy", policy.name, "ReconcileFailed", message)
    if created.unready:
        message = f"ClusterPolicy is not ready, states not ready: [{' '.join(created.unready)}]"
        return not_ready("ClusterPolicy", policy.name, "OperandNotReady", message)
    if not any(key.startswith(_NFD) for node in context.nodes for key in node.labels):
        return ready("ClusterPolicy", policy.name, "NFDLabelsMissing", "No NFD labels found")
    if not context.gpu_nodes:
        return ready("ClusterPolicy", policy.name, "NoGPUNodes", _NO_GPU)
    return ready("ClusterPolicy", policy.name, "Reconciled", _READY)


def _failed(policy: Policy, message: str) -> ResourceCondition:
    """Before the first step: the state stays unset."""
    return not_ready("ClusterPolicy", policy.name, "ReconcileFailed", message, state="")


def _line(policy: Policy, error: OperatorError) -> str:
    return f"ClusterPolicy/{policy.name}: {error}"


def _owned(item: KubernetesObject, policy: Policy) -> KubernetesObject:
    """The object with its owner, by which Kubernetes removes it together with the ClusterPolicy."""
    item["metadata"]["ownerReferences"] = [owner_reference(policy.resource)]
    return item


def owner_reference(resource: Mapping[str, Any]) -> dict[str, Any]:
    """The reference that a controller puts into what it creates."""
    metadata = resource["metadata"]
    return {
        "apiVersion": resource["apiVersion"],
        "kind": resource["kind"],
        "name": metadata["name"],
        **({"uid": metadata["uid"]} if "uid" in metadata else {}),
        "controller": True,
        "blockOwnerDeletion": True,
    }
