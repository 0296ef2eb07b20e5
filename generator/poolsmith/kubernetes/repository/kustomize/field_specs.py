"""Paths of kustomize into objects, the change of what stands there, and the fields that name another object.

What does not change is shared with the object before. Fields that name another object follow when it is renamed.

Source: kustomize api/types/fieldspec.go and api/filters/fieldspec. Lists on the way stand for each of their items.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from poolsmith.core.facts import store
from poolsmith.core.sources.pod_template import mappings, word
from poolsmith.core.sources.pointer import join
from poolsmith.kubernetes.repository.kustomize.item import RefusedError, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.kubernetes.repository.kustomize.item import Identity


_FILE = "kustomize/fields.yaml"
GONE: Any = object()
"""Nothing stands there."""

Change = "Callable[[Any, str], Any]"
"""From what stands at a pointer to what shall; itself where nothing changes."""


class FieldSpec(NamedTuple):
    """Where a field is in objects of a kind; empty words stand for any."""

    path: str
    kind: str = ""
    group: str = ""
    version: str = ""
    create: bool = False

    @property
    def first(self) -> str:
        """The key at the top of the objects."""
        return steps_of(self.path)[0].removesuffix("[]")

    def is_for(self, identity: Identity) -> bool:
        return identity.is_selected(self.group, self.version, self.kind)


def specs_in(listed: Any) -> Iterator[FieldSpec]:
    """`fieldSpecs` that somebody wrote."""
    for entry in mappings(listed):
        path = word(entry.get("path"))
        if path:
            group, version = word(entry.get("group")), word(entry.get("version"))
            yield FieldSpec(path, word(entry.get("kind")), group, version, entry.get("create") is True)


def merged(known: tuple[FieldSpec, ...], more: Iterable[FieldSpec]) -> tuple[FieldSpec, ...]:
    """Without those that say what a known one says."""
    result: list[FieldSpec] = []
    by_path: dict[str, list[FieldSpec]] = {}
    for specs, is_known in ((known, True), (more, False)):
        for spec in specs:
            others = by_path.setdefault(spec.path, [])
            if is_known or not any(_is_like(other, spec) for other in others):
                result.append(spec)
                others.append(spec)
    return tuple(result)


def _is_like(known: FieldSpec, spec: FieldSpec) -> bool:
    words = ((spec.group, known.group), (spec.version, known.version), (spec.kind, known.kind))
    return all(not wanted or wanted == own for wanted, own in words)


@lru_cache(maxsize=1024)
def steps_of(path: str, delimiter: str = "/") -> tuple[str, ...]:
    """A backslash before a delimiter makes it a part of a step."""
    parts = path.split(delimiter)
    if len(parts) > 1 and not parts[0]:
        parts = parts[1:]
    steps = [parts[0]]
    for part in parts[1:]:
        if steps[-1].endswith("\\"):
            steps[-1] = f"{steps[-1][:-1]}{delimiter}{part}"
        else:
            steps.append(part)
    return tuple(steps)


def changed(data: Any, specs: Iterable[FieldSpec], identity: Identity, change: Any, leaf: Any = GONE) -> Any:
    """`data` with each of the fields changed. `leaf` is put where a field to be created is not there, or null."""
    kind = identity.kind
    for spec in specs:
        if (not spec.kind or spec.kind == kind) and spec.is_for(identity):
            data = _changed(data, steps_of(spec.path), change, leaf if spec.create else GONE, ())
    return data


def _changed(node: Any, steps: tuple[str, ...], change: Any, leaf: Any, above: tuple[Any, ...]) -> Any:
    if not steps:
        return change(node, join("", *above))
    if node is None:
        return node
    if isinstance(node, list):
        items = [_changed(item, steps, change, leaf, (*above, at)) for at, item in enumerate(node)]
        return node if all(new is old for new, old in zip(items, node, strict=True)) else items
    if not isinstance(node, dict):
        raise RefusedError(f"there is a plain value where `{'/'.join(steps)[:60]}` is expected")
    key = steps[0].removesuffix("[]")
    is_list = key != steps[0]
    below = node.get(key, GONE)
    if below is GONE and (leaf is GONE or is_list):
        return node
    old = below
    if below is GONE or (below is None and leaf is not GONE and not is_list):
        below = leaf if len(steps) == 1 else {}
    new = _changed(below, steps[1:], change, leaf, (*above, key))
    return node if new is old else {**node, key: new}


def with_entries(pairs: dict[str, str]) -> Any:
    """The change that puts entries into a mapping."""

    def change(node: Any, _pointer: str) -> Any:
        if not isinstance(node, dict):
            raise RefusedError("there is no mapping where labels or annotations are put")
        return node if all(node.get(key) == value for key, value in pairs.items()) else {**node, **pairs}

    return change


def with_text(text: str) -> Any:
    """The change that puts a text in the place of a scalar."""

    def change(node: Any, _pointer: str) -> Any:
        if isinstance(node, (dict, list)):
            raise RefusedError("there is no plain value where a text is put")
        return node if node == text and isinstance(node, str) else text

    return change


def around(prefix: str, suffix: str) -> Any:
    """The change that puts texts before and after a scalar."""

    def change(node: Any, _pointer: str) -> Any:
        if isinstance(node, (dict, list)):
            raise RefusedError("there is no plain value where a prefix or suffix is put")
        return f"{prefix}{text_of(node)}{suffix}"

    return change


class NameReference(NamedTuple):
    """The field `spec` names an object of the kind `of`; empty words of group and version stand for any."""

    of: str
    spec: FieldSpec
    group: str = ""
    version: str = ""


@cache
def default_specs(transformer: str) -> tuple[FieldSpec, ...]:
    """The fields that a transformer changes by default."""
    return tuple(_specs(store.table(_FILE)["transformers"].get(transformer, ())))


@cache
def default_references() -> tuple[NameReference, ...]:
    return tuple(
        NameReference(row["kind"], spec, row.get("group", ""), row.get("version", ""))
        for row in store.table(_FILE)["names"]
        for spec in _specs(row["fields"])
    )


def _specs(rows: Iterable[Mapping[str, Any]]) -> Iterator[FieldSpec]:
    for row in rows:
        group, version, create = row.get("group", ""), row.get("version", ""), row.get("create", False)
        for kind, above in row.get("kinds", {"": ""}).items():
            for path in row["paths"]:
                yield FieldSpec(f"{above}/{path}" if above else path, kind, group, version, create)
