"""What was read from a cluster: lists of objects, what could not be listed and why, and a file that keeps it.

The file is JSON, without whatever may be a secret. Definitions of custom resources are kept without schemas: those are
most of the bytes of a cluster.

Helm's records of what it has installed are Secrets, which are read only where somebody asks for it. Of a record two
things are kept: its chart, and the values that people gave, without what may be a secret. The rest of a record (the
chart with its templates, the manifest, hooks, notes) is dropped at once, and so is any other Secret.
Source: helm.sh/helm v3 and v4, pkg/storage/driver.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import zlib
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NoReturn

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.masking import masked_tree
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.kubernetes.live.api_resources import ApiResource

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


KubernetesObject = dict[str, Any]


class State(StrEnum):
    """What became of a list."""

    READ = "read"
    ABSENT = "absent"
    """The server does not serve the kind: there is no object of it."""
    FORBIDDEN = "forbidden"
    FAILED = "failed"


@record(kw_only=False)
class ListedObjects:
    """One kind, of the whole cluster or of `namespaces`. `reason` is empty where all was read."""

    resource: ApiResource
    state: State
    items: tuple[KubernetesObject, ...] = ()
    reason: str = ""
    namespaces: tuple[str, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether what is not among the items is not in the cluster."""
        return self.state in (State.READ, State.ABSENT)


@record
class Snapshot:
    """`server` is the version as `v1.34.1`, `context` what the reader calls the cluster, `taken` when, in UTC.

    Its text leaves `lists` out: asyncio writes the result of what it ran into a message that nobody reads, and of a
    large cluster that takes more memory than the cluster.
    """

    context: str
    server: str
    taken: str
    lists: tuple[ListedObjects, ...] = field(repr=False)

    def listed(self, resource: ApiResource) -> ListedObjects | None:
        """None where nobody asked for the kind."""
        return next((item for item in self.lists if item.resource == resource), None)

    def items(self, resource: ApiResource) -> tuple[KubernetesObject, ...]:
        found = self.listed(resource)
        return () if found is None else found.items

    @property
    def unread(self) -> Iterator[ListedObjects]:
        """What was asked for and could not be read whole."""
        return (item for item in self.lists if not item.is_known)

    def with_lists(self, other: Snapshot) -> Snapshot:
        """This one, where the other's lists take the place of those of the same kinds."""
        newer = {item.resource for item in other.lists}
        kept = tuple(item for item in self.lists if item.resource not in newer)
        return Snapshot(context=self.context, server=self.server, taken=self.taken, lists=(*kept, *other.lists))


VERSION = 1
KIND = "ClusterSnapshot"
LEFT_OUT = "(left out)"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_UNREAD = frozenset(("managedFields", "selfLink"))
_OF_NODES = frozenset(("images", "volumesInUse", "volumesAttached"))
_OF_ONE_POD = frozenset(("uid", "resourceVersion", "creationTimestamp", "generateName", "generation"))
_TOKEN = "kube-api-access-"  # noqa: S105 - how the volume is called that the API server adds
_TOKENS = (("volumes", ""), ("containers", "volumeMounts"), ("initContainers", "volumeMounts"))
_STATUS_OF_CONTAINER = ("name", "restartCount", "state")
_OF_STATUS = {
    "conditions": ("type", "status", "reason"),
    "initContainerStatuses": _STATUS_OF_CONTAINER,
    "containerStatuses": _STATUS_OF_CONTAINER,
}
_SECRET_NAME = pattern(r"(?i)pass(word|wd)|secret|token|credential|api_?key|private_?key")


def without_secrets(item: KubernetesObject) -> KubernetesObject:
    """An object as it may be shown to others.

    Without managed fields, a copy of what was applied, data of Secrets, and values of variables that are called like a
    secret; what comes from a Secret by reference was never in it.
    """
    metadata = {key: value for key, value in mapping(item.get("metadata")).items() if key != "managedFields"}
    if _LAST_APPLIED in mapping(metadata.get("annotations")):
        annotations = metadata["annotations"]
        metadata["annotations"] = {key: value for key, value in annotations.items() if key != _LAST_APPLIED}
    kept = {**item, "metadata": metadata}
    if item.get("kind") == "Secret":
        return {key: value for key, value in kept.items() if key not in ("data", "stringData")}
    found: KubernetesObject = _masked(kept)
    return found


def _masked(value: Any) -> Any:
    if isinstance(value, list):
        return [_masked(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: _masked(item) for key, item in value.items()}
    name, given = found.get("name"), found.get("value")
    if isinstance(name, str) and isinstance(given, str) and given and _SECRET_NAME.search(name):
        found["value"] = LEFT_OUT
    return found


def to_text(snapshot: Snapshot) -> str:
    """JSON; the same snapshot is the same text."""
    body = {
        "version": VERSION,
        "kind": KIND,
        "context": snapshot.context,
        "server": snapshot.server,
        "taken": snapshot.taken,
        "lists": [
            {
                "apiVersion": item.resource.api_version,
                "kind": item.resource.kind,
                "state": item.state.value,
                "reason": item.reason,
                "namespaces": list(item.namespaces),
                "items": [without_secrets(one) for one in item.items],
            }
            for item in snapshot.lists
        ],
    }
    return json.dumps(body, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def from_text(text: str, shown: str) -> Snapshot:
    """Raises UsageError for what is no snapshot; `shown` is what the file is called."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(f"{shown} is no snapshot: it is not JSON; `--save` writes one") from None
    if not isinstance(body, dict) or body.get("kind") != KIND:
        raise UsageError(f"{shown} is no snapshot: its kind is not {KIND}; `--save` writes one")
    if body.get("version") != VERSION:
        raise UsageError(
            f"{shown} is a snapshot of version {body.get('version')!r}; this poolsmith reads version {VERSION}"
        )
    words = [body.get(key) for key in ("context", "server", "taken")]
    if not all(isinstance(word, str) for word in words):
        raise UsageError(f"{shown} is a damaged snapshot: `context`, `server` or `taken` is missing")
    context, server, taken = (str(word) for word in words)
    return Snapshot(context=context, server=server, taken=taken, lists=tuple(_lists(body.get("lists"), shown)))


def _lists(value: Any, shown: str) -> Iterable[ListedObjects]:
    for item in value if isinstance(value, list) else ():
        try:
            state, resource = State(item["state"]), ApiResource(str(item["apiVersion"]), str(item["kind"]))
            reason, namespaces = str(item["reason"]), tuple(str(name) for name in item["namespaces"])
            kind = {"apiVersion": resource.api_version, "kind": resource.kind}
            objects = tuple({**kind, **one} for one in mappings(item["items"]) if _is_object(one))
            whole = len(objects) == len(item["items"])
        except (KeyError, TypeError, ValueError):
            whole = False
        if not whole:
            raise UsageError(f"{shown} is a damaged snapshot: one of its `lists` has not the form of one")
        yield ListedObjects(resource, state, objects, reason, namespaces)


def _is_object(item: dict[str, Any]) -> bool:
    metadata = item.get("metadata")
    return isinstance(metadata, dict) and isinstance(metadata.get("name"), str)


def light(body: KubernetesObject) -> KubernetesObject:
    """Without what nobody reads: who has written which field, and copies of what was applied."""
    metadata = {key: value for key, value in mapping(body.get("metadata")).items() if key not in _UNREAD}
    if _LAST_APPLIED in mapping(metadata.get("annotations")):
        kept = {key: value for key, value in metadata["annotations"].items() if key != _LAST_APPLIED}
        metadata["annotations"] = kept
    return {**body, "metadata": metadata}


def light_node(body: KubernetesObject) -> KubernetesObject:
    """Also without the images and volumes that a node has."""
    status = {key: value for key, value in mapping(body.get("status")).items() if key not in _OF_NODES}
    return {**light(body), "status": status}


def light_pod(body: KubernetesObject, shared: dict[str, Any]) -> KubernetesObject:
    """Also without what only one pod has and nobody reads: its token's volume, times and ids.

    What many pods have alike, since a template made them, is one object in memory; `shared` remembers it."""
    body = light(body)
    metadata = {key: _one(value, shared) for key, value in body["metadata"].items() if key not in _OF_ONE_POD}
    spec = {key: value for key, value in mapping(body.get("spec")).items() if key != "affinity"}
    for key, inner in _TOKENS:
        if isinstance(spec.get(key), list):
            spec[key] = [_without_token(item, inner) for item in spec[key] if not _is_token(item)]
    status = mapping(body.get("status"))
    told: dict[str, Any] = {key: status[key] for key in ("phase", "reason") if key in status}
    for key, kept in _OF_STATUS.items():
        if isinstance(status.get(key), list):
            told[key] = [{name: item[name] for name in kept if name in item} for item in mappings(status[key])]
    return {
        **body,
        "metadata": metadata,
        "spec": {key: _one(value, shared) for key, value in spec.items()},
        "status": {key: _one(value, shared) for key, value in told.items()},
    }


def _one(value: Any, shared: dict[str, Any]) -> Any:
    if not isinstance(value, dict | list):
        return value
    return shared.setdefault(json.dumps(value), value)


def _is_token(item: Any) -> bool:
    return isinstance(item, dict) and word(item.get("name")).startswith(_TOKEN)


def _without_token(item: Any, inner: str) -> Any:
    if not inner or not isinstance(item, dict) or not isinstance(item.get(inner), list):
        return item
    return {**item, inner: [one for one in item[inner] if not _is_token(one)]}


def light_definition(body: KubernetesObject, schemas_of: Collection[str]) -> KubernetesObject:
    """As it is for these groups; of another one nobody looks at the schemas."""
    body, spec = light(body), mapping(body.get("spec"))
    if spec.get("group") in schemas_of:
        return body
    versions = [{key: item[key] for key in item if key != "schema"} for item in mappings(spec.get("versions"))]
    return {**body, "spec": {**spec, "versions": versions}}


HELM_RECORDS = ApiResource("poolsmith/v1", "HelmRecord")
"""No kind of Kubernetes: what is kept of a record, as if it were an object."""
SECRETS_OF_HELM = {"labelSelector": "owner=helm,status=deployed", "fieldSelector": "type=helm.sh/release.v1"}
"""The query that lists them: of each release the revision that is deployed."""
_MOST_BYTES = 32 << 20
_GZIP = 16 + zlib.MAX_WBITS


def helm_record(secret: dict[str, Any]) -> KubernetesObject | None:
    """What is kept of a Secret; None for one that is no record of Helm's."""
    body = _release(mapping(secret.get("data")).get("release"))
    chart = mapping(mapping(mapping(body).get("chart")).get("metadata"))
    name, version = word(chart.get("name")), word(chart.get("version"))
    release, namespace = word(mapping(body).get("name")), word(mapping(secret.get("metadata")).get("namespace"))
    if not (name and version and release and namespace):
        return None
    try:
        values = masked_tree(dict(mapping(mapping(body).get("config"))))
    except RecursionError:
        return None
    return {
        "apiVersion": HELM_RECORDS.api_version,
        "kind": HELM_RECORDS.kind,
        "metadata": {"name": release, "namespace": namespace},
        "spec": {"chart": name, "version": version, "values": values},
    }


def _release(text: Any) -> Any:
    """Base64 of Kubernetes, base64 of Helm, gzip, JSON."""
    try:
        packed = base64.b64decode(base64.b64decode(text, validate=True), validate=True)
        inflating = zlib.decompressobj(_GZIP)
        found = inflating.decompress(packed, _MOST_BYTES)
        return json.loads(found, parse_constant=_refused, parse_float=_finite) if inflating.eof else None
    except (binascii.Error, zlib.error, ValueError, TypeError, RecursionError):
        return None


def _refused(text: str) -> NoReturn:
    """NaN and the like, which are no JSON."""
    raise ValueError(text)


def _finite(text: str) -> float:
    """Raises ValueError for what is larger than any number that Helm reads."""
    found = float(text)
    return found if math.isfinite(found) else _refused(text)
