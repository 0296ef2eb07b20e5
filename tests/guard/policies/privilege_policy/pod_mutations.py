"""Pods that differ from a predicted one in a single thing that would widen what it may do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pointer import copied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Pod = dict[str, Any]
Change = tuple[str, "Callable[[], Pod]"]

SORTS = ("initContainers", "containers")
EVIL = {
    "name": "evil",
    "image": "evil.example/tool:1",
    "command": ["sh", "-c", "id"],
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "runAsNonRoot": True,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    },
}
SOURCES = {
    "secret": {"secretName": "any"},
    "configMap": {"name": "of-somebody-else"},
    "persistentVolumeClaim": {"claimName": "any"},
    "nfs": {"server": "evil.example", "path": "/"},
    "csi": {"driver": "evil.example"},
    "flexVolume": {"driver": "evil/driver"},
    "gitRepo": {"repository": "https://evil.example/x"},
    "iscsi": {"targetPortal": "10.0.0.1", "iqn": "iqn.2001-04.com.example:x", "lun": 0},
    "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}},
    "projected": {"sources": [{"serviceAccountToken": {"path": "token", "audience": "vault"}}]},
    "image": {"reference": "evil.example/files:1"},
    "downwardAPI": {"items": [{"path": "x", "fieldRef": {"fieldPath": "metadata.annotations"}}]},
    "hostPath": {"path": "/etc/kubernetes"},
    "emptyDir": {},
}


def mutations(pod: Pod, every: int = 1, start: int = 0) -> Iterator[tuple[str, Pod]]:
    """Each, or every n-th, by a name; those that change nothing are left out."""
    for index, (name, make) in enumerate(_all(pod)):
        if (index + start) % every == 0 and (other := make()) != pod:
            yield name, other


def number_of_mutations(pod: Pod) -> int:
    return sum(1 for _ in _all(pod))


def _all(pod: Pod) -> Iterator[Change]:
    yield from _of_the_pod(pod)
    for field in SORTS:
        for index in range(len(pod["spec"].get(field) or ())):
            yield from _of_a_container(pod, field, index)
    for index in range(len(pod["spec"].get("volumes") or ())):
        yield from _of_a_volume(pod, index)


def changed(pod: Pod, change: Callable[[Pod], object]) -> Callable[[], Pod]:
    def make() -> Pod:
        other: Pod = copied(pod)
        change(other)
        return other

    return make


def _of_the_pod(pod: Pod) -> Iterator[Change]:
    spec = pod["spec"]
    for field in ("hostPID", "hostIPC", "hostNetwork", "shareProcessNamespace"):
        if spec.get(field) is not True:
            yield field, changed(pod, lambda p, f=field: p["spec"].update({f: True}))
    for name in ("default", "gpu-operator", "nvidia-driver"):
        if spec["serviceAccountName"] != name:
            other = {"serviceAccountName": name, "serviceAccount": name}
            yield f"service account {name}", changed(pod, lambda p, o=other: p["spec"].update(o))
    for field in SORTS:
        yield f"added to {field}", changed(pod, lambda p, f=field: p["spec"].setdefault(f, []).append(copied(EVIL)))
        copy = {**copied(spec["containers"][0]), "name": "copy"}
        yield f"copy in {field}", changed(pod, lambda p, f=field, c=copy: p["spec"].setdefault(f, []).append(c))
    yield "ephemeral container", changed(pod, lambda p: p["spec"].update(ephemeralContainers=[copied(EVIL)]))
    aimed = {**copied(spec["containers"][0]), "name": "debugger", "targetContainerName": spec["containers"][0]["name"]}
    yield "ephemeral copy", changed(pod, lambda p: p["spec"].update(ephemeralContainers=[aimed]))
    fields: dict[str, Any] = {
        "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["api.example"]}],
        "dnsConfig": {"nameservers": ["10.0.0.1"]},
        "runtimeClassName": "evil",
        "hostUsers": True,
        "resourceClaims": [{"name": "gpu", "resourceClaimName": "any"}],
        "setHostnameAsFQDN": True,
        "hostnameOverride": "x",
    }
    for field, value in fields.items():
        yield field, changed(pod, lambda p, f=field, v=value: p["spec"].update({f: v}))
    contexts: dict[str, Any] = {
        "fsGroup": 0,
        "supplementalGroups": [0],
        "sysctls": [{"name": "kernel.msgmax", "value": "1"}],
        "windowsOptions": {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\SYSTEM"},
        "supplementalGroupsPolicy": "Merge",
    }
    for field, value in contexts.items():
        yield (
            f"pod context {field}",
            changed(pod, lambda p, f=field, v=value: p["spec"].setdefault("securityContext", {}).update({f: v})),
        )
    for key in (
        "cdi.k8s.io/x",
        "nvidia.cdi.k8s.io/container.x",
        "io.katacontainers.config.hypervisor.path",
        "io.kubernetes.cri-o.Devices",
        "seccomp-profile.kubernetes.cri-o.io/POD",
        "mounts.nri.io/container.x",
        "ulimits.nri.containerd.io/container.x",
        "org.systemd.property.DeviceAllow",
        "run.oci.seccomp.plugins",
    ):
        yield (
            f"annotation {key}",
            changed(pod, lambda p, k=key: p["metadata"].setdefault("annotations", {}).update({k: "v"})),
        )
    for kind in ("hostPath", "nfs", "flexVolume", "secret", "gitRepo"):
        volume = {"name": "evil", kind: SOURCES[kind]}
        yield (
            f"unmounted {kind}",
            changed(pod, lambda p, v=volume: p["spec"].setdefault("volumes", []).append(v)),
        )


def _of_a_container(pod: Pod, field: str, index: int) -> Iterator[Change]:
    own = pod["spec"][field][index]
    name = own["name"]
    context = own.get("securityContext") or {}

    def with_(text: str, **values: Any) -> Change:
        return f"{name}: {text}", changed(pod, lambda p: p["spec"][field][index].update(copied(values)))

    def in_context(text: str, **values: Any) -> Change:
        return with_(text, securityContext={**context, **values})

    if context.get("privileged") is not True:
        yield in_context("privileged", privileged=True, allowPrivilegeEscalation=True)
        yield in_context("capability", capabilities={**(context.get("capabilities") or {}), "add": ["SYS_ADMIN"]})
        yield in_context("procMount", procMount="Unmasked")
        yield in_context("seccomp", seccompProfile={"type": "Unconfined"})
        yield in_context("seccomp file", seccompProfile={"type": "Localhost", "localhostProfile": "evil.json"})
        yield in_context("apparmor", appArmorProfile={"type": "Unconfined"})
        yield in_context("selinux", seLinuxOptions={"type": "spc_t"})
        yield in_context("selinux level", seLinuxOptions={"level": "s0:c0"})
        yield in_context("root", runAsUser=0, runAsNonRoot=False)
        key = f"container.apparmor.security.beta.kubernetes.io/{name}"
        yield (
            f"{name}: apparmor annotation",
            changed(pod, lambda p: p["metadata"].setdefault("annotations", {}).update({key: "unconfined"})),
        )
        yield in_context("another user", runAsUser=1234)
        if context:
            yield f"{name}: no context", changed(pod, lambda p: p["spec"][field][index].pop("securityContext"))
        if context.get("allowPrivilegeEscalation") is False:
            yield in_context("escalation", allowPrivilegeEscalation=True)
        if "ALL" in (context.get("capabilities") or {}).get("drop", ()):
            yield in_context("keeps capabilities", capabilities={"drop": ["NET_RAW"]})
        if context.get("readOnlyRootFilesystem") is True:
            yield in_context("writable root", readOnlyRootFilesystem=False)
    elif context.get("runAsUser") != 0:
        yield in_context("root", runAsUser=0)
    yield in_context("host process", windowsOptions={"hostProcess": True})
    yield from _identity(own, with_)
    yield from _code(own, field, with_)
    yield from _mounts(pod, own, with_)


def _identity(own: Pod, with_: Callable[..., Change]) -> Iterator[Change]:
    image = own["image"]
    tagged = image.partition("@")[0]
    for text, other in (
        ("another image", "evil.example/nvidia/driver:1"),
        ("its path on another registry", "evil.example/" + tagged.partition("/")[2]),
        ("another repository", f"{tagged.rpartition(':')[0]}x:1"),
        ("its repository as a tag", f"evil.example/x:{tagged.rpartition('/')[2].partition(':')[0]}"),
        ("its digest elsewhere", f"evil.example/x@sha256:{'0' * 64}"),
        ("its repository behind @", f"evil.example/x@{tagged}"),
        ("a port of the registry", tagged.replace("/", ":444/", 1)),
        ("its repository encoded", "evil.example/x%7C" + tagged),
        ("no registry", tagged.partition("/")[2]),
    ):
        yield with_(text, image=other)
    command, args = own.get("command") or [], own.get("args") or []
    yield with_("another command", command=["sh", "-c", "id"])
    yield with_("a longer command", command=[*command, "x"])
    yield with_("an argument more", args=[*args, "x"])
    yield with_("an empty argument", args=[*args, ""])
    yield with_("other arguments", args=["-c", "id"])
    if command:
        yield with_("no command", command=[])
        if command[1:] or args:
            yield with_("joined command", command=["|".join([*command, *(f"a:{item}" for item in args)])], args=[])
        yield with_("command as arguments", command=[], args=[*command, *args])
    if args:
        yield with_("no arguments", args=[])
        yield with_("all in the command", command=[*command, *args], args=[])
        yield with_("a line more", args=[*args[:-1], args[-1] + "\nid"])
    yield with_("another name", name="other")
    yield with_("a name of upper case", name=own["name"].upper())


def _code(own: Pod, field: str, with_: Callable[..., Change]) -> Iterator[Change]:
    """Ways to run something else with the same command."""
    env = own.get("env") or []
    for name in ("LD_PRELOAD", "PATH", "BASH_ENV", "PYTHONPATH", "GCONV_PATH"):
        yield with_(f"variable {name}", env=[*env, {"name": name, "value": "/evil"}])
    yield with_(
        "variable of a secret", env=[*env, {"name": "A", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}]
    )
    yield with_("variable of a file", env=[*env, {"name": "A", "valueFrom": {"fileKeyRef": {"path": "x"}}}])
    for index, item in enumerate(env):
        other = {"name": item["name"], "value": "$(EVIL)/evil=1"}
        if item.get("value") is not None or "valueFrom" in item:
            yield with_(f"another {item['name']}", env=[*env[:index], other, *env[index + 1 :]])
            yield with_(f"{item['name']} twice", env=[*env, other])
        of_secret = {"name": item["name"], "valueFrom": {"configMapKeyRef": {"name": "a", "key": "b"}}}
        yield with_(f"{item['name']} of a ConfigMap", env=[*env[:index], of_secret, *env[index + 1 :]])
    odd = {"name": "NODE_NAME<field:spec.nodeName", "value": "evil"}
    yield with_("a variable that looks like a source", env=[*env, odd])
    yield with_("variables of a ConfigMap", envFrom=[{"configMapRef": {"name": "evil"}}])
    hooks = own.get("lifecycle") or {}
    yield with_("postStart", lifecycle={**hooks, "postStart": {"exec": {"command": ["id"]}}})
    yield with_("preStop", lifecycle={**hooks, "preStop": {"exec": {"command": ["id"]}}})
    yield with_("preStop elsewhere", lifecycle={**hooks, "preStop": {"httpGet": {"host": "10.0.0.1", "port": 1}}})
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        yield with_(probe, **{probe: {"exec": {"command": ["id"]}}})
        yield with_(f"{probe} elsewhere", **{probe: {"httpGet": {"host": "169.254.169.254", "port": 80}}})
        yield with_(f"{probe} by TCP elsewhere", **{probe: {"tcpSocket": {"host": "169.254.169.254", "port": 80}}})
    yield with_("working directory", workingDir="/evil")
    yield with_("termination message", terminationMessagePath="/etc/ld.so.preload")
    yield with_("stdin", stdin=True, tty=True)
    yield with_("devices", volumeDevices=[{"name": "x", "devicePath": "/dev/sda"}])
    yield with_("resource claim", resources={"claims": [{"name": "gpu"}]})
    if field == "initContainers":
        yield with_("sidecar", restartPolicy="Always")


def _mounts(pod: Pod, own: Pod, with_: Callable[..., Change]) -> Iterator[Change]:
    mounts = own.get("volumeMounts") or []
    volumes = {item["name"]: item for item in pod["spec"].get("volumes") or ()}
    for index, mount in enumerate(mounts):
        where = f"mount {mount['mountPath']}"

        def mounted(text: str, at: int = index, where: str = where, **values: Any) -> Change:
            other = {key: value for key, value in {**mounts[at], **values}.items() if value is not None}
            return with_(f"{where}: {text}", volumeMounts=[*mounts[:at], other, *mounts[at + 1 :]])

        yield mounted("elsewhere", mountPath="/usr/bin")
        yield mounted("a part", subPath="evil")
        if mount.get("subPath"):
            where_and_part = f"{mount['mountPath']} subPath {mount['subPath']}"
            yield mounted("the whole by a path with blanks", subPath=None, mountPath=where_and_part)
        yield mounted("a part by expression", subPathExpr="$(NODE_NAME)")
        if mount.get("subPath"):
            yield mounted("the whole", subPath=None)
        if "hostPath" in volumes[mount["name"]]:
            if mount.get("readOnly") is True:
                yield mounted("writable", readOnly=None)
            propagation = mount.get("mountPropagation")
            if propagation in (None, "None"):
                yield mounted("host to container", mountPropagation="HostToContainer")
            if propagation != "Bidirectional":
                yield mounted("bidirectional", mountPropagation="Bidirectional")
        yield with_(f"{where} twice", volumeMounts=[*mounts, {**mount, "mountPath": "/evil"}])
    for name, volume in volumes.items():
        if all(mount["name"] != name for mount in mounts):
            kind = next(key for key in volume if key != "name")
            yield with_(
                f"mounts {kind} {name} too", volumeMounts=[*mounts, {"name": name, "mountPath": "/usr/local/bin"}]
            )
    if pod["spec"].get("hostNetwork") is not True:
        yield with_("host port", ports=[{"containerPort": 8080, "hostPort": 8080}])


def _of_a_volume(pod: Pod, index: int) -> Iterator[Change]:
    volume = pod["spec"]["volumes"][index]
    name = volume["name"]

    def replaced(text: str, source: dict[str, Any]) -> Change:
        return f"volume {name}: {text}", changed(
            pod, lambda p: p["spec"]["volumes"].__setitem__(index, {"name": name, **copied(source)})
        )

    for kind, source in SOURCES.items():
        if kind not in volume:
            yield replaced(kind, {kind: source})
    if "hostPath" in volume:
        path = volume["hostPath"]["path"]
        for text, other in (
            ("wider", path.rstrip("/").rpartition("/")[0] or "/"),
            ("the root", "/"),
            ("beside", f"{path.rstrip('/')}x"),
            ("with a slash more", f"/{path}"),
            ("with a dot", f"{path.rstrip('/')}/./"),
        ):
            if other != path:
                yield replaced(text, {"hostPath": {"path": other}})
    for kind, key in (("configMap", "name"), ("secret", "secretName")):
        if kind in volume:
            yield replaced("another", {kind: {**volume[kind], key: "evil"}})
            yield replaced("other items", {kind: {**volume[kind], "items": [{"key": "evil", "path": "entrypoint.sh"}]}})
    if "projected" in volume:
        sources = volume["projected"]["sources"]
        yield replaced("a secret more", {"projected": {"sources": [*sources, {"secret": {"name": "any"}}]}})
        yield replaced("a ConfigMap more", {"projected": {"sources": [*sources, {"configMap": {"name": "any"}}]}})
        fake = {"items": [{"path": "token", "fieldRef": {"fieldPath": "metadata.annotations['x']"}}]}
        yield replaced("another token", {"projected": {"sources": [*sources, {"downwardAPI": fake}]}})
        other = {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "token"}]}
        yield replaced("a file as token", {"projected": {"sources": [*sources, {"configMap": other}]}})
        yield replaced("trust bundle", {"projected": {"sources": [*sources, {"clusterTrustBundle": {"path": "x"}}]}})
