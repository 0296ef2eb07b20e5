"""The toolkit of a pool whose container runtime is not the operator's.

What the operator would make in a cluster of that pool alone, under other names, and bound to the pool's nodes. Beside
the pool label it selects nodes by a label that k8s-driver-manager takes away while it replaces the driver, and that the
operator writes on every node which runs GPU containers: the toolkit describes the driver's files when it starts, so it
has to start again with a new driver. Source: NVIDIA/k8s-driver-manager:cmd/driver-manager/main.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record, replace
from poolsmith.core.sources.pointer import copied, value_at
from poolsmith.fleet.operands.custom_resources import ClusterPolicySpec
from poolsmith.fleet.operands.expansion_context import Context
from poolsmith.fleet.operands.kube import NotModelled, OperatorError, pod_of
from poolsmith.fleet.operands.policy_states import create_state
from poolsmith.fleet.plan.plan import TOOLKIT_NAME as NAME
from poolsmith.fleet.plan.taints import missing_tolerations
from poolsmith.gpu.catalog.container_runtimes import container_runtimes
from poolsmith.gpu.catalog.node_labels import DEPLOY, GPU_PRESENT
from poolsmith.gpu.catalog.operands import read_operands

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from poolsmith.fleet.operands.expansion import KubernetesObject, Node
    from poolsmith.fleet.plan.plan import ToolkitOverlay

WITH_THE_DRIVER = f"{DEPLOY}operator-validator"
_STATE = "state-container-toolkit"
_POLICY = "ClusterPolicy"
_HANDLER = "nvidia"
_HANDLER_VARIABLE = "NVIDIA_RUNTIME_NAME"
"""Under which the toolkit registers itself with a runtime: what GPU pods ask for, by their runtime class."""
_OPENSHIFT = "security.openshift.io"
_OPENSHIFT_ANNOTATION = "openshift.io/scc"
_CHART = "helm.sh/chart"
_MANAGED_BY = "app.kubernetes.io/managed-by"
_OPERATORS_ENTRYPOINT = "nvidia-container-toolkit-entrypoint"
_SCRIPT_KEY = "entrypoint.sh"
_SCRIPT = """\
#!/bin/sh
# Starts the container toolkit as soon as the driver of the node is ready.
set -eu

ready=/run/nvidia/validations/driver-ready
while [ ! -f "$ready" ]; do
  echo "the driver is not ready: there is no $ready yet"
  sleep 5
done

# where the driver is, in the variables that the toolkit takes
set -a
. "$ready"
set +a

# containerd, once restarted, may stop what has only just begun to run
sleep 5
exec nvidia-toolkit
"""


@record(kw_only=False)
class OverlayObjects:
    """What one overlay produces; without objects, `error` or `unknown` says why."""

    pool: str
    objects: tuple[KubernetesObject, ...] = ()
    error: str | None = None
    unknown: str | None = None


def overlay_objects(
    release: str,
    resources: Iterable[KubernetesObject],
    nodes: Sequence[Node],
    overlay: ToolkitOverlay,
    namespace: str,
) -> OverlayObjects:
    """`resources` hold the ClusterPolicy as the API server stores it; without one there is nothing to go by."""
    entry = read_operands(release)
    policy = next((item for item in resources if item["kind"] == _POLICY), None)
    if entry is None or policy is None:
        return OverlayObjects(overlay.pool, unknown=f"the toolkit of pool {overlay.pool}")
    context = Context(
        entry=entry,
        policy=ClusterPolicySpec(_with_env(policy, overlay), cdi_by_default=entry.behaviour["cdiByDefault"]),
        nodes=tuple(
            replace(node, labels={**node.labels, GPU_PRESENT: "true"})
            for node in nodes
            if overlay.pool in (node.pool, node.name)
        ),
        runtime=container_runtimes().operators(overlay.runtime),
        namespace=namespace,
    )
    try:
        made = create_state(_STATE, context)
    except OperatorError as error:
        return OverlayObjects(overlay.pool, error=f"the toolkit of pool {overlay.pool}: {error}")
    except NotModelled as error:
        return OverlayObjects(overlay.pool, unknown=f"the toolkit of pool {overlay.pool}: {error}")
    return OverlayObjects(overlay.pool, tuple(_own(item, overlay) for item in made))


def _with_env(policy: KubernetesObject, overlay: ToolkitOverlay) -> KubernetesObject:
    """The ClusterPolicy with the pool's variables in place of those about the operator's runtime."""
    toolkit = value_at(policy, ("spec", "toolkit"), {})
    told = dict(overlay.env)
    handler = value_at(policy, ("spec", "operator", "runtimeClass"))
    runtimes = container_runtimes()
    runtime = runtimes.by_name.get(overlay.runtime)
    if (runtime is None or runtime.class_variable is None) and handler not in (None, "", _HANDLER):
        told.setdefault(_HANDLER_VARIABLE, handler)
    own = [{"name": name, "value": value} for name, value in told.items()]
    kept = [
        item
        for item in toolkit.get("env") or ()
        if not item["name"].startswith(runtimes.prefixes) and item["name"] not in told
    ]
    return {**policy, "spec": {**policy["spec"], "toolkit": {**toolkit, "env": [*kept, *own]}}}


def _own(item: KubernetesObject, overlay: ToolkitOverlay) -> KubernetesObject:
    """The operator's object as one of ours."""
    name = overlay.name
    metadata: dict[str, Any] = {"name": name, "namespace": item["metadata"]["namespace"]}
    metadata["labels"] = {"app": NAME, _MANAGED_BY: "poolsmith"}
    body = {key: value for key, value in item.items() if key != "metadata"}
    match item["kind"]:
        case "ConfigMap":
            metadata["name"] = overlay.entrypoint
            body["data"] = {_SCRIPT_KEY: _SCRIPT}
        case "Role":
            body["rules"] = [rule for rule in item["rules"] if _OPENSHIFT not in rule["apiGroups"]]
        case "RoleBinding":
            body["roleRef"] = {**item["roleRef"], "name": name}
            body["subjects"] = [{**subject, "name": name} for subject in item["subjects"]]
        case "DaemonSet":
            metadata["labels"] = _labels(item["metadata"].get("labels", {}), name)
            metadata |= _annotations(item["metadata"])
            body["spec"] = _daemon_set(item["spec"], overlay)
    return {"apiVersion": body.pop("apiVersion"), "kind": body.pop("kind"), "metadata": metadata, **body}


def _labels(labels: dict[str, str], name: str) -> dict[str, str]:
    """What the cluster's values put on every DaemonSet stays; that the operator made it would not be true."""
    kept = {key: value for key, value in labels.items() if key not in (_CHART, _MANAGED_BY)}
    return {**kept, "app": name, _MANAGED_BY: "poolsmith"}


def _annotations(metadata: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in metadata.get("annotations", {}).items() if key != _OPENSHIFT_ANNOTATION}
    return {"annotations": kept} if kept else {}


def _daemon_set(spec: dict[str, Any], overlay: ToolkitOverlay) -> dict[str, Any]:
    name = overlay.name
    spec = copied(spec)
    spec["selector"] = {"matchLabels": {"app": name}}
    metadata = spec["template"]["metadata"]
    metadata["labels"] = _labels(metadata.get("labels", {}), name)
    pod = pod_of({"spec": spec})
    pod["nodeSelector"] = {overlay.pool_label: overlay.label_value, WITH_THE_DRIVER: "true"}
    pod["serviceAccountName"] = name
    present = pod.get("tolerations", [])
    pod["tolerations"] = [*present, *missing_tolerations(overlay.taints, present)]
    for volume in pod["volumes"]:
        if value_at(volume, ("configMap", "name")) == _OPERATORS_ENTRYPOINT:
            volume["configMap"]["name"] = overlay.entrypoint
    return spec
