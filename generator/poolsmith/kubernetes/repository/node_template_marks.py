"""Labels and taints in the descriptions of nodes of each tool: where they stand, and in which form.

The forms are maps, lists of objects, texts, and flags of the kubelet.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import join
from poolsmith.core.sources.scalars import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


_FILE = "machines/node_templates.yaml"
_EFFECTS = {"noschedule": "NoSchedule", "prefernoschedule": "PreferNoSchedule", "noexecute": "NoExecute"}
_FILLED_LATER = ("${", "{{", "$(")
"""What another tool replaces before anybody applies it."""


@record(kw_only=False)
class LabelMark:
    """A label, and where it stands. `value` is None where another tool fills it in."""

    key: str
    value: str | None
    pointer: str


@record(kw_only=False)
class TaintMark:
    """A taint, and where it stands. `value` is None where another tool fills it in."""

    key: str
    value: str | None
    effect: str
    pointer: str

    @property
    def identity(self) -> tuple[str, str]:
        """What a node has once."""
        return self.key, self.effect


def labels_at(node: Any, pointer: str, form: str) -> Iterator[LabelMark]:
    """`form` is `map`, `pairs` (a list of texts), `flag` (one text) or `arguments` (of a kubelet)."""
    for key, value, place in _LABELS[form](node, pointer):
        if not _is_filled_later(key):
            yield LabelMark(key, None if _is_filled_later(value) else value, place)


def taints_at(node: Any, pointer: str, form: str) -> Iterator[TaintMark]:
    """`form` is `objects`, `pairs`, `flag`, `arguments` or `map`: the key, and value and effect in one text."""
    for key, value, effect, place in _TAINTS[form](node, pointer):
        known = _EFFECTS.get(effect.lower().replace("_", "").replace("-", ""))
        if key and known is not None and not _is_filled_later(key):
            yield TaintMark(key, None if _is_filled_later(value) else value, known, place)


def is_filled_later(node: Any) -> bool:
    """Whether some text below is for another tool to fill in."""
    pending = [node]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending += [*item, *item.values()]
        elif isinstance(item, list):
            pending += item
        elif isinstance(item, str) and _is_filled_later(item):
            return True
    return False


def refusal(mark: LabelMark, data: Any) -> Mapping[str, Any] | None:
    """The row of those who refuse to write such a label there, in a document; None where nobody does."""
    domain = mark.key.partition("/")[0] if "/" in mark.key else ""
    for row in store.table(_FILE)["refused"] if domain else ():
        is_there = any(part in f"/{mark.pointer}" for part in row["at"])
        of_group = "group" not in row or text_of(data.get("apiVersion")).startswith(row["group"])
        if is_there and of_group and mark.key not in row["keys"] and _is_below(domain, row["domains"]):
            return None if _is_below(domain, row["but"]) else row
    return None


def _is_below(domain: str, others: list[str]) -> bool:
    return any(domain == other or domain.endswith(f".{other}") for other in others)


def _is_filled_later(text: str) -> bool:
    return any(mark in text for mark in _FILLED_LATER)


def _label_map(node: Any, pointer: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(node, dict):
        for key, value in node.items():
            if isinstance(key, str) and not isinstance(value, dict | list):
                yield key, text_of(value), join(pointer, key)


def _label_pairs(node: Any, pointer: str) -> Iterator[tuple[str, str, str]]:
    for index, item in enumerate(node if isinstance(node, list) else ()):
        if isinstance(item, str) and "=" in item:
            key, _, value = item.partition("=")
            yield key.strip(), value.strip(), join(pointer, index)


def _label_flag(node: Any, pointer: str) -> Iterator[tuple[str, str, str]]:
    for item in node.split(",") if isinstance(node, str) else ():
        key, equals, value = item.partition("=")
        if equals:
            yield key.strip(), value.strip(), pointer


def _label_arguments(node: Any, pointer: str) -> Iterator[tuple[str, str, str]]:
    for text, place in _arguments(node, pointer, "node-labels"):
        yield from _label_flag(text, place)


def _arguments(node: Any, pointer: str, flag: str) -> Iterator[tuple[Any, str]]:
    """Values of a flag: of a map, or of a list of names and values."""
    if isinstance(node, dict) and flag in node:
        yield node[flag], join(pointer, flag)
    for index, item in enumerate(node if isinstance(node, list) else ()):
        if isinstance(item, dict) and item.get("name") == flag:
            yield item.get("value"), join(pointer, index, "value")


def _taint_objects(node: Any, pointer: str) -> Iterator[tuple[str, str, str, str]]:
    listed = enumerate(node if isinstance(node, list) else ())
    for step, item in node.items() if isinstance(node, dict) else listed:
        if isinstance(item, dict):
            parts = (text_of(item.get("key")), text_of(item.get("value")), text_of(item.get("effect")))
            yield *parts, join(pointer, step)


def _taint_text(text: str, pointer: str) -> Iterator[tuple[str, str, str, str]]:
    """`key=value:effect` or `key:effect`."""
    rest, colon, effect = text.strip().rpartition(":")
    if colon:
        key, _, value = rest.partition("=")
        yield key, value, effect, pointer


def _taint_pairs(node: Any, pointer: str) -> Iterator[tuple[str, str, str, str]]:
    for index, item in enumerate(node if isinstance(node, list) else ()):
        if isinstance(item, str):
            yield from _taint_text(item, join(pointer, index))


def _taint_flag(node: Any, pointer: str) -> Iterator[tuple[str, str, str, str]]:
    for item in node.split(",") if isinstance(node, str) else ():
        yield from _taint_text(item, pointer)


def _taint_arguments(node: Any, pointer: str) -> Iterator[tuple[str, str, str, str]]:
    for text, place in _arguments(node, pointer, "register-with-taints"):
        yield from _taint_flag(text, place)


def _taint_map(node: Any, pointer: str) -> Iterator[tuple[str, str, str, str]]:
    """`key: value:effect`, of Talos and of older files of eksctl."""
    if isinstance(node, dict):
        for key, text in node.items():
            if isinstance(key, str) and isinstance(text, str):
                value, _, effect = text.rpartition(":")
                yield key, value, effect, join(pointer, key)


def _taint_objects_or_map(node: Any, pointer: str) -> Iterator[tuple[str, str, str, str]]:
    yield from _taint_map(node, pointer)
    yield from _taint_objects(node, pointer)


_LABELS: dict[str, Callable[[Any, str], Iterator[tuple[str, str, str]]]] = {
    "map": _label_map,
    "pairs": _label_pairs,
    "flag": _label_flag,
    "arguments": _label_arguments,
}
_TAINTS: dict[str, Callable[[Any, str], Iterator[tuple[str, str, str, str]]]] = {
    "objects": _taint_objects,
    "pairs": _taint_pairs,
    "flag": _taint_flag,
    "arguments": _taint_arguments,
    "map": _taint_map,
    "objects-or-map": _taint_objects_or_map,
}


Places = tuple[tuple[str, str], ...]
"""Paths with slashes, and the form of what stands there."""


@record
class TemplateKind:
    """A kind that describes nodes. `startup` is for tools that keep these taints apart.

    `within` are lists of groups of nodes: then paths begin at an item.
    """

    kind: str
    group: str
    tool: str
    labels: Places
    taints: Places = ()
    startup: Places = ()
    within: tuple[str, ...] = ()


MACHINES = ("MachineDeployment", "MachinePool", "MachineSet")
"""Of Cluster API: they refer to a bootstrap template, and tell an autoscaler what their nodes will be."""
MACHINES_GROUP = "cluster.x-k8s.io"


@cache
def template_kinds() -> tuple[TemplateKind, ...]:
    """Those that are objects of Kubernetes."""
    return tuple(map(_kind, store.table(_FILE)["kinds"]))


@cache
def other_template(name: str) -> TemplateKind:
    """What is told by its fields, or by what it is for: `talos`, `agentFile`, `expected`, `capacity`."""
    return _kind(store.table(_FILE)["others"][name])


def _kind(row: Mapping[str, Any]) -> TemplateKind:
    places: Iterator[Places] = (tuple(row.get(part, {}).items()) for part in ("labels", "taints", "startup"))
    labels, taints, startup = places
    return TemplateKind(
        kind=row.get("kind", ""),
        group=row.get("group", ""),
        tool=row["tool"],
        labels=labels,
        taints=taints,
        startup=startup,
        within=tuple(row.get("within", ())),
    )
