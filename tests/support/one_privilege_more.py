"""Pods with one privilege more than they had: each kind that the ledger knows, at each place where a pod can ask for it.

A change is a change only where the ledger says that the pod then holds more; what it holds more is its `gained`.
Each changed pod is one that the API server takes, but for policies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from poolsmith.core.sources.pointer import copied
from poolsmith.guard.ledger.workload_privileges import pod_privileges
from poolsmith.kubernetes.pods.well_known import PRIVILEGED_ANNOTATIONS

Pod = dict[str, Any]

SORTS = {"initContainers": "init", "containers": "main"}
UNKNOWN_IMAGE = "registry.example.com/other/tool:1"
CONFINED = {
    "allowPrivilegeEscalation": False,
    "runAsNonRoot": True,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}
_WIDER = {
    "ro to rw": ({"readOnly": True}, {"readOnly": False}),
    "propagation": ({"mountPropagation": "None"}, {"mountPropagation": "HostToContainer"}),
}
_VOLUMES = {
    "nfs": {"server": "nfs.example.com", "path": "/"},
    "iscsi": {"targetPortal": "10.0.0.1", "iqn": "iqn.2001-04.com.example:x", "lun": 0},
    "flexVolume": {"driver": "example.com/driver"},
    "fc": {"targetWWNs": ["500a0982991b8dc5"], "lun": 2},
    "cephfs": {"monitors": ["10.0.0.1:6789"]},
    "rbd": {"monitors": ["10.0.0.1:6789"], "image": "foo"},
    "glusterfs": {"endpoints": "gluster", "path": "kube_vol"},
    "gitRepo": {"repository": "https://git.example.com/x"},
    "azureFile": {"secretName": "azure", "shareName": "x"},
    "cinder": {"volumeID": "1"},
}


@dataclass(frozen=True)
class Change:
    """One privilege more: its kind, where it is asked for, and the pod. `gained` are privileges as texts.

    `ephemeral` is added to a pod that runs: an update of the subresource `ephemeralcontainers`.
    """

    kind: str
    place: str
    pod: Pod
    gained: tuple[str, ...]
    ephemeral: bool = False


def held(pod: Pod) -> set[tuple[str, str]]:
    """Container and privilege, as the ledger lists them."""
    return {(container, str(privilege)) for container, privilege in pod_privileges(pod)}


def changes(pod: Pod) -> Iterator[Change]:
    """All of a pod; where it has a privilege already, there is none."""
    before = held(pod)
    for kind, place, make in (*_of_pod(pod), *_of_containers(pod), *_of_others(pod)):
        other = copied(pod)
        make(other)
        gained = tuple(sorted({text for _, text in held(other) - before}))
        if gained or kind in NO_TOKEN or (_asks_in_vain(kind, place, pod) and other != pod):
            yield Change(kind, place, other, gained, ephemeral=place.startswith("ephemeral"))


def _asks_in_vain(kind: str, place: str, pod: Pod) -> bool:
    """Of a privileged container, what it has anyway."""
    if kind not in ("capability", "seccomp", "apparmor", "selinux"):
        return False
    name = place.split()[1].strip(",") if " " in place else ""
    own = [item for field in SORTS for item in pod["spec"].get(field) or () if item["name"] == name]
    return any((item.get("securityContext") or {}).get("privileged") for item in own)


def names(message: str, change: Change) -> bool:
    """Whether a message names what is not granted; a path stands there as the pod spells it."""
    # a port in the network of the node is no privilege beside it
    texts = (message, message.replace("/:", ":"))
    words = [f" {word}{token}" for token in change.gained for word in ("wants ", "has ", "has also:")]
    return not words or any(word in text for word in words for text in texts)


NO_TOKEN = ("identity",)
"""Kinds of changes that give other code what stays granted: no privilege more, but somebody else who has it."""


Made = tuple[str, str, Callable[[Pod], object]]


def _of_pod(pod: Pod) -> Iterator[Made]:
    def context(**values: Any) -> Callable[[Pod], object]:
        return lambda p: p["spec"].setdefault("securityContext", {}).update(values)

    yield "host-pid", "pod", _host_pid
    yield "host-ipc", "pod", lambda p: p["spec"].update(hostIPC=True)
    yield "host-network", "pod", _host_network
    if not pod["spec"].get("hostNetwork"):
        yield "sysctl", "pod", context(sysctls=[{"name": "net.ipv4.ip_local_port_range", "value": "1024 65535"}])
    yield "run-as-root", "pod", context(runAsUser=0, runAsNonRoot=False)
    yield "run-as-root", "pod, not said who", context(runAsNonRoot=False)
    yield "seccomp", "pod", context(seccompProfile={"type": "Unconfined"})
    yield "apparmor", "pod", context(appArmorProfile={"type": "Unconfined"})
    yield "selinux", "pod", context(seLinuxOptions={"type": "spc_t"})
    for kind, source in {"hostPath": {"path": "/etc/kubernetes", "type": ""}, **_VOLUMES}.items():
        name = "host-path" if kind == "hostPath" else "volume"
        yield name, f"pod, {kind} that nothing mounts", _volume({"name": "more", kind: source})
    for word in PRIVILEGED_ANNOTATIONS:
        yield "annotation", f"pod, {word}", _annotation(f"x.{word}.x".replace("..", "."), "value")


def _host_pid(pod: Pod) -> None:
    """The API server takes one of the two."""
    pod["spec"].pop("shareProcessNamespace", None)
    pod["spec"]["hostPID"] = True


def _host_network(pod: Pod) -> None:
    """In the host's network each port of a container is one of the host."""
    pod["spec"]["hostNetwork"] = True
    for field in SORTS:
        for own in pod["spec"].get(field) or ():
            for port in own.get("ports") or ():
                port["hostPort"] = port["containerPort"]


def _volume(volume: Pod) -> Callable[[Pod], object]:
    return lambda p: p["spec"].setdefault("volumes", []).append(copied(volume))


def _annotation(key: str, value: str) -> Callable[[Pod], object]:
    return lambda p: p["metadata"].setdefault("annotations", {}).update({key: value})


def _of_containers(pod: Pod) -> Iterator[Made]:
    for field, sort in SORTS.items():
        for index, own in enumerate(pod["spec"].get(field) or ()):
            place = f"{sort} {own['name']}"
            yield from _of_context(own, field, index, place)
            yield from _of_mounts(pod, field, index, place)
            port = {"containerPort": 4242, "hostPort": 4242, "protocol": "TCP", "name": "more"}
            yield "host-port", place, _at(field, index, lambda c, p=port: c.setdefault("ports", []).append(p))


def _at(field: str, index: int, change: Callable[[Pod], object]) -> Callable[[Pod], object]:
    return lambda pod: change(pod["spec"][field][index])


def _of_context(own: Pod, field: str, index: int, place: str) -> Iterator[Made]:
    context = own.get("securityContext") or {}

    def with_(**values: Any) -> Callable[[Pod], object]:
        return _at(field, index, lambda c: c.update(securityContext={**copied(context), **copied(values)}))

    capabilities = context.get("capabilities") or {}
    yield "privileged", place, with_(privileged=True, allowPrivilegeEscalation=True)
    yield "allow-escalation", place, with_(allowPrivilegeEscalation=True)
    for name in ("NET_ADMIN", "SYS_PTRACE"):
        yield "capability", f"{place}, {name}", with_(capabilities={**capabilities, "add": [name]})
    yield "run-as-root", place, with_(runAsUser=0, runAsNonRoot=False)
    yield "seccomp", place, with_(seccompProfile={"type": "Unconfined"})
    yield "apparmor", place, with_(appArmorProfile={"type": "Unconfined"})
    key = f"container.apparmor.security.beta.kubernetes.io/{own['name']}"
    if "appArmorProfile" not in context:
        yield "apparmor", f"{place}, annotation", _annotation(key, "unconfined")
    yield "selinux", place, with_(seLinuxOptions={"type": "spc_t"})

    def unmask(pod: Pod) -> None:
        pod["spec"]["hostUsers"] = False  # the API server asks for it
        with_(procMount="Unmasked")(pod)

    if not any(pod_field in own for pod_field in ("volumeDevices",)):
        yield "proc-mount", place, unmask


def _of_mounts(pod: Pod, field: str, index: int, place: str) -> Iterator[Made]:
    own = pod["spec"][field][index]
    for access in ("ro", "rw"):
        for propagation in ("None", "HostToContainer", "Bidirectional"):
            if propagation == "Bidirectional" and not (own.get("securityContext") or {}).get("privileged"):
                continue
            mount = {"name": "more", "mountPath": "/more", "mountPropagation": propagation}
            yield (
                "host-path",
                f"{place}, {access} {propagation}",
                _mounted(field, index, {"path": "/etc/kubernetes", "type": ""}, mount | _read_only(access)),
            )
    for kind, source in list(_VOLUMES.items())[:2]:
        yield "volume", f"{place}, {kind}", _mounted(field, index, source, {"name": "more", "mountPath": "/more"}, kind)
    hosts = {item["name"]: item["hostPath"]["path"] for item in pod["spec"].get("volumes") or () if "hostPath" in item}
    for number, mount in enumerate(own.get("volumeMounts") or ()):
        if mount["name"] not in hosts:
            continue
        for text, (had, then) in _WIDER.items():
            if all(mount.get(key, "None") == value for key, value in had.items()):
                yield "host-path", f"{place}, {text} {mount['mountPath']}", _remounted(field, index, number, then)
        if mount.get("subPath"):
            yield "host-path", f"{place}, whole {mount['mountPath']}", _remounted(field, index, number, {"subPath": ""})
    for name, path in hosts.items():
        mounted = any(mount["name"] == name for mount in own.get("volumeMounts") or ())
        if not mounted:
            mount = {"name": name, "mountPath": "/more"}
            yield "host-path", f"{place}, {path} of another", _mount(field, index, mount)
        elif path != "/":
            yield "host-path", f"{place}, above {path}", _moved(name, path.rsplit("/", 1)[0] or "/")


def _read_only(access: str) -> Pod:
    return {"readOnly": True} if access == "ro" else {}


def _mount(field: str, index: int, mount: Pod) -> Callable[[Pod], object]:
    return _at(field, index, lambda c: c.setdefault("volumeMounts", []).append(copied(mount)))


def _mounted(field: str, index: int, source: Pod, mount: Pod, kind: str = "hostPath") -> Callable[[Pod], object]:
    def make(pod: Pod) -> None:
        _volume({"name": "more", kind: source})(pod)
        _mount(field, index, mount)(pod)

    return make


def _remounted(field: str, index: int, number: int, values: Pod) -> Callable[[Pod], object]:
    return _at(field, index, lambda c: c["volumeMounts"][number].update(values))


def _moved(name: str, path: str) -> Callable[[Pod], object]:
    def make(pod: Pod) -> None:
        for item in pod["spec"]["volumes"]:
            if item["name"] == name:
                item["hostPath"] = {"path": path, "type": ""}

    return make


def _of_others(pod: Pod) -> Iterator[Made]:
    """Containers that were not there, and others in the place of those that were."""
    for field, sort in SORTS.items():
        for text, context in _contexts():
            own = {
                "name": "more",
                "image": UNKNOWN_IMAGE,
                "command": ["sh"],
                "securityContext": {**CONFINED, **context},
            }
            yield text, f"{sort} that is added", lambda p, f=field, c=own: p["spec"].setdefault(f, []).append(copied(c))
        confined = {"name": "more", "image": UNKNOWN_IMAGE, "command": ["sh"], "securityContext": CONFINED}
        yield (
            "identity",
            f"{sort} that is added, confined",
            lambda p, f=field, c=confined: p["spec"].setdefault(f, []).append(copied(c)),
        )
        for index, own in enumerate(pod["spec"].get(field) or ()):
            place = f"{sort} {own['name']}"
            path = own["image"].split("@")[0].partition("/")[2]
            yield "identity", f"{place}, image", _at(field, index, lambda c: c.update(image=UNKNOWN_IMAGE))
            yield "identity", f"{place}, registry", _at(field, index, lambda c, i=path: c.update(image=f"other.io/{i}"))
            yield "identity", f"{place}, command", _at(field, index, lambda c: c.update(command=["sh", "-c", "id"]))
            more = [*(own.get("args") or ()), "--more"]
            yield "identity", f"{place}, argument", _at(field, index, lambda c, a=more: c.update(args=a))
            yield "identity", f"{place}, name", _at(field, index, lambda c: c.update(name="other-name"))
    for text, context in _contexts():
        yield text, "ephemeral that is added", _debugged({**CONFINED, **context})
    yield "identity", "ephemeral that is added, confined", _debugged(CONFINED)
    for item in pod["spec"].get("volumes") or ():
        if "hostPath" in item:
            mount = {"name": item["name"], "mountPath": "/more"}
            path = item["hostPath"]["path"]
            yield "host-path", f"ephemeral, {path}", _debugged(CONFINED, [mount])


def _debugged(context: Pod, mounts: list[Pod] | None = None) -> Callable[[Pod], object]:
    own = {"name": "debugger", "image": UNKNOWN_IMAGE, "command": ["sh"], "securityContext": context}
    own |= {"volumeMounts": mounts} if mounts else {}
    return lambda pod: pod["spec"].setdefault("ephemeralContainers", []).append(copied(own))


def _contexts() -> Iterator[tuple[str, Pod]]:
    yield "privileged", {"privileged": True, "allowPrivilegeEscalation": True}
    yield "allow-escalation", {"allowPrivilegeEscalation": True}
    yield "capability", {"capabilities": {"add": ["NET_ADMIN"], "drop": ["ALL"]}}
    yield "run-as-root", {"runAsUser": 0, "runAsNonRoot": False}
    yield "seccomp", {"seccompProfile": {"type": "Unconfined"}}
    yield "apparmor", {"appArmorProfile": {"type": "Unconfined"}}
    yield "selinux", {"seLinuxOptions": {"type": "spc_t"}}
