"""What somebody has added to an object: fields that nobody gave, and the server does not fill in.

An object that is known whole, but for its metadata and its status. A field that was added changes what runs as much as
one that was edited, and no delivery engine tells of it: for server-side apply it is somebody else's.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import join
from poolsmith.kubernetes.server.defaults import ITEM, default_values, defaulted_paths, empty_objects
from poolsmith.kubernetes.server.fields import Difference, differences, is_nothing, paired
from poolsmith.kubernetes.server.pod_defaults import pull_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from poolsmith.kubernetes.schema.kind_schema import KindSchema

Path = tuple[str, ...]
_ENVELOPE = frozenset(("apiVersion", "kind", "metadata", "status"))
_OF_THE_SERVER = frozenset(
    (
        ("Namespace", "spec"),
        ("ServiceAccount", "imagePullSecrets"),
        ("ServiceAccount", "secrets"),
    )
)
"""What is written there by controllers of Kubernetes and of distributions."""
_PULL_POLICY = "imagePullPolicy"
_TEMPLATE_METADATA = ("spec", "template", "metadata")
"""Where tools write when they restart something."""


def is_native(group: str) -> bool:
    return "." not in group or group.endswith(".k8s.io")


def native_additions(
    given: Mapping[str, Any], held: Mapping[str, Any], passes: Callable[[Path, Mapping[str, Any]], bool]
) -> Iterator[Difference]:
    """To an object of a built-in kind. `passes` says of a path, with ITEM in it, and the mapping given around it that
    an addition there is left out."""
    kind = word(held.get("kind"))
    native = _Native(kind, passes)
    for key, value in held.items():
        if key not in _ENVELOPE and (kind, key) not in _OF_THE_SERVER:
            yield from native.field(given, key, value, (), "")


def custom_additions(given: Mapping[str, Any], held: Mapping[str, Any], schema: KindSchema) -> Iterator[Difference]:
    """To the spec of a custom resource, whose definition says what is filled in."""
    whole = schema.kept(given)
    given, filled, held = (mapping(holder.get("spec")) for holder in (given, whole, held))
    yield from _unknown(given, filled, held, "/spec")


def _unknown(
    given: Mapping[str, Any], whole: Mapping[str, Any], held: Mapping[str, Any], pointer: str
) -> Iterator[Difference]:
    """`whole` is what was given, with what the definition fills in."""
    for key, value in held.items():
        where, default = join(pointer, key), whole.get(key)
        if key not in whole:
            if not is_nothing(value, where):
                yield Difference(where, None, value)
        elif isinstance(value, dict) and isinstance(default, dict):
            yield from _unknown(mapping(given.get(key)), default, value, where)
        elif isinstance(value, list) and isinstance(default, list):
            ours = given.get(key)
            for index, one, other in paired(default, value):
                if isinstance(one, dict) and isinstance(other, dict):
                    was = ours[index] if isinstance(ours, list) else {}
                    yield from _unknown(mapping(was), one, other, f"{where}/{index}")
        elif key not in given:
            yield from differences(default, value, where)


class _Native:
    """A kind of Kubernetes itself: the server fills in by code, and the table has what."""

    def __init__(self, kind: str, passes: Callable[[Path, Mapping[str, Any]], bool]) -> None:
        self._values = default_values(kind)
        self._paths = defaulted_paths(kind)
        self._above = _above(kind)
        self._passes = passes

    def below(self, given: Any, held: Any, path: Path, pointer: str) -> Iterator[Difference]:
        """`path` has ITEM in the place of an item of a list."""
        if isinstance(held, dict):
            given = given if isinstance(given, dict) else {}
            for key, value in held.items():
                if (*path, key) != _TEMPLATE_METADATA:
                    yield from self.field(given, key, value, path, pointer)
        elif isinstance(held, list) and isinstance(given, list):
            for index, one, other in paired(given, held):
                yield from self.below(one, other, (*path, ITEM), f"{pointer}/{index}")

    def field(self, given: Mapping[str, Any], key: str, value: Any, path: Path, pointer: str) -> Iterator[Difference]:
        below, where = (*path, key), join(pointer, key)
        if self._passes(below, given):
            return
        if key in given:
            yield from self.below(given[key], value, below, where)
        elif isinstance(value, dict) and (key in empty_objects() or below in self._above):
            yield from self.below({}, value, below, where)
        elif below in self._values or key == _PULL_POLICY:
            filled = self._values[below] if below in self._values else pull_policy(word(given.get("image")))
            if value != filled:
                yield Difference(where, None, value)
        elif not is_nothing(value, where) and below not in self._paths:
            yield Difference(where, None, value)


@cache
def _above(kind: str) -> frozenset[Path]:
    """Paths of objects that have fields which are filled in."""
    return frozenset(path[:length] for path in defaulted_paths(kind) for length in range(1, len(path)))
