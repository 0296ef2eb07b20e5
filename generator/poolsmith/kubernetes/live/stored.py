"""A snapshot as a file, to be looked at again without the cluster: JSON, with whatever may be a secret left out."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.sources.pod_template import mapping, mappings
from poolsmith.kubernetes.live.resources import Resource
from poolsmith.kubernetes.live.snapshot import Listed, Snapshot, State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.kubernetes.live.snapshot import KubernetesObject

VERSION = 1
KIND = "ClusterSnapshot"
LEFT_OUT = "(left out)"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_SECRET_NAME = re.compile(r"(?i)pass(word|wd)|secret|token|credential|api_?key|private_?key")


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


def _lists(value: Any, shown: str) -> Iterable[Listed]:
    for item in value if isinstance(value, list) else ():
        try:
            state, resource = State(item["state"]), Resource(str(item["apiVersion"]), str(item["kind"]))
            reason, namespaces = str(item["reason"]), tuple(str(name) for name in item["namespaces"])
            kind = {"apiVersion": resource.api_version, "kind": resource.kind}
            objects = tuple({**kind, **one} for one in mappings(item["items"]) if _is_object(one))
            whole = len(objects) == len(item["items"])
        except (KeyError, TypeError, ValueError):
            whole = False
        if not whole:
            raise UsageError(f"{shown} is a damaged snapshot: one of its `lists` has not the form of one")
        yield Listed(resource, state, objects, reason, namespaces)


def _is_object(item: dict[str, Any]) -> bool:
    metadata = item.get("metadata")
    return isinstance(metadata, dict) and isinstance(metadata.get("name"), str)
