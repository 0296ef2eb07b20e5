"""The settings of a predicted object: each field with its value, as one line of text.

What is in none of the tables of `settings_table` counts, so that a field that Kubernetes has yet to invent is a
setting until somebody has decided what it means.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.change.review.settings_table import (
    FREE_OBJECT,
    FREE_POD,
    JUDGED_BY_OPERANDS,
    KIND_FIELDS,
    is_free_variable,
    is_obeyed,
    is_of_control_plane,
    is_placement,
    probe_counts,
    reaches_control_plane,
    restricts,
    restricts_variable,
)
from poolsmith.core.sources.pod_template import mapping, pod_template_of
from poolsmith.guard.ledger.grants.grant import repository_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.fleet.operands.expansion import KubernetesObject

Path = tuple[str, ...]

_CONTAINERS = frozenset(("initContainers", "containers", "ephemeralContainers"))
_WHOLE = frozenset(("command", "args", "nodeAffinity", "rules"))
"""Lists and blocks whose parts mean nothing by themselves."""
_KEYS = {"volumeMounts": "mountPath", "volumeDevices": "devicePath"}
_NAMED = frozenset((*_CONTAINERS, "env", "volumes", "volumeMounts", "ports"))
"""Lists whose items say what they are besides their names."""
_META = ("metadata",)
_PLACES = ("nodeSelector", "tolerations")
_LABELS = frozenset(("labels", "annotations"))


def settings_of(item: KubernetesObject) -> Iterator[str]:
    """Of one object, but for what nobody needs to accept. Those of pods begin at the pod."""
    kind = item["kind"]
    yield f"kind={kind}"
    if kind in JUDGED_BY_OPERANDS:
        return
    template = pod_template_of(item)
    for path, value in _leaves((), item):
        if not path or path[0] in ("apiVersion", "kind", "status") or _is_identity(path):
            continue
        if template is not None and _in_template(path):
            continue
        if not _is_free_of_object(kind, path):
            yield _said(path, value)
    if template is not None:
        pod = {"metadata": mapping(template.get("metadata")), "spec": mapping(template.get("spec"))}
        for path, value in _leaves((), pod):
            if not _is_identity(path) and not is_free_of_pod(path, value):
                yield _said(path, value)


def protections_of(item: KubernetesObject) -> Iterator[str]:
    """The settings of pods that take something away from them: who loses one gains.

    Which value it is counts for nodes only: any user but root is as good as another.
    """
    template = pod_template_of(item)
    if template is None:
        return
    for path, value in _leaves((), {"spec": mapping(template.get("spec"))}):
        plain = _plain(path)
        if restricts(plain, value) or (path[-1] == "value" and restricts_variable(path[-2].strip("[]"), value)):
            yield _said(path, value if is_placement(plain) else None)


def ways_to_control_plane(item: KubernetesObject) -> Iterator[str]:
    """What leads pods to the nodes of the control plane: tolerations of their taints, or a choice of their labels."""
    template = pod_template_of(item)
    spec = mapping(mapping(template).get("spec"))
    for path, value in _leaves((), {"spec": {key: spec[key] for key in _PLACES if key in spec}}):
        chosen = path[:2] == ("spec", "nodeSelector") and is_of_control_plane(path[2])
        if chosen or (_is_toleration(path) and reaches_control_plane(value)):
            yield _said(path, value)


def is_free_of_pod(path: Path, value: Any) -> bool:
    """Whether nobody has to accept that a pod has this field."""
    plain = _plain(path)
    if value in ({}, []):
        return True
    if _is_metadata(path):
        return not is_obeyed(path[2])
    if _is_toleration(path):
        return not reaches_control_plane(value)
    if "env" in path and path[0] == "spec" and len(path) > 4 and path[1] in _CONTAINERS:  # noqa: PLR2004 - the place of a variable
        return path[5:] == ("name",) or (path[5:] == ("value",) and is_free_variable(path[4].strip("[]")))
    if restricts(plain, value) or (path[-1] == "name" and path[-3] in _NAMED and path[-2].startswith("[")):
        return True
    return _matches(plain, FREE_POD) and not probe_counts(plain)


def _is_free_of_object(kind: str, path: Path) -> bool:
    if _is_metadata(path):
        return not is_obeyed(path[2])
    return _matches(_plain(path), FREE_OBJECT) or _matches(_plain(path), KIND_FIELDS.get(kind, ()))


def _is_metadata(path: Path) -> bool:
    return len(path) > len(_META) + 1 and path[0] == "metadata" and path[1] in _LABELS


def _is_identity(path: Path) -> bool:
    return path[:1] == _META and path[1:2] not in (("labels",), ("annotations",), ("finalizers",))


def _is_toleration(path: Path) -> bool:
    return path[:2] == ("spec", "tolerations")


def _in_template(path: Path) -> bool:
    return path[:2] == ("spec", "template") or path[:4] == ("spec", "jobTemplate", "spec", "template")


def _matches(plain: str, patterns: Mapping[str, str] | tuple[str, ...]) -> bool:
    return any(plain == pattern or (pattern.endswith("*") and plain.startswith(pattern[:-1])) for pattern in patterns)


def _plain(path: Path) -> str:
    """The path without the names of list items, and with one word for all sorts of containers."""
    words = ("container" if word in _CONTAINERS else word for word in path if not word.startswith("["))
    return ".".join(words)


def _said(path: Path, value: Any) -> str:
    text = ""
    for word in path:
        text += word if word.startswith("[") or not text else f".{word}"
    return text if value is None else f"{text}={_text(value)}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _leaves(path: Path, node: Any) -> Iterator[tuple[Path, Any]]:
    word = path[-1] if path else ""
    if word in _WHOLE:
        yield path, node
    elif isinstance(node, dict) and node:
        for key, value in node.items():
            yield from _leaves((*path, str(key)), value)
    elif isinstance(node, list) and node:
        yield from _items(path, node)
    elif word == "image" and isinstance(node, str):
        yield path, repository_of(node)
    else:
        yield path, node


def _items(path: Path, items: list[Any]) -> Iterator[tuple[Path, Any]]:
    """By name where they have one. Of two with one name the last counts, as it does for variables."""
    key = _KEYS.get(path[-1], "name")
    named: dict[str, Any] = {}
    for index, item in enumerate(items):
        if isinstance(item, dict) and isinstance(item.get(key), str) and path[-1] != "tolerations":
            place = f"[{item[key]}]"
            if place in named and path[-1] != "env":
                place = f"[{item[key]}#{index}]"
            named[place] = item
        else:
            yield (*path, "[]"), item
    for place, item in named.items():
        yield from _leaves((*path, place), item)
