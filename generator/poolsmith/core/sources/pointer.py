"""Paths into documents (JSON pointers of RFC 6901, the dotted spelling of messages), and values of nested mappings."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


BRANCHES = (dict, list)
"""What a tree has below its root that is no scalar."""
_INDEX = pattern(r"0|[1-9][0-9]{0,8}")


def join(pointer: str, *steps: str | int) -> str:
    """`pointer` extended by raw keys or indices."""
    return pointer + "".join("/" + escape(str(step)) for step in steps)


@lru_cache(maxsize=4096)
def escape(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


@lru_cache(maxsize=4096)
def split(pointer: str) -> tuple[str, ...]:
    """The unescaped steps of a pointer; the whole document has none."""
    if not pointer:
        return ()
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/"))


def parent(pointer: str) -> str:
    return pointer.rpartition("/")[0]


def reach(data: Any, pointer: str) -> tuple[Any, bool]:
    """The deepest node on the way to `pointer`, and whether it is the end of the way."""
    node = data
    for step in split(pointer):
        if isinstance(node, dict) and step in node:
            node = node[step]
        elif isinstance(node, list) and step.isdecimal() and int(step) < len(node):
            node = node[int(step)]
        else:
            return node, False
    return node, True


def dotted(path: Iterable[str | int]) -> str:
    """A path as people write it: `spec.containers[0].name`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{shorten(step)}" for step in path)
    return text.removeprefix(".")


def dotted_pointer(pointer: str) -> str:
    """The same of a pointer; a step that could be an index is taken for one."""
    return dotted(int(step) if _INDEX.fullmatch(step) else step for step in split(pointer))


MISSING: Final = object()
"""Where null is a value like any other: `value_at(node, path, MISSING) is MISSING`."""


def value_at(node: Any, path: Iterable[str], missing: Any = None) -> Any:
    """What stands below the keys of `path`, one after the other; `missing` where a key or a mapping is absent."""
    for key in path:
        if not isinstance(node, dict) or key not in node:
            return missing
        node = node[key]
    return node


def reached(body: Any, path: Iterable[str]) -> list[tuple[str, Any]]:
    """What stands at a path, each with its pointer: a star is each item of a list, a plus each value of a mapping; null
    is nothing."""
    found: list[tuple[str, Any]] = [("", body)]
    for step in path:
        if step == "*":
            found = [
                (f"{at}/{index}", item)
                for at, node in found
                if isinstance(node, list)
                for index, item in enumerate(node)
            ]
        elif step == "+":
            found = [
                (join(at, str(key)), item) for at, node in found if isinstance(node, dict) for key, item in node.items()
            ]
        else:
            below = f"/{escape(step)}"
            found = [
                (at + below, item)
                for at, node in found
                if isinstance(node, dict) and (item := node.get(step)) is not None
            ]
        if not found:
            break
    return found


def overlap(one: Sequence[str | int], other: Sequence[str | int]) -> bool:
    """Whether two paths lead to the same place, or one to a place below that of the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def copied(value: Any) -> Any:
    """A tree of mappings, lists and scalars, as it is read from YAML or JSON, with nothing shared.

    Several times as fast as the general copy, which looks for cycles and for classes.
    """
    if isinstance(value, dict):
        return {key: copied(item) if isinstance(item, BRANCHES) else item for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) if isinstance(item, BRANCHES) else item for item in value]
    return value


def mapped(tree: Any, change: Callable[[Any], Any]) -> Any:
    """A tree of mappings, lists and scalars with each scalar changed; nothing of it is shared."""
    if isinstance(tree, dict):
        return {key: mapped(item, change) if isinstance(item, BRANCHES) else change(item) for key, item in tree.items()}
    if isinstance(tree, list):
        return [mapped(item, change) if isinstance(item, BRANCHES) else change(item) for item in tree]
    return change(tree)


def leaves_of(
    tree: Mapping[str, Any], above: tuple[str, ...] = (), accepts: Callable[[tuple[str, ...]], bool] | None = None
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Everything below a mapping that is none itself, or is empty, or stands where `accepts` takes none."""
    for key, value in tree.items():
        steps = (*above, str(key))
        if isinstance(value, dict) and value and (accepts is None or accepts(steps)):
            yield from leaves_of(value, steps, accepts)
        else:
            yield steps, value


def tree_of(leaves: Iterable[tuple[Sequence[str], Any]]) -> dict[str, Any]:
    """The mapping that has these values at these paths."""
    tree: dict[str, Any] = {}
    for path, value in leaves:
        node = tree
        for key in path[:-1]:
            node = node.setdefault(key, {})
        node[path[-1]] = value
    return tree


def texts_in(node: Any) -> Iterator[str]:
    """Those at any depth."""
    if isinstance(node, str):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from texts_in(child)
