"""Fields that the API server lets nobody change: an object has to be deleted and recreated.

Source: kubernetes/kubernetes@v1.34.1:pkg/apis/*/validation, the functions `Validate*Update`; each row, and that other
fields may change, is tried on a real API server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import join, value_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Path = tuple[str, ...]
Body = dict[str, Any]


@record
class _Kind:
    """What stays as it is. With `but`, all below `all_of` does, except for these fields.

    `unset` are values that stand for an absent field. `when` says of which objects all this is true.
    """

    fields: tuple[Path, ...] = ()
    all_of: Path | None = None
    but: tuple[Path, ...] = ()
    unset: tuple[tuple[Path, Any], ...] = ()
    when: Callable[[Body, Body], bool] = lambda _old, _new: True


def _is_immutable(old: Body, _new: Body) -> bool:
    return old.get("immutable") is True


def _has_cluster_address(old: Body, new: Body) -> bool:
    """A Service that lets go of its address, or gets one, may."""
    types = {value_at(item, ("spec", "type")) for item in (old, new)}
    return "ExternalName" not in types and all(value_at(item, ("spec", "clusterIP")) for item in (old, new))


def _runs(old: Body, _new: Body) -> bool:
    """The pods of a suspended Job may still be told where to go."""
    return value_at(old, ("spec", "suspend")) is not True


_DATA: tuple[Path, ...] = (("data",), ("binaryData",), ("stringData",), ("immutable",))
_SELECTOR = _Kind(fields=(("spec", "selector"),))
_ROLE = _Kind(fields=(("roleRef",),))

_KINDS: Mapping[tuple[str, str], tuple[_Kind, ...]] = {
    ("", "ConfigMap"): (_Kind(fields=_DATA, when=_is_immutable),),
    ("", "Secret"): (
        _Kind(fields=(("type",),), unset=((("type",), "Opaque"),)),
        _Kind(fields=_DATA, when=_is_immutable),
    ),
    ("", "Service"): (_Kind(fields=(("spec", "clusterIP"),), when=_has_cluster_address),),
    ("", "PersistentVolumeClaim"): (
        _Kind(
            all_of=("spec",),
            but=(("resources", "requests"), ("volumeAttributesClassName",)),
            unset=((("volumeMode",), "Filesystem"),),
        ),
    ),
    ("", "ResourceQuota"): (_Kind(fields=(("spec", "scopes"),)),),
    ("apps", "DaemonSet"): (_SELECTOR,),
    ("apps", "Deployment"): (_SELECTOR,),
    ("apps", "ReplicaSet"): (_SELECTOR,),
    ("apps", "StatefulSet"): (
        _Kind(
            all_of=("spec",),
            but=(
                ("replicas",),
                ("ordinals",),
                ("template",),
                ("updateStrategy",),
                ("revisionHistoryLimit",),
                ("persistentVolumeClaimRetentionPolicy",),
                ("minReadySeconds",),
            ),
            unset=((("podManagementPolicy",), "OrderedReady"),),
        ),
    ),
    ("batch", "Job"): (
        _Kind(fields=(("spec", "selector"), ("spec", "completionMode"), ("spec", "podFailurePolicy"))),
        _Kind(fields=(("spec", "backoffLimitPerIndex"), ("spec", "managedBy"), ("spec", "successPolicy"))),
        _Kind(fields=(("spec", "template"),), when=_runs),
    ),
    ("discovery.k8s.io", "EndpointSlice"): (_Kind(fields=(("addressType",),)),),
    ("node.k8s.io", "RuntimeClass"): (_Kind(fields=(("handler",),)),),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): (_ROLE,),
    ("rbac.authorization.k8s.io", "RoleBinding"): (_ROLE,),
    ("resource.k8s.io", "ResourceClaim"): (_Kind(all_of=("spec",)),),
    ("resource.k8s.io", "ResourceClaimTemplate"): (_Kind(all_of=("spec",)),),
    ("scheduling.k8s.io", "PriorityClass"): (
        _Kind(
            fields=(("value",), ("preemptionPolicy",)),
            unset=((("value",), 0), (("preemptionPolicy",), "PreemptLowerPriority")),
        ),
    ),
    ("storage.k8s.io", "StorageClass"): (
        _Kind(
            fields=(("provisioner",), ("parameters",), ("reclaimPolicy",), ("volumeBindingMode",)),
            unset=((("reclaimPolicy",), "Delete"), (("volumeBindingMode",), "Immediate")),
        ),
    ),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): (
        _Kind(fields=(("spec", "group"), ("spec", "scope"), ("spec", "names", "kind"), ("spec", "names", "plural"))),
    ),
}
KINDS = tuple(sorted(_KINDS))
"""API group and kind of all that the table knows; of others, any field may change."""


def immutable_changes(old: Body, new: Body) -> tuple[str, ...]:
    """JSON pointers of the fields that differ and may not, of two objects with one group, kind, namespace and name."""
    group = str(new.get("apiVersion", "")).rpartition("/")[0]
    rows = _KINDS.get((group, str(new.get("kind"))), ())
    return tuple(pointer for row in rows if row.when(old, new) for pointer in _changed(row, old, new))


def _changed(row: _Kind, old: Body, new: Body) -> Iterator[str]:
    unset = dict(row.unset)
    for path in row.fields:
        if _value(old, path, unset.get(path)) != _value(new, path, unset.get(path)):
            yield join("", *path)
    if row.all_of is None:
        return
    before, after = (mapping(value_at(item, row.all_of)) for item in (old, new))
    for key in sorted({*before, *after}):
        free = tuple(path[1:] for path in row.but if path[0] == key)
        if () in free:
            continue
        default = unset.get((key,))
        sides = (_value(_without(side, free, key), (key,), default) for side in (before, after))
        if next(sides) != next(sides):
            yield join("", *row.all_of, key)


def _without(side: Mapping[str, Any], free: tuple[Path, ...], key: str) -> dict[str, Any]:
    """The one field of it, less what may change below."""
    kept = dict(mapping(side.get(key)))
    for path in free:
        kept.pop(path[0], None)
    return {key: kept if free else side.get(key)}


def _value(body: Mapping[str, Any], path: Path, unset: Any) -> Any:
    """What stands there. To the server, nothing and what it fills in are one, and so are nothing and what is empty."""
    found = value_at(dict(body), path)
    return unset if found in (None, "", [], {}) else found
