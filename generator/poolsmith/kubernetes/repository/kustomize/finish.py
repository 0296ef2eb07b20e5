"""The last steps of a build: hashes, references that follow renamed objects, variables, what is left out, the order.

Source: kustomize api/internal/target/kusttarget.go (makeCustomizedResMap) and api/krusty/kustomizer.go.

Source: kustomize api/filters/nameref and api/internal/accumulator/namereferencetransformer.go.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.kubernetes.repository.delivered import delivered
from poolsmith.kubernetes.repository.kustomize.field_specs import changed
from poolsmith.kubernetes.repository.kustomize.generators import with_hash
from poolsmith.kubernetes.repository.kustomize.item import NOWHERE, Item, RefusedError, identity_of, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.kubernetes.repository.delivered import Delivered
    from poolsmith.kubernetes.repository.kustomize.field_specs import NameReference
    from poolsmith.kubernetes.repository.kustomize.item import Identity


_ROLE_REFERENCE = "roleRef/name"


def followed(items: list[Item], references: tuple[NameReference, ...]) -> list[Item]:
    """The items with the present names of those that they name. Raises RefusedError."""
    known = _Known(items)
    if not known.names:
        return items
    by_kind: dict[str, list[NameReference]] = {}
    for reference in references:
        if reference.of in known.kinds or not reference.of:
            by_kind.setdefault(reference.spec.kind, []).append(reference)
    # each looks at the names of all, as they are before any reference follows: names are not references
    return [_referring(item, by_kind, known) for item in items]


class _Known:
    """What may be named."""

    def __init__(self, items: list[Item]) -> None:
        self.names: dict[str, list[int]] = {}
        self.kinds: set[str] = set()
        self.items = items
        self.now: list[Identity] = [item.identity for item in items]
        self.before: list[tuple[Identity, ...]] = [item.previous for item in items]
        self.places = [identity.place for identity in self.now]
        self.first_places = [item.first.place for item in items]
        for at, previous in enumerate(self.before):
            for identity in previous:
                self.kinds.add(identity.kind)
                listed = self.names.setdefault(identity.name, [])
                if not listed or listed[-1] != at:
                    listed.append(at)


def _referring(item: Item, by_kind: dict[str, list[NameReference]], known: _Known) -> Item:
    first = item.first
    references = (*by_kind.get(first.kind, ()), *by_kind.get("", ()))
    data = item.data
    for reference in references:
        if reference.spec.is_for(first) and reference.spec.first in data:
            referrer = _Referrer(item, reference, known)
            spec = reference.spec._replace(kind="", group="", version="", create=False)
            data = changed(data, (spec,), first, referrer.change)
    return item.changed(data)


class _Referrer:
    """One object, and one way in which it names others."""

    def __init__(self, item: Item, reference: NameReference, known: _Known) -> None:
        self._item, self._reference, self._known = item, reference, known
        self._own = item.identity
        self._own_place = self._own.place
        self._bound = _bound_namespaces(item) if self._own.kind == "RoleBinding" else frozenset()

    def change(self, node: Any, _pointer: str) -> Any:
        if isinstance(node, list):
            items = [self.change(item, "") for item in node]
            return node if all(new is old for new, old in zip(items, node, strict=True)) else items
        if isinstance(node, dict):
            return self._mapping(node)
        if node is None:
            return node
        found = self._found(text_of(node), None)
        return node if found is None or found.name == text_of(node) else found.name

    def _mapping(self, node: dict[str, Any]) -> dict[str, Any]:
        if "name" not in node:
            raise RefusedError("a reference by name has no name")
        name = text_of(node["name"])
        namespace = text_of(node["namespace"]) if "namespace" in node else None
        found = self._found(name, namespace, is_whole=True)
        if found is None or (found.name == name and not found.namespace):
            return node
        put = {"name": found.name, **({"namespace": found.namespace} if found.namespace else {})}
        return node if all(node.get(key) == value for key, value in put.items()) else {**node, **put}

    def _found(self, name: str, namespace: str | None, *, is_whole: bool = False) -> Identity | None:
        known = self._known
        candidates = [at for at in known.names.get(name, ()) if self._is_within_reach(at)]
        if namespace is not None and candidates:
            candidates = self._of_namespace(candidates, namespace)
        reference = self._reference
        candidates = [
            at
            for at in candidates
            if any(before.name == name for before in known.before[at])
            and any(before.is_selected(reference.group, reference.version, reference.of) for before in known.before[at])
            and self._is_role(at)
            and self._is_near(at)
        ]
        if len(candidates) == 1:
            return known.now[candidates[0]]
        candidates = [at for at in candidates if self._has_affixes(at, is_loose=True)]
        if len(candidates) > 1:
            candidates = [at for at in candidates if self._has_affixes(at, is_loose=False)]
        if not candidates:
            return None
        told = {(known.now[at].name, known.now[at].namespace if is_whole else "") for at in candidates}
        if len(told) > 1:
            raise RefusedError(f"several objects may be meant by `{name[:60]}`")
        return known.now[candidates[0]]

    def _is_within_reach(self, at: int) -> bool:
        """Whether an object of that namespace can be named at all."""
        if NOWHERE in (own := self._own_place, place := self._known.places[at]) or place == own:
            return True
        return word(self._known.items[at].object.metadata.get("namespace")) in self._bound

    def _of_namespace(self, candidates: list[int], namespace: str) -> list[int]:
        """Those that stood there at first, if anything within reach did; else those that do now."""
        known = self._known
        there = (at for at, place in enumerate(known.first_places) if place == namespace)
        places = known.first_places if any(map(self._is_within_reach, there)) else known.places
        return [at for at in candidates if places[at] == namespace]

    def _is_role(self, at: int) -> bool:
        if not self._reference.spec.path.endswith(_ROLE_REFERENCE):
            return True
        role = self._item.data.get("roleRef")
        if not isinstance(role, dict) or "apiGroup" not in role or "kind" not in role:
            return True
        group, kind = text_of(role["apiGroup"]), text_of(role["kind"])
        return any(before.is_selected(group, "", kind) for before in self._known.before[at])

    def _is_near(self, at: int) -> bool:
        own, place = self._own_place, self._known.places[at]
        return NOWHERE in (own, place) or self._known.now[at].kind == "ServiceAccount" or own == place

    def _has_affixes(self, at: int, *, is_loose: bool) -> bool:
        item = self._known.items[at]
        pairs = ((item.prefixes, self._item.prefixes), (item.suffixes, self._item.suffixes))
        return all((is_loose and not (one and other)) or _ends_alike(one, other) for one, other in pairs)


def _ends_alike(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether the shorter is how the longer ends."""
    least = min(len(one), len(other))
    if not least:
        return not one and not other
    return one[len(one) - least :] == other[len(other) - least :]


def _bound_namespaces(item: Item) -> frozenset[str]:
    return frozenset(
        text_of(subject["namespace"])
        for subject in mappings(mapping(item.data).get("subjects"))
        if subject.get("kind") == "ServiceAccount" and "namespace" in subject
    )


_LOCAL = "config.kubernetes.io/local-config"
_FILE = "kustomize/kustomization.yaml"


@cache
def _own_annotations() -> frozenset[str]:
    """Annotations that kustomize takes for its own and removes."""
    return frozenset(store.table(_FILE)["own"])


def hashed(items: list[Item]) -> list[Item]:
    return [with_hash(item) if item.needs_hash else item for item in items]


def named(items: list[Item], references: tuple[NameReference, ...]) -> list[Item]:
    """With names that follow. Raises RefusedError."""
    return followed(items, references)


def printed(items: list[Item], top: Mapping[str, Any]) -> list[Delivered]:
    """The objects in kustomize's order; `top` are the fields of the kustomization that is built."""
    objects = [_plain(item.object) for item in items if not _is_local(item.data)]
    if "managedByLabel" in words(top.get("buildMetadata")):
        objects = [_managed(item) for item in objects]
    options = mapping(top.get("sortOptions"))
    if options and options.get("order") != "legacy":
        return objects
    legacy = mapping(options.get("legacySortOptions"))
    usual = store.table(_FILE)
    first = words(legacy.get("orderFirst")) if legacy else usual["first"]
    last = words(legacy.get("orderLast")) if legacy else usual["last"]
    ranks = {kind: at - len(first) for at, kind in enumerate(first)}
    ranks |= {kind: at + 1 for at, kind in enumerate(last)}
    return sorted(objects, key=lambda item: _rank(item, ranks))


def _rank(item: Delivered, ranks: dict[str, int]) -> tuple[Any, ...]:
    own = identity_of(item.data)
    kind = f"{own.group or '~G'}_{own.version or '~V'}_{own.kind or '~K'}"
    return ranks.get(own.kind, 0), kind, own.namespace or "~X", own.name or "~N"


def _is_local(data: Any) -> bool:
    annotations = mapping(mapping(data.get("metadata")).get("annotations"))
    return _LOCAL in annotations and text_of(annotations[_LOCAL]) != "false"


def _plain(item: Delivered) -> Delivered:
    """Annotations are texts, and not there where there are none."""
    metadata = item.data.get("metadata")
    if not isinstance(metadata, dict) or "annotations" not in metadata:
        return item
    old, own = metadata["annotations"], _own_annotations()
    if isinstance(old, dict) and old and all(type(value) is str and key not in own for key, value in old.items()):
        return item
    new = {key: _text(item, key, value) for key, value in mapping(old).items() if key not in own}
    rest = {key: value for key, value in metadata.items() if key != "annotations"}
    return delivered(item, {**item.data, "metadata": {**rest, "annotations": new} if new else rest})


def _text(item: Delivered, key: str, value: Any) -> str:
    """As it is written: `1.10` is a number that ends in zero, `yes` is no `true`."""
    if not isinstance(value, str):
        from poolsmith.core.sources.pointer import join  # on demand

        written = item.source.written(join("/metadata/annotations", key))
        if written is not None:
            return written
    return text_of(value)


def _managed(item: Delivered) -> Delivered:
    metadata = mapping(item.data.get("metadata"))
    labels = {**mapping(metadata.get("labels")), "app.kubernetes.io/managed-by": "kustomize"}
    return delivered(item, {**item.data, "metadata": {**metadata, "labels": labels}})
