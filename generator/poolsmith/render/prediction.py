"""What a cluster will hold, to read and to review; nothing of it is applied. Floor: render."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.model.manifest import Manifest
from poolsmith.model.origin import shown_origin
from poolsmith.model.privilege import privilege
from poolsmith.model.reach import Reach
from poolsmith.sources.pointer import join
from poolsmith.sources.yaml_writer import emit_all

if TYPE_CHECKING:
    from poolsmith.model.expansion import KubernetesObject
    from poolsmith.model.image_use import ImageUse
    from poolsmith.model.workload_ledger import ClusterLedger, ContainerLedger, HeldPrivilege, WorkloadLedger

LEDGER = "privileges.yaml"
IMAGES = "images.yaml"
WORKLOADS = "expected/workloads.yaml"
_API = "poolsmith/v1"


def ledger_manifest(ledger: ClusterLedger, header: tuple[str, ...]) -> Manifest:
    """privileges.yaml: what runs on each pool, what each workload holds and why, what their accounts may do."""
    comments: dict[str, tuple[str, ...]] = {}
    body: dict[str, Any] = {
        "apiVersion": _API,
        "kind": "PrivilegeLedger",
        "metadata": {"name": ledger.cluster},
        "release": ledger.release,
    }
    for name in ("errors", "unknown", "notes"):
        if found := getattr(ledger, name):
            body[name] = list(found)
    body["pools"] = _pools(ledger)
    body["workloads"] = {_key(item): _workload(item, ("workloads", _key(item)), comments) for item in ledger.workloads}
    body["accounts"] = _accounts(ledger)
    lines = (*header, "", "What each workload may do to a pool's nodes and to the cluster, and what brings it about.")
    return Manifest(path=LEDGER, documents=(body,), header=lines, comments=comments, applied=False)


def images_manifest(cluster: str, uses: tuple[ImageUse, ...], header: tuple[str, ...]) -> Manifest:
    """images.yaml: each image with the pools that pull it."""
    body = {
        "apiVersion": _API,
        "kind": "ImageList",
        "metadata": {"name": cluster},
        "images": [image_entry(use) for use in uses],
    }
    lines = (*header, "", "Every image that the nodes will pull, for mirrors and scanners.")
    return Manifest(path=IMAGES, documents=(body,), header=lines, applied=False)


def image_entry(use: ImageUse) -> dict[str, Any]:
    """One image as every list of images has it."""
    entry = {"image": use.image, "workloads": list(use.workloads), "pools": list(use.pools)}
    return entry | ({"systems": list(use.systems)} if use.systems else {})


def workloads_text(objects: tuple[KubernetesObject, ...]) -> str:
    """The predicted objects as one stream.

    Without their owners: Kubernetes knows one by a uid, which only the cluster gives.
    """
    return emit_all([_without_owner(item) for item in objects])


def _without_owner(item: KubernetesObject) -> KubernetesObject:
    metadata = {key: value for key, value in item["metadata"].items() if key != "ownerReferences"}
    return {**item, "metadata": metadata}


def workloads_manifest(text: str, header: tuple[str, ...]) -> Manifest:
    """expected/workloads.yaml, of a text that `workloads_text` made."""
    lines = (*header, "", "What charts, operator and operands will create; to read and to compare with, never applied.")
    return Manifest(path=WORKLOADS, text="".join(f"# {line}".rstrip() + "\n" for line in lines) + text, applied=False)


def _pools(ledger: ClusterLedger) -> dict[str, Any]:
    found: dict[str, list[WorkloadLedger]] = {}
    for workload in ledger.workloads:
        for pool in workload.pools:
            found.setdefault(pool, []).append(workload)
    return {
        pool: {
            "reach": str(min((item.reach for item in found[pool]), default=Reach.NONE)),
            "workloads": [_key(item) for item in found[pool]],
        }
        for pool in sorted(found)
    }


def _key(workload: WorkloadLedger) -> str:
    return f"{workload.namespace}/{workload.workload}"


def _workload(workload: WorkloadLedger, path: tuple[str, ...], comments: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    body: dict[str, Any] = {
        "reach": str(workload.reach),
        "madeBy": workload.maker,
        "because": [shown_origin(origin) for origin in workload.origins],
        "account": workload.account,
    }
    if workload.pool_origins:
        body["onPoolsBecause"] = {
            pool: [shown_origin(origin) for origin in origins] for pool, origins in workload.pool_origins
        }
    for container in workload.containers:
        if container.name:
            where = (*path, "containers", container.name)
            body.setdefault("containers", {})[container.name] = _held(container, where, comments)
            if container.origins:
                comments[join("", *where)] = _from(container.origins)
        elif held := _held(container, (*path, "pod"), comments):
            body["pod"] = held
    return body


def _held(container: ContainerLedger, path: tuple[str, ...], comments: dict[str, tuple[str, ...]]) -> dict[str, str]:
    held = {}
    for item in container.held:
        if item.privilege.name == "rbac":
            continue
        token = str(item.privilege)
        held[token] = str(item.reach)
        if item.origins:
            comments[join("", *path, token)] = _from(item.origins)
    return held


def _accounts(ledger: ClusterLedger) -> dict[str, dict[str, str]]:
    """The rights of each account, once; verbs that reach equally far stand together, each a token of its own."""
    accounts: dict[str, dict[str, str]] = {}
    for workload in ledger.workloads:
        name = f"{workload.namespace}/{workload.account}"
        rights = [
            item
            for container in workload.containers
            for item in container.held
            if not container.name and item.privilege.name == "rbac"
        ]
        if rights:
            accounts[name] = _rights(rights)
    return dict(sorted(accounts.items()))


def _rights(rights: list[HeldPrivilege]) -> dict[str, str]:
    verbs: dict[tuple[str, str, str, str, Reach], list[str]] = {}
    for item in rights:
        group, resource, verb, scope, name = item.privilege.arguments
        verbs.setdefault((group, resource, scope, name, item.reach), []).append(verb)
    return {
        str(privilege("rbac", group, resource, ",".join(found), scope, name)): str(reach)
        for (group, resource, scope, name, reach), found in verbs.items()
    }


def _from(origins: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"from {shown_origin(origin)}" for origin in origins)
