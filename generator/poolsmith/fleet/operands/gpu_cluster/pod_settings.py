"""Settings that all workloads of a GPUCluster share, what they are made from, and the served version of the DRA API.

Source: NVIDIA/gpu-operator@v26.7.0:internal/state/gpucluster.go, controllers/clusterinfo/clusterinfo.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.fleet.operands.kube import NotModelled, OperatorError, add_pull_secrets, containers_of, pod_of
from poolsmith.fleet.operands.operand_containers import image_path, requirements
from poolsmith.gpu.catalog.gpu_clusters import GpuClusterEntry, ObjectPlacement

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from poolsmith.fleet.operands.custom_resources import GpuClusterSpec
    from poolsmith.fleet.operands.expansion_context import Context
    from poolsmith.fleet.operands.kube import Container, Pod


_KEPT_ON_PODS = ("app", "app.kubernetes.io/part-of")
_TOLERATION = ("key", "operator", "value", "effect")


def daemon_sets(objects: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return (item for item in objects if item["kind"] == "DaemonSet")


def set_common(
    workload: dict[str, Any], request: GpuClusterRequest, pod_annotations: Mapping[str, str] | None = None
) -> None:
    """Labels, annotations and tolerations of the user, and the priority class where the operator passes it on."""
    common = request.settings.at("daemonsets")
    labels = common.get("labels") or {}
    annotations = common.get("annotations") or {}
    template = workload["spec"]["template"]["metadata"]
    workload["metadata"]["labels"] = {**workload["metadata"].get("labels", {}), **labels}
    kept = {key: value for key, value in labels.items() if key not in _KEPT_ON_PODS}
    template["labels"] = {**template.get("labels", {}), **kept}
    if annotations:
        workload["metadata"]["annotations"] = dict(annotations)
    if annotations or pod_annotations:
        template["annotations"] = {**annotations, **(pod_annotations or {})}
    pod = pod_of(workload)
    tolerations = [_toleration(item) for item in common.get("tolerations") or ()]
    if tolerations:
        pod["tolerations"] = pod.get("tolerations", []) + tolerations
    if common.get("priorityClassName") and workload["metadata"]["name"] in request.entry.behaviour["priorityClass"]:
        pod["priorityClassName"] = common["priorityClassName"]


def set_image(pod: Pod, image: str, component: Mapping[str, Any]) -> None:
    """Image, pull policy and pull secrets of a component, on all its containers."""
    for container in containers_of(pod):
        put_image(container, image, component)
    add_pull_secrets(pod, component.get("imagePullSecrets"))


def put_image(container: Container, image: str, component: Mapping[str, Any]) -> None:
    container["image"] = image
    if component.get("imagePullPolicy"):
        container["imagePullPolicy"] = component["imagePullPolicy"]


def add_variables(container: Container, variables: Iterable[Mapping[str, Any]]) -> None:
    """Behind those that are there: one with a name that is taken stands a second time."""
    container.setdefault("env", []).extend(
        {"name": variable["name"], "value": str(variable.get("value") or "")} for variable in variables
    )


def insert_variables(container: Container, variables: Mapping[str, str], *, before: str) -> None:
    """In front of the variable named `before`."""
    env = container["env"]
    place = next(index for index, variable in enumerate(env) if variable["name"] == before)
    env[place:place] = [{"name": name, "value": value} for name, value in variables.items()]


def set_host_network(pod: Pod, component: Mapping[str, Any]) -> None:
    if component.get("hostNetwork") is True:
        pod["hostNetwork"] = True
        pod["dnsPolicy"] = "ClusterFirstWithHostNet"


def set_arguments_and_resources(container: Container, component: Mapping[str, Any]) -> None:
    """Requests and limits stand beside the claim."""
    if component.get("args"):
        container["args"] = [str(word) for word in component["args"]]
    container["resources"] |= requirements(component.get("resources") or {})


def selector_breaks(workload: dict[str, Any]) -> bool:
    """Whether a label of the user replaced one by which the workload finds its pods."""
    labels = workload["spec"]["template"]["metadata"]["labels"]
    wanted: dict[str, str] = workload["spec"]["selector"]["matchLabels"]
    return any(labels.get(key) != value for key, value in wanted.items())


def _toleration(item: Mapping[str, Any]) -> dict[str, Any]:
    """Without the empty texts that the operator drops when it writes it anew."""
    return {key: value for key, value in item.items() if value is not None and (value != "" or key not in _TOLERATION)}


@record
class GpuClusterRequest:
    """`environment` is the operator's own, which names images that no resource does."""

    settings: GpuClusterSpec
    entry: GpuClusterEntry
    context: Context
    api_versions: Collection[str]
    environment: Mapping[str, str]

    def placement(self) -> ObjectPlacement:
        """Raises OperatorError without dynamic resource allocation."""
        versions = self.entry.behaviour["draVersions"]
        try:
            version = served_version(self.api_versions, versions["preferred"])
        except OperatorError as error:
            raise OperatorError(f"failed to get DRA resource apiVersion: {error}") from error
        flat = version == versions["flatRequests"]
        return ObjectPlacement(namespace=self.context.namespace, dra_version=version, flat=flat)

    def image(self, variable: str, *component: str) -> str:
        """The image of a component, or the one of the operator's environment. Raises OperatorError."""
        spec = self.settings.at(*component) if component else {}
        named = any(spec.get(key) for key in ("repository", "image", "version"))
        if not named and self.environment.get(variable):
            return self.environment[variable]
        return image_path(spec, variable, partly=self.context.behaviour["partialImages"], kind="CR")


_GROUP = "resource.k8s.io/"
_KIND = "/DeviceClass"
_MISSING = (
    "the resource.k8s.io DeviceClass API is not served by the cluster; "
    "ensure Dynamic Resource Allocation is enabled on the API server and kubelet"
)


def served_version(api_versions: Collection[str], preferred: Sequence[str]) -> str:
    """The version of resource.k8s.io that the operator uses, of those in `api_versions` (`<group>/<version>/<kind>`).

    Raises OperatorError where none is served, NotModelled where only others are.
    """
    served = {
        text.removeprefix(_GROUP).removesuffix(_KIND)
        for text in api_versions
        if text.startswith(_GROUP) and text.endswith(_KIND)
    }
    if not served:
        raise OperatorError(_MISSING)
    for version in preferred:
        if version in served:
            return version
    raise NotModelled(f"a cluster that serves DeviceClass only as {', '.join(sorted(served))}")
