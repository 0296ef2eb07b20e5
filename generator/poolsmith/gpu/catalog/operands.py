"""What a release's operator creates on its own and for an NVIDIADriver, its scripts, and files that operands wait for.

Compact forms are unfolded into whole Kubernetes objects on demand, fresh each time: callers may change what they get.
Scripts that the operator's containers run are kept word for word; entries have markers in their place. Operands wait on
a node for files in one folder, which validations write. An NVIDIADriver's entry is made by `nvidia_driver_entry`.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import BRANCHES, copied
from poolsmith.gpu.catalog.releases import behaviour_at

_FILE = "scripts.yaml"
_MARKER = pattern(r"<script ([0-9]{1,9}) chars>")


def with_scripts(node: Any) -> Any:
    """A part of an entry, changed in place: the text of each known script that a container in it runs."""
    pending = [node]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            for key in ("args", "command") if isinstance(item.get("name"), str) else ():
                if isinstance(item.get(key), list):
                    item[key] = [_script(item["name"], word) for word in item[key]]
            item = item.values()
        pending += [child for child in item if isinstance(child, BRANCHES)]
    return node


def _script(container: str, word: Any) -> Any:
    found = _MARKER.fullmatch(word) if isinstance(word, str) else None
    return word if found is None else _scripts().get((container, int(found[1])), word)


@cache
def _scripts() -> dict[tuple[str, int], str]:
    """By container and length."""
    return {(item["container"], len(item["text"])): item["text"] for item in store.read_yaml(_FILE)["scripts"]}


_API = {
    "ServiceAccount": "v1",
    "ConfigMap": "v1",
    "Service": "v1",
    "Role": "rbac.authorization.k8s.io/v1",
    "ClusterRole": "rbac.authorization.k8s.io/v1",
    "RoleBinding": "rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding": "rbac.authorization.k8s.io/v1",
    "RuntimeClass": "node.k8s.io/v1",
    "ServiceMonitor": "monitoring.coreos.com/v1",
    "DaemonSet": "apps/v1",
    "Deployment": "apps/v1",
}
_MOUNTS = 4_096
"""How many are remembered; releases have a few hundred."""
_CLUSTER_WIDE = ("RuntimeClass", "ClusterRole", "ClusterRoleBinding")


@record
class OperandState:
    """One step of the operator: what it creates, and the rule that switches it (see `operands.states`)."""

    name: str
    enabled: tuple[str, ...]
    objects: tuple[dict[str, Any], ...]


@record
class OperandEntry:
    """One release. `behaviour` names the ways in which releases differ that no manifest shows."""

    release: str
    source: str
    behaviour: dict[str, Any]
    states: tuple[OperandState, ...]


def operand_releases() -> tuple[str, ...]:
    """The releases whose operands are known, by name."""
    return store.names("operands")


@remembered
def read_operands(release: str) -> OperandEntry | None:
    """The entry of a release, or None when the catalog has none."""
    if release not in operand_releases():
        return None
    entry = store.read_json(f"operands/{release}.json")
    return OperandEntry(
        release=release,
        source=entry["source"],
        behaviour=entry["behaviour"],
        states=tuple(
            OperandState(name=state["name"], enabled=tuple(state["enabled"]), objects=tuple(state["objects"]))
            for state in with_scripts(entry["states"])
        ),
    )


_CONTAINERS = {
    "driver.manager": ("state-driver", "k8s-driver-manager"),
    "vgpuManager.driverManager": ("state-vgpu-manager", "k8s-driver-manager"),
    "vfioManager.driverManager": ("state-vfio-manager", "k8s-driver-manager"),
    "validator.plugin": ("state-operator-validation", "plugin-validation"),
    "devicePlugin": ("state-device-plugin", "nvidia-device-plugin"),
    "dcgmExporter": ("state-dcgm-exporter", "nvidia-dcgm-exporter"),
    "gfd": ("gpu-feature-discovery", "gpu-feature-discovery"),
    "migManager": ("state-mig-manager", "nvidia-mig-manager"),
    "ccManager": ("state-cc-manager", "nvidia-cc-manager"),
}
"""The container that gets a component's `env`, which is laid over its own by name.

Source: NVIDIA/gpu-operator@v24.9.0:controllers/object_controls.go, setContainerEnv."""


def own_container(component: str, release: str) -> dict[str, Any]:
    """The container that a component's `args` and `env` go to, as it is by itself; empty where nobody knows."""
    state, container = _CONTAINERS.get(component, ("", ""))
    entry = read_operands(release)
    compact = (one for item in entry.states if item.name == state for one in item.objects) if entry is not None else ()
    return next((found for one in compact for found in _containers(one) if found["name"] == container), {})


def own_variables(component: str, release: str) -> dict[str, str]:
    """The variables that a component's container has by itself, whatever the values say; empty where nobody knows."""
    variables = own_container(component, release).get("env", ())
    return {word["name"]: word["value"] for word in variables if "value" in word}


def _containers(compact: dict[str, Any]) -> list[dict[str, Any]]:
    """Those of a DaemonSet, first the ones that run before the others."""
    if compact["kind"] != "DaemonSet":
        return []
    pod = whole(compact, "")["spec"]["template"]["spec"]
    return [*pod.get("initContainers", ()), *pod["containers"]]


def whole(compact: dict[str, Any], namespace: str) -> dict[str, Any]:
    """The Kubernetes object of a compact form, in `namespace` where its kind lives in one."""
    kind = compact["kind"]
    metadata: dict[str, Any] = {"name": compact["name"]}
    if kind not in _CLUSTER_WIDE:
        metadata["namespace"] = namespace
    metadata |= {key: dict(compact[key]) for key in ("labels", "annotations") if key in compact}
    body = _BODIES.get(kind, _plain)(compact, namespace)
    return {"apiVersion": _API[kind], "kind": kind, "metadata": metadata, **body}


def _plain(compact: dict[str, Any], namespace: str) -> dict[str, Any]:
    del namespace
    return {
        key: copied(value) for key, value in compact.items() if key not in ("kind", "name", "labels", "annotations")
    }


def _role(compact: dict[str, Any], namespace: str) -> dict[str, Any]:
    del namespace
    return {"rules": [_rule(words) for words in compact["rules"]]}


def _rule(words: list[str]) -> dict[str, Any]:
    groups, resources, verbs, *names = (word.split(",") for word in words)
    rule = {"apiGroups": groups, "resources": resources, "verbs": verbs}
    return rule | ({"resourceNames": names[0]} if names else {})


def _binding(compact: dict[str, Any], namespace: str) -> dict[str, Any]:
    kind, _, name = compact["role"].partition("/")
    return {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
        "subjects": [
            copied(subject) if isinstance(subject, dict) else _account(subject, namespace)
            for subject in compact["subjects"]
        ],
    }


def _account(subject: str, namespace: str) -> dict[str, Any]:
    above, _, name = subject.rpartition("/")
    return {"kind": "ServiceAccount", "name": name, "namespace": above or namespace}


def _config_map(compact: dict[str, Any], namespace: str) -> dict[str, Any]:
    del namespace
    return {"data": {key: f"<{size} chars>" for key, size in compact["keys"].items()}}


def _daemon_set(compact: dict[str, Any], namespace: str) -> dict[str, Any]:
    del namespace
    metadata = {
        key: dict(compact[word])
        for word, key in (("podLabels", "labels"), ("podAnnotations", "annotations"))
        if word in compact
    }
    pod = copied(compact["pod"])
    if compact["init"]:
        pod["initContainers"] = [_container(item) for item in compact["init"]]
    pod["containers"] = [_container(item) for item in compact["containers"]]
    pod["volumes"] = [{"name": name, **_volume(source)} for name, source in compact["volumes"].items()]
    spec = {
        "selector": {"matchLabels": dict(compact["selector"])},
        "template": {"metadata": metadata, "spec": pod},
    }
    if "updateStrategy" in compact:
        spec["updateStrategy"] = copied(compact["updateStrategy"])
    return {"spec": spec}


def _volume(source: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(source, dict):
        return dict(copied(source))
    if source == "emptyDir":
        return {"emptyDir": {}}
    place, _, kind = source.partition(" ")
    if place.startswith("configMap:"):
        mode = {"defaultMode": int(kind, 8)} if kind else {}
        return {"configMap": {"name": place.removeprefix("configMap:"), **mode}}
    return {"hostPath": {"path": place, **({"type": kind} if kind else {})}}


def _container(compact: dict[str, Any]) -> dict[str, Any]:
    container = {
        key: copied(value) if isinstance(value, BRANCHES) else value
        for key, value in compact.items()
        if key not in ("env", "mounts")
    }
    if "env" in compact:
        container["env"] = [words if isinstance(words, dict) else _variable(words) for words in compact["env"]]
    if "mounts" in compact:
        container["volumeMounts"] = [
            item if isinstance(item, dict) else dict(_mount(item)) for item in compact["mounts"]
        ]
    return container


def _variable(words: list[Any]) -> dict[str, Any]:
    name, *rest = words
    text = rest[0] if len(rest) == 1 else ""
    if isinstance(text, dict):
        return {"name": name, "valueFrom": copied(text)}
    if not isinstance(text, str):
        return {"name": name, "value": ""}
    if text.startswith("@"):
        return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": text[1:]}}}
    return {"name": name, "value": text}


@lru_cache(_MOUNTS)
def _mount(text: str) -> dict[str, Any]:
    """To be copied by who gives it away."""
    volume, path, access, *rest = text.split(":")
    item: dict[str, Any] = {"name": volume, "mountPath": path}
    if access == "ro":
        item["readOnly"] = True
    return item | {key: word for key, word in zip(("mountPropagation", "subPath"), rest, strict=False) if word}


_BODIES = {
    "Role": _role,
    "ClusterRole": _role,
    "RoleBinding": _binding,
    "ClusterRoleBinding": _binding,
    "ConfigMap": _config_map,
    "DaemonSet": _daemon_set,
}


DRIVER_DIGEST = "DRIVER_CONFIG_DIGEST"
"""A variable that the operator sets: a hash of structures of its program, so that it is predicted without a value.

Source: NVIDIA/gpu-operator, controllers/object_controls.go.
"""


@record
class NvidiaDriverEntry:
    """One release: compact forms as in `catalog.operands`.

    `behaviour` has what holds for a ClusterPolicy too. `rules` are those of the Role and the ClusterRole, `config_maps`
    the keys of ConfigMaps with their sizes, `daemon_sets` that of `driver` and that of `vgpu-host-manager`, each with
    every container that it may have.
    """

    release: str
    source: str
    behaviour: dict[str, Any]
    rules: dict[str, list[list[str]]]
    config_maps: dict[str, dict[str, int]]
    daemon_sets: dict[str, dict[str, Any]]


@remembered
def read_nvidia_drivers(release: str) -> NvidiaDriverEntry | None:
    """The entry of a release, or None when the catalog has none."""
    if release not in store.names("nvidia_driver"):
        return None
    entry = store.read_json(f"nvidia_driver/{release}.json")
    return NvidiaDriverEntry(
        release=release,
        source=entry["source"],
        behaviour={**behaviour_at(release), **entry["behaviour"]},
        rules=entry["rules"],
        config_maps=entry["configMaps"],
        daemon_sets=with_scripts(entry["daemonSets"]),
    )


@record
class Readiness:
    """`files` are by validation, `needed_files` and `needed_workloads` what one needs to pass, `told` by container."""

    folder: str
    files: dict[str, str]
    needed_files: dict[str, str]
    needed_workloads: dict[str, tuple[str, ...]]
    told: dict[str, tuple[str, ...]]


@cache
def read_readiness() -> Readiness:
    data = store.read_yaml("readiness.yaml")
    return Readiness(
        folder=data["folder"],
        files=data["files"],
        needed_files={name: need["file"] for name, need in data["needs"].items() if "file" in need},
        needed_workloads={
            name: tuple(need["workloads"]) for name, need in data["needs"].items() if "workloads" in need
        },
        told={name: tuple(files) for name, files in data["told"].items()},
    )
