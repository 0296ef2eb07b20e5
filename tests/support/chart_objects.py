"""Objects of a chart in a form in which Helm's and ours can be compared, and what a value changes in them.

Left out, on both sides: nulls and empty fields, which the API server takes for nothing; the hash of a ConfigMap in
an annotation, which only restarts pods; and texts that the charts bring themselves. Texts of YAML are compared as
data, because Helm's emitter and ours lay them out differently. The value of a variable that is a number is no value
to the API server, and ours are texts.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable
from typing import Any

from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.kubernetes.helm.go_template import printed

_HASH = re.compile(r"[0-9a-f]{64}\Z")
_DRAWN = re.compile(r"\$2[aby]\$[^\"\s]+")
_CHECKSUM = "checksum/config"
_CLUSTER_WIDE = frozenset(("ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition"))
_EMPTY_IS_SOMETHING = frozenset(("emptyDir", "podSelector"))
_NO_SCALARS = (
    *("egress", "ingress", "livenessProbe", "metricRelabelings", "readinessProbe", "relabelings"),
    *("resources", "securityContext"),
)
"""Written as they are, and no object or list: the API server refuses a scalar there."""
_OWN_TEXT = {"metrics": ("# Format", "<a file of the chart>")}
_SAYS_NOTHING = ("[null]", "[{}]", "[false]", "[0]", '[""]', "[[]]")
"""Keys of ConfigMaps whose text is the chart's own, by how it begins, and what an entry has in its place."""


def comparable(objects: Iterable[dict[str, Any]], namespace: str) -> dict[str, Any]:
    """Objects by `Kind/namespace/name`; one that stands twice has a plus behind it.

    `namespace` is the release's, in which Helm puts what names none.
    """
    found: dict[str, Any] = {}
    for item in objects:
        kept = tidied(item)
        metadata = kept.get("metadata") if isinstance(kept, dict) else None
        metadata = metadata if isinstance(metadata, dict) else {}
        if kept.get("kind") in _CLUSTER_WIDE:
            metadata.pop("namespace", None)
        elif metadata:
            metadata.setdefault("namespace", namespace)
        key = "/".join(str(part) for part in (kept.get("kind"), metadata.get("namespace", ""), metadata.get("name")))
        while key in found:
            key += "+"
        found[key] = _data(kept)
    return found


def delta(before: Any, after: Any, path: tuple[str, ...] = ()) -> list[list[Any]]:
    """`[path, new]` for what is new or another, `[path]` for what is gone; lists are compared as a whole."""
    if isinstance(before, dict) and isinstance(after, dict):
        changes: list[list[Any]] = []
        for key in sorted({*before, *after}):
            if key not in after:
                changes.append([[*path, key]])
            elif key not in before:
                changes.append([[*path, key], after[key]])
            else:
                changes += delta(before[key], after[key], (*path, key))
        return changes
    return [] if before == after and type(before) is type(after) else [[list(path), after]]


def shortened(before: Any, changes: list[list[Any]]) -> list[list[Any]]:
    """The same changes as a recording holds them: of a list that is as long as before, only what differs in it."""
    found: list[list[Any]] = []
    for path, *new in changes:
        found += _inside(_at(before, path), new[0], path) if new else [[path]]
    return found


def _at(node: Any, path: list[Any]) -> Any:
    for key in path:
        node = node.get(key) if isinstance(node, dict) else None
    return node


def _inside(before: Any, after: Any, path: list[Any]) -> list[list[Any]]:
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [change for place, (one, other) in pairs for change in _inside(one, other, [*path, place])]
    if isinstance(before, dict) and isinstance(after, dict):
        changes = delta(before, after, tuple(path))
        return [each for change in changes for each in _deeper(before, change, len(path))]
    return [] if before == after and type(before) is type(after) else [[path, after]]


def _deeper(before: Any, change: list[Any], depth: int) -> list[list[Any]]:
    path, *new = change
    return _inside(_at(before, path[depth:]), new[0], path) if new else [change]


def applied(base: Any, changes: list[list[Any]]) -> Any:
    """A copy of objects with recorded changes."""
    new = copy.deepcopy(base)
    for path, *value in changes:
        node = new
        for key in path[:-1]:
            node = node[key]
        if value:
            node[path[-1]] = value[0]
        else:
            del node[path[-1]]
    return new


def tidied(value: Any) -> Any:
    """A part of an object, without what says nothing. Tidied twice is tidied once."""
    if isinstance(value, list):
        return [tidied(item) for item in value]
    if not isinstance(value, dict):
        return int(value) if isinstance(value, float) and value.is_integer() else value
    if "value" in value and not isinstance(value["value"], str | dict | list | None):
        value = {**value, "value": printed(value["value"])}
    kept = {str(key): tidied(item) for key, item in value.items() if item is not None}
    checksum = kept.get(_CHECKSUM)
    if isinstance(checksum, str) and _HASH.match(checksum):
        del kept[_CHECKSUM]
    return {key: item for key, item in kept.items() if not _says_nothing(key, item)}


def _says_nothing(key: str, item: Any) -> bool:
    if key in _NO_SCALARS and not (item and isinstance(item, dict | list)):
        return True
    return item in ({}, [], "") and key not in _EMPTY_IS_SOMETHING


def _data(item: dict[str, Any]) -> dict[str, Any]:
    if item.get("kind") == "CustomResourceDefinition":
        spec = {key: value for key, value in item["spec"].items() if key in ("group", "scope", "names")}
        return {**item, "metadata": {"name": item["metadata"]["name"]}, "spec": spec}
    if item.get("kind") == "Secret":
        return {**item, "data": dict.fromkeys(item.get("data", {}), "<data>")}
    if item.get("kind") != "ConfigMap" or not isinstance(item.get("data"), dict):
        return item
    data = {key: _text(key, text) for key, text in item["data"].items()}
    said = {key: text for key, text in data.items() if text not in _SAYS_NOTHING}
    return {key: value for key, value in {**item, "data": said}.items() if value != {}}


def _text(key: str, text: Any) -> Any:
    begins, instead = _OWN_TEXT.get(key, ("\0", ""))
    if not isinstance(text, str) or text.lstrip().startswith((begins, instead or begins)):
        return instead if isinstance(text, str) else text
    try:
        documents = read_documents(text)
    except YamlProblem:
        return text.rstrip("\n")
    return _DRAWN.sub("<hash>", json.dumps(documents, sort_keys=True)) if documents else text.rstrip("\n")
