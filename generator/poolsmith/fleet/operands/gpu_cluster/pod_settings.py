"""What the workloads of a GPUCluster have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.kube import add_pull_secrets, containers_of, pod_of
from poolsmith.fleet.operands.requirements import requirements

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.fleet.operands.gpu_cluster.request import GpuClusterRequest
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
