"""From a ClusterPolicy to what the operator creates for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import replace
from poolsmith.core.sources.source_file import tree_digest
from poolsmith.fleet.operands.custom_resources import not_ready, ready
from poolsmith.fleet.operands.daemon_sets.policy_driver import kernels
from poolsmith.fleet.operands.expansion import Expansion, Node, ResourceCondition, in_order
from poolsmith.fleet.operands.expansion_context import cluster_os_tag, is_ambiguous, runtime_of
from poolsmith.fleet.operands.kube import OperatorError, owner_reference
from poolsmith.fleet.operands.policy_states import Created, create_all
from poolsmith.gpu.catalog.container_runtimes import container_runtimes
from poolsmith.gpu.catalog.node_labels import GPU_PRESENT, KERNEL, OS_ID, OS_TREE, OS_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.fleet.operands.custom_resources import ClusterPolicySpec
    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.fleet.operands.expansion_context import Context

SEEN_BY_STEPS = frozenset((GPU_PRESENT, OS_ID, OS_VERSION, KERNEL))
"""Labels of nodes that the steps of a ClusterPolicy read: nodes that are alike in these are alike to it."""
_POD_SECURITY = tuple(f"pod-security.kubernetes.io/{mode}" for mode in ("enforce", "audit", "warn"))
_NFD = "feature.node.kubernetes.io/"
_READY = "ClusterPolicy is ready as all resources have been successfully reconciled"
_OPENSHIFT = "OpenShift: its driver toolkit, proxy and monitoring"
_NO_GPU = "No GPU node found, watching for new nodes to join the cluster."


def refusal(policy: ClusterPolicySpec, behaviour: Mapping[str, Any]) -> str | None:
    """What the operator refuses before it looks at any node."""
    if behaviour["nri"] == "none" or not policy.nri:
        return None
    for component, title, checked in (
        ("cdi", "CDI", True),
        ("toolkit", "the Container Toolkit", behaviour["nriNeedsToolkit"]),
    ):
        if checked and not policy.enabled(component):
            return f"error validating clusterpolicy: the NRI Plugin cannot be enabled when {title} is disabled"
    return None


def early_failure(context: Context) -> str | None:
    """What stops the operator before it looks for the nodes' container runtime."""
    return refusal(context.spec, context.behaviour) or system_failure(context)


def expand_policy(policy: ClusterPolicySpec, context: Context) -> Expansion:
    """Nodes are labelled already."""
    release = context.entry.release
    refused = refusal(policy, context.behaviour)
    if refused is not None:
        return Expansion(release=release, **_failed(context, refused))
    settled = Expansion(
        release=release,
        namespace_labels=dict.fromkeys(_POD_SECURITY, "privileged") if policy.enabled("psa") else {},
        notes=_unpredictable(context),
        unknown=(_OPENSHIFT,) if _is_openshift(context) else (),
    )
    try:
        _look_around(context)
    except OperatorError as error:
        return replace(settled, **_failed(context, str(error)))
    created = _created(policy, context)
    return replace(
        settled,
        objects=tuple(created.objects),
        conditions=(_condition(created, context),),
        errors=(f"ClusterPolicy/{policy.name}: {created.error}",) if created.failed else (),
        unknown=(*settled.unknown, *created.unknown),
    )


def _created(policy: ClusterPolicySpec, context: Context) -> Created:
    """The same for clusters whose nodes look the same to the steps."""
    seen = replace(context, nodes=tuple(_as_steps_see(context)))

    def create() -> Created:
        created = create_all(seen)
        return replace(created, objects=list(in_order(_owned(item, policy) for item in created.objects)))

    return context.known.of((context.surroundings, tree_digest([node.labels for node in seen.nodes])), create)


def _as_steps_see(context: Context) -> Iterator[Node]:
    """Unlike nodes in their order: they tell systems apart, and kernels where drivers are precompiled."""
    unlike = {}
    for node in context.nodes:
        labels = {key: text for key, text in node.labels.items() if key in SEEN_BY_STEPS}
        if KERNEL in labels and not context.spec.precompiled:
            labels[KERNEL] = labels[KERNEL][:1]
        unlike[tuple(sorted(labels.items()))] = labels
    return (Node(name="", labels=labels) for labels in unlike.values())


def _is_openshift(context: Context) -> bool:
    if "OPENSHIFT_VERSION" in (context.os_release or {}):
        return True
    return any(node.labels.get(OS_ID) == "rhcos" or OS_TREE in node.labels for node in context.nodes)


def _look_around(context: Context) -> None:
    """What the operator has to know of the nodes before its first step."""
    if not context.gpu_nodes:
        return
    unnamed = system_failure(context)
    if unnamed is not None:
        raise OperatorError(unnamed)
    if context.spec.enabled("driver") and context.spec.precompiled:
        kernels(context)


def system_failure(context: Context) -> str | None:
    """Why the operator cannot name the nodes' operating system, before it looks for their container runtime."""
    if context.behaviour["osTag"] == "of-first-node-or-error" and context.gpu_nodes:
        try:
            cluster_os_tag(context)
        except OperatorError as error:
            return f"{context.behaviour['osError']}{error}"
    return None


def _unpredictable(context: Context) -> tuple[str, ...]:
    """What depends on the order in which a live operator happens to list nodes."""
    found = []
    if is_ambiguous(context.gpu_nodes):
        runtimes = container_runtimes()
        names = sorted({runtimes.of_status(node.runtime)[0] for node in context.gpu_nodes if runtime_of(node)})
        found.append(
            f"the container runtime: {' beside '.join(names)} without {runtimes.preferred.name}; the node listed last "
            "decides"
        )
    policy = context.spec
    systems = {(node.labels.get(OS_ID), node.labels.get(OS_VERSION)) for node in context.gpu_nodes}
    if len(systems) > 1 and policy.enabled("driver") and not policy.delegates_drivers:
        found.append(
            "the driver image: nodes of several operating systems under one ClusterPolicy; any of them decides"
        )
    return tuple(found)


def _condition(created: Created, context: Context) -> ResourceCondition:
    policy = context.spec
    if created.panicked:
        return ResourceCondition(kind="ClusterPolicy", name=policy.name, state="")
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


def _failed(context: Context, message: str) -> dict[str, Any]:
    """Of an expansion: condition and error of what fails before the first step.

    A release that leaves the state unset leaves the conditions out too: without a state the API server refuses them.
    """
    name, state = context.spec.name, context.behaviour["startErrorState"]
    message = f"{context.behaviour['startError']}{message}"
    told = not_ready("ClusterPolicy", name, "ReconcileFailed", message, state=state)
    return {
        "conditions": (told if state else ResourceCondition(kind="ClusterPolicy", name=name, state=""),),
        "errors": (f"ClusterPolicy/{name}: {message}",),
    }


def _owned(item: KubernetesObject, policy: ClusterPolicySpec) -> KubernetesObject:
    """The object with its owner, by which Kubernetes removes it together with the ClusterPolicy."""
    item["metadata"]["ownerReferences"] = [owner_reference(policy.resource)]
    return item
