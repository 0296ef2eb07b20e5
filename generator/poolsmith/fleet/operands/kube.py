"""Small edits to Kubernetes pods and containers, as the operator makes them.

All of them change the mapping they are given: it is a fresh copy, made for one expansion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Container = dict[str, Any]
Pod = dict[str, Any]


class OperatorError(Exception):
    """What the operator itself would report as an error of a custom resource, in its own words."""


class OperatorPanicError(OperatorError):
    """The operator stops in the middle of a step, with a trace in its log and without a word in any status."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the operator panics (nil pointer dereference): {why}")


class NotModelled(Exception):  # noqa: N818 - says what is not known, not that something failed
    """The operator would do something here that poolsmith does not know."""


def worded(text: str, behaviour: Mapping[str, Any]) -> str:
    """An error of the operator with the first letter that a release gives it."""
    return text[:1].upper() + text[1:] if behaviour["errorLetters"] == "capital" else text


def pod_of(workload: dict[str, Any]) -> Pod:
    """The pod specification of a DaemonSet or Deployment."""
    pod: Pod = workload["spec"]["template"]["spec"]
    return pod


def containers_of(pod: Pod) -> list[Container]:
    containers: list[Container] = pod.setdefault("containers", [])
    return containers


def init_containers_of(pod: Pod) -> list[Container]:
    """For who adds some: an empty list is put where there is none. Readers take `pod.get`."""
    containers: list[Container] = pod.setdefault("initContainers", [])
    return containers


def find(containers: Iterable[Container], name: str) -> Container | None:
    return next((item for item in containers if item["name"] == name), None)


def must_find(containers: Iterable[Container], name: str) -> Container:
    """The container, which every entry of the catalog has. Raises NotModelled."""
    found = find(containers, name)
    if found is None:
        raise NotModelled(f"the operand has no container {name}")
    return found


def remove(containers: list[Container], name: str) -> None:
    containers[:] = [item for item in containers if item["name"] != name]


def set_env(container: Container, name: str, value: str) -> None:
    """Set a variable in its place, or append it. A reference keeps standing beside the value, as it does there."""
    variables = container.setdefault("env", [])
    for variable in variables:
        if variable["name"] == name:
            variable["value"] = value
            return
    variables.append({"name": name, "value": value})


def set_all_env(container: Container, variables: Iterable[dict[str, Any]] | None) -> None:
    """The variables that a custom resource adds: only names and literal values have an effect."""
    if not variables:
        return
    own = container.setdefault("env", [])
    known: dict[str, dict[str, Any]] = {}
    for variable in own:
        known.setdefault(variable["name"], variable)
    for variable in variables:
        name, value = variable["name"], variable.get("value", "")
        if name in known:
            known[name]["value"] = value
        else:
            known[name] = {"name": name, "value": value}
            own.append(known[name])


def refused_variable(daemon_set: Mapping[str, Any]) -> str | None:
    """The API server's words for the first variable with a value beside a reference, which it does not take."""
    pod = daemon_set["spec"]["template"]["spec"]
    for group in ("initContainers", "containers"):
        for number, container in enumerate(pod.get(group, ())):
            for place, variable in enumerate(container.get("env", ())):
                if variable.get("value") and "valueFrom" in variable:
                    return (
                        f'DaemonSet.apps "{daemon_set["metadata"]["name"]}" is invalid: spec.template.spec.{group}'
                        f'[{number}].env[{place}].valueFrom: Invalid value: "": may not be specified when `value` is '
                        "not empty"
                    )
    return None


def env_of(container: Container, name: str) -> str:
    for variable in container.get("env", ()):
        if variable["name"] == name:
            return str(variable.get("value", ""))
    return ""


def mount(container: Container, volume: str, path: str, *, read_only: bool = False, sub_path: str = "") -> None:
    item: dict[str, Any] = {"name": volume, "mountPath": path}
    if read_only:
        item["readOnly"] = True
    if sub_path:
        item["subPath"] = sub_path
    container.setdefault("volumeMounts", []).append(item)


def add_volume(pod: Pod, name: str, **source: Any) -> None:
    pod.setdefault("volumes", []).append({"name": name, **source})


def host_path(path: str, kind: str | None = None) -> dict[str, Any]:
    """A hostPath source; without a kind the kubelet checks nothing."""
    return {"hostPath": {"path": path, **({"type": kind} if kind is not None else {})}}


def volume_named(pod: Pod, name: str) -> dict[str, Any] | None:
    return next((item for item in pod.get("volumes", ()) if item["name"] == name), None)


def move_host_path(pod: Pod, volume: str, path: str) -> bool:
    """Point a hostPath volume elsewhere; whether the pod has it."""
    found = volume_named(pod, volume)
    if found is None:
        return False
    found["hostPath"]["path"] = path
    return True


def add_pull_secrets(pod: Pod, names: Sequence[str] | None) -> None:
    for name in names or ():
        secrets = pod.setdefault("imagePullSecrets", [])
        if {"name": name} not in secrets:
            secrets.append({"name": name})


def set_resources(containers: Iterable[Container], resources: dict[str, Any] | None) -> None:
    """Requests and limits, where a custom resource has any."""
    if resources is None:
        return
    for container in containers:
        container["resources"] = {key: resources[key] for key in ("requests", "limits") if resources.get(key)}


def pull_policy(value: str | None) -> str:
    return value if value in ("Always", "Never", "IfNotPresent") else "IfNotPresent"


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


def fnv32a(content: bytes) -> int:
    """FNV-1a, 32 bits: how controllers hash what they compare."""
    value = 0x811C9DC5
    for byte in content:
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value
