"""The pod that a workload creates, as admission sees it.

What its controller makes of the template, what the API server's own plugins add, and its defaults. What a cluster
decides otherwise (limit ranges, webhooks, priority classes of its own) is not in it. Made-up parts of names are fixed
letters here. Rules: kubernetes/kubernetes:pkg/controller and plugin/pkg/admission.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts.versions import minor_key
from poolsmith.core.sources.pod_template import account_of, mapping, mappings, pod_template_of, word
from poolsmith.core.sources.pointer import copied
from poolsmith.kubernetes.pods.pod import Pod
from poolsmith.kubernetes.pods.well_known import ANNOTATION, SAFE_LETTERS, TOKEN_PATH, profile_of_annotation
from poolsmith.kubernetes.server.pod_defaults import fill_pod

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SOME_NODE = "node"
"""Stands for the name of the node that a pod of a DaemonSet is made for."""

TOKEN_VOLUME = "kube-api-access-"  # noqa: S105 - the prefix of a volume's name
_SUFFIX = "zzzzz"
_NO_UID = "00000000-0000-0000-0000-000000000000"
_TOKEN_SECONDS = 3607
_EVICTION_SECONDS = 300
_PRIORITIES = {"": 0, "system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_NOT_READY, _UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
_OF_DAEMONS = (
    (_NOT_READY, "NoExecute"),
    (_UNREACHABLE, "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
_OF_DAEMONS_ON_HOST = ("node.kubernetes.io/network-unavailable", "NoSchedule")
_CONTROLLERS = {
    "DaemonSet": "daemon-set-controller",
    "Deployment": "replicaset-controller",
    "ReplicaSet": "replicaset-controller",
    "StatefulSet": "statefulset-controller",
    "ReplicationController": "replication-controller",
    "Job": "job-controller",
    "CronJob": "job-controller",
}


def as_admitted_pod(
    workload: Mapping[str, Any],
    runtime_classes: Iterable[Mapping[str, Any]] = (),
    kubernetes: str = "1.34",
    *,
    service_accounts: Iterable[Mapping[str, Any]] = (),
) -> dict[str, Any] | None:
    """A pod of `workload` as validating admission gets it on CREATE; of a Pod, the pod itself.

    `runtime_classes` and `service_accounts` are objects that exist. None: it makes no pods.
    """
    template = pod_template_of(workload)
    if template is None or not makes_pods(workload):
        return None
    pod = _as_created(workload, template, kubernetes)
    spec = pod["spec"]
    _add_account(pod, service_accounts)
    _add_priority(spec)
    _add_runtime_class(spec, runtime_classes)
    _add_eviction(spec)
    fill_pod(spec, kubernetes)
    _copy_app_armor(pod, minor_key(kubernetes))
    return pod


def makes_pods(workload: Mapping[str, Any]) -> bool:
    """Whether pods come of it: a template by itself makes none."""
    return pod_template_of(workload) is not None and workload.get("kind") != "PodTemplate"


def creator_of(workload: Mapping[str, Any]) -> str | None:
    """The user that creates the pods of a workload; None where no controller does."""
    name = _CONTROLLERS.get(word(workload.get("kind")))
    return None if name is None else f"system:serviceaccount:kube-system:{name}"


def _as_created(workload: Mapping[str, Any], template: Mapping[str, Any], kubernetes: str) -> dict[str, Any]:
    """What the controller sends."""
    metadata = copied(dict(mapping(template.get("metadata"))))
    spec = copied(dict(mapping(template.get("spec"))))
    own = mapping(workload.get("metadata"))
    kind, name = word(workload.get("kind")), word(own.get("name")) or word(own.get("generateName"))
    metadata["namespace"] = word(own.get("namespace")) or "default"
    if kind == "Pod":
        if not metadata.get("name") and word(metadata.get("generateName")):
            metadata["name"] = f"{metadata['generateName']}{_SUFFIX}"
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    digest = _hash(template)
    owner_kind, owner = kind, name
    if kind == "Deployment":
        owner_kind, owner = "ReplicaSet", f"{name}-{digest}"
    elif kind == "CronJob":
        owner_kind, owner = "Job", f"{name}-00000000"
    labels = dict(mapping(metadata.get("labels")))
    labels.update(_labels(owner_kind, owner, digest, kubernetes))
    metadata.pop("name", None)
    metadata["generateName"] = f"{owner}-"
    metadata["name"] = f"{owner}-{_SUFFIX}"
    if labels:
        metadata["labels"] = labels
    metadata["ownerReferences"] = [
        {
            "apiVersion": _API_OF_OWNERS.get(owner_kind, "apps/v1"),
            "kind": owner_kind,
            "name": owner,
            "uid": _NO_UID,
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    if owner_kind == "DaemonSet":
        _as_daemon(spec)
    elif owner_kind == "StatefulSet":
        _as_stateful(workload, metadata, spec, name)
    elif owner_kind == "Job":
        metadata["finalizers"] = ["batch.kubernetes.io/job-tracking"]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


_API_OF_OWNERS = {"Job": "batch/v1", "ReplicationController": "v1"}


def _labels(kind: str, name: str, digest: str, kubernetes: str) -> dict[str, str]:
    """Those that a controller adds."""
    if kind == "DaemonSet":
        return {"controller-revision-hash": digest, "pod-template-generation": "1"}
    if kind == "ReplicaSet" and name.endswith(f"-{digest}"):
        return {"pod-template-hash": digest}
    if kind == "StatefulSet":
        index = {"apps.kubernetes.io/pod-index": "0"} if minor_key(kubernetes) >= minor_key("1.28") else {}
        return {
            "controller-revision-hash": f"{name}-{digest}",
            "statefulset.kubernetes.io/pod-name": f"{name}-0",
        } | index
    if kind == "Job":
        own = {"controller-uid": _NO_UID, "job-name": name}
        return own | ({f"batch.kubernetes.io/{key}": value for key, value in own.items()})
    return {}


def _as_daemon(spec: dict[str, Any]) -> None:
    """Tied to one node, whatever state that is in."""
    field = {"key": "metadata.name", "operator": "In", "values": [SOME_NODE]}
    affinity = dict(mapping(spec.get("affinity")))
    of_nodes = dict(mapping(affinity.get("nodeAffinity")))
    of_nodes["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    spec["affinity"] = affinity | {"nodeAffinity": of_nodes}
    on_host = spec.get("hostNetwork") is True
    for key, effect in (*_OF_DAEMONS, *((_OF_DAEMONS_ON_HOST,) if on_host else ())):
        _tolerate(spec, {"key": key, "operator": "Exists", "effect": effect})


def _as_stateful(workload: Mapping[str, Any], metadata: dict[str, Any], spec: dict[str, Any], name: str) -> None:
    """The first of its pods, by name and with its own claims."""
    metadata["name"] = f"{name}-0"
    of_workload = mapping(workload.get("spec"))
    spec["hostname"] = f"{name}-0"
    if word(of_workload.get("serviceName")):
        spec["subdomain"] = of_workload["serviceName"]
    claims = [
        word(mapping(item.get("metadata")).get("name")) for item in mappings(of_workload.get("volumeClaimTemplates"))
    ]
    if claims:
        others = [item for item in mappings(spec.get("volumes")) if item.get("name") not in claims]
        spec["volumes"] = [
            *({"name": claim, "persistentVolumeClaim": {"claimName": f"{claim}-{name}-0"}} for claim in claims),
            *others,
        ]


def _add_account(pod: dict[str, Any], accounts: Iterable[Mapping[str, Any]]) -> None:
    """The service account, under both of its names, its pull secrets and its token."""
    spec = pod["spec"]
    name = spec["serviceAccountName"] = spec["serviceAccount"] = account_of(pod)
    account = _named(accounts, name, pod["metadata"]["namespace"])
    automount = spec.get("automountServiceAccountToken")
    if automount is None:
        automount = mapping(account).get("automountServiceAccountToken")
    if automount is not False:
        _mount_token(spec)
    secrets = mapping(account).get("imagePullSecrets")
    if not spec.get("imagePullSecrets") and isinstance(secrets, list) and secrets:
        spec["imagePullSecrets"] = copied(secrets)


def _mount_token(spec: dict[str, Any]) -> None:
    own = (word(item.get("name")) for item in mappings(spec.get("volumes")))
    found = next((name for name in own if name.startswith(TOKEN_VOLUME)), None)
    name = found or f"{TOKEN_VOLUME}{_SUFFIX}"
    mounted = False
    for field in ("initContainers", "containers"):
        for container in mappings(spec.get(field)):
            mounts = container.get("volumeMounts")
            if any(item.get("mountPath") == TOKEN_PATH for item in mappings(mounts)):
                continue
            mount = {"name": name, "readOnly": True, "mountPath": TOKEN_PATH}
            container["volumeMounts"] = [*(mounts if isinstance(mounts, list) else ()), mount]
            mounted = True
    if mounted and found is None:
        volumes = spec.get("volumes")
        spec["volumes"] = [*(volumes if isinstance(volumes, list) else ()), _token_volume(name)]


def _token_volume(name: str) -> dict[str, Any]:
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": _TOKEN_SECONDS, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return {"name": name, "projected": {"sources": sources, "defaultMode": 0o644}}


def _add_priority(spec: dict[str, Any]) -> None:
    """Of the classes that every cluster has; what another one is worth, only the cluster knows."""
    known = _PRIORITIES.get(word(spec.get("priorityClassName")))
    if known is not None:
        spec.setdefault("priority", known)
        spec.setdefault("preemptionPolicy", "PreemptLowerPriority")


def _add_runtime_class(spec: dict[str, Any], classes: Iterable[Mapping[str, Any]]) -> None:
    name = word(spec.get("runtimeClassName"))
    found = _named(classes, name) if name else None
    overhead = mapping(mapping(found).get("overhead")).get("podFixed")
    if isinstance(overhead, dict) and overhead:
        spec["overhead"] = copied(overhead)
    scheduling = mapping(mapping(found).get("scheduling"))
    selector = scheduling.get("nodeSelector")
    if isinstance(selector, dict) and selector:
        spec["nodeSelector"] = dict(mapping(spec.get("nodeSelector"))) | selector
    for toleration in mappings(scheduling.get("tolerations")):
        if toleration not in mappings(spec.get("tolerations")):
            spec["tolerations"] = [*mappings(spec.get("tolerations")), dict(toleration)]


def _add_eviction(spec: dict[str, Any]) -> None:
    """Five minutes on a node that is gone, where the pod says nothing else."""
    for key in (_NOT_READY, _UNREACHABLE):
        tolerated = any(
            item.get("key") in (None, "", key) and item.get("effect") in (None, "", "NoExecute")
            for item in mappings(spec.get("tolerations"))
        )
        if not tolerated:
            toleration = {
                "key": key,
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": _EVICTION_SECONDS,
            }
            spec["tolerations"] = [*mappings(spec.get("tolerations")), toleration]


def _copy_app_armor(pod: dict[str, Any], version: tuple[int, ...]) -> None:
    """Between the annotations of old and the fields of containers. Rules: pkg/registry/core/pod/strategy.go."""
    said = Pod(pod["metadata"], pod["spec"])
    if version < minor_key("1.30") or said.is_windows:
        return
    if version < minor_key("1.34") and said.app_armor_annotations:
        pod["metadata"]["annotations"] = {**said.annotations, **said.app_armor_annotations}
    for container in said.readable_containers:
        profile = profile_of_annotation(said.annotations.get(ANNOTATION + container.name))
        if (
            profile is not None
            and container.own.get("appArmorProfile") is None
            and profile != said.own.get("appArmorProfile")
        ):
            container.field.value["securityContext"] = {**container.own, "appArmorProfile": profile}


def _tolerate(spec: dict[str, Any], wanted: dict[str, Any]) -> None:
    """In the place of the same toleration, or at the end."""
    keys = ("key", "operator", "effect", "value")
    items = list(mappings(spec.get("tolerations")))
    for index, item in enumerate(items):
        if all((item.get(key) or "") == (wanted.get(key) or "") for key in keys):
            items[index] = wanted
            break
    else:
        items.append(wanted)
    spec["tolerations"] = items


def _named(objects: Iterable[Mapping[str, Any]], name: str, namespace: str | None = None) -> Mapping[str, Any] | None:
    for item in objects:
        metadata = mapping(item.get("metadata"))
        if metadata.get("name") == name and namespace in (None, word(metadata.get("namespace")) or "default"):
            return item
    return None


def _hash(template: Mapping[str, Any]) -> str:
    digest = blake2b(repr(template).encode("utf-8", "surrogatepass"), digest_size=10).digest()
    return "".join(SAFE_LETTERS[byte % len(SAFE_LETTERS)] for byte in digest)
