"""A pod as the checks read it: values that know their place, and fail each check where they are of a wrong type.

Null counts as unset, as in the API. What stands below something of a wrong type is WRONG, which no check allows:
the API server refuses such a pod, so that nobody is to be told that it is fine.


"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from poolsmith.diagnostics.printable import shorten
from poolsmith.sources.pod_template import CONTAINER_FIELDS
from poolsmith.sources.pointer import escape

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_SHOWN_BELOW = 10**18
_SORTS = {"initContainers": "init container", "containers": "container", "ephemeralContainers": "ephemeral container"}


class _Wrong:
    """Below or instead of something of a wrong type."""


WRONG: Final = _Wrong()


class Node:
    """A value and its place in the pod template. A value that is not there has the place of what it would stand in."""

    __slots__ = ("_key", "_parent", "value")

    def __init__(self, value: Any, parent: Node | None = None, key: str | int = "") -> None:
        self.value = value
        self._parent = parent
        self._key = key

    def get(self, key: str) -> Node:
        value = self.value
        if isinstance(value, dict):
            return Node(value.get(key), self, key)
        return Node(None if value is None else WRONG, self, key)

    def items(self) -> Iterator[Node]:
        value = self.value
        if isinstance(value, list):
            for index, item in enumerate(value):
                yield Node(item, self, index)
        elif value is not None:
            yield Node(WRONG, self._parent, self._key)

    def entries(self) -> Iterator[tuple[str, Node]]:
        """Of a mapping by its keys; what is no mapping is one entry without a key."""
        if isinstance(self.value, dict):
            for key in self.value:
                yield key, self.get(key)
        elif self.value is not None:
            yield "", Node(WRONG, self._parent, self._key)

    @property
    def pointer(self) -> str:
        parent = self._parent
        if parent is None:
            return ""
        is_item = isinstance(parent.value, list) and isinstance(self._key, int)
        if is_item or (isinstance(parent.value, dict) and self._key in parent.value):
            return f"{parent.pointer}/{escape(str(self._key))}"
        return parent.pointer

    @property
    def unset(self) -> bool:
        return self.value is None

    @property
    def off(self) -> bool:
        """Unset or false."""
        return self.value is None or self.value is False

    @property
    def empty(self) -> bool:
        """Unset or the empty text."""
        return self.value is None or self.value == ""

    def is_one_of(self, texts: Collection[str]) -> bool:
        return isinstance(self.value, str) and self.value in texts

    @property
    def whole(self) -> int | None:
        """A whole number; None for anything else."""
        return self.value if isinstance(self.value, int) and not isinstance(self.value, bool) else None

    @property
    def shown(self) -> str:
        """For a message, harmless."""
        value = self.value
        if value is None:
            return "nothing"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            return f"`{shorten(value)}`"
        if isinstance(value, int | float) and abs(value) < _SHOWN_BELOW:
            return repr(value)
        return "a value of a wrong type"


@dataclass(frozen=True, slots=True)
class Setter:
    """The pod itself or one of its containers: `context` is its security context."""

    who: str
    name: str
    node: Node
    context: Node


class Pod:
    """Metadata and spec of a pod, or of the template of a workload."""

    def __init__(self, metadata: Any, spec: Any) -> None:
        root = Node({"metadata": metadata, "spec": spec})
        self.metadata = root.get("metadata")
        self.spec = root.get("spec")

    @cached_property
    def containers(self) -> tuple[Setter, ...]:
        """Of each sort, as they start."""
        return tuple(
            _container(field, index, node)
            for field in CONTAINER_FIELDS
            for index, node in enumerate(self.spec.get(field).items())
        )

    @cached_property
    def itself(self) -> Setter:
        return Setter("the pod", "", self.spec, self.spec.get("securityContext"))

    @property
    def setters(self) -> tuple[Setter, ...]:
        return (self.itself, *self.containers)

    @property
    def annotations(self) -> Node:
        return self.metadata.get("annotations")

    @property
    def is_windows(self) -> bool:
        return bool(self.spec.get("os").get("name").value == "windows")

    @property
    def has_user_namespace(self) -> bool:
        return self.spec.get("hostUsers").value is False


def _container(field: str, index: int, node: Node) -> Setter:
    name = node.get("name").value
    known = isinstance(name, str) and name != ""
    who = f"{_SORTS[field]} `{shorten(name)}`" if known else f"{_SORTS[field]} number {index + 1}, which has no name,"
    return Setter(who, name if known else "", node, node.get("securityContext"))
