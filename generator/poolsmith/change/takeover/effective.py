"""What a release runs with: the chart's defaults with values on top of them, as Helm puts them together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pointer import MISSING, copied

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple[str, ...]


def effective(defaults: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """Mappings are merged key by key, lists and scalars replace, null takes a default away.

    Source: helm pkg/chartutil/coalesce.go.
    """
    result: dict[str, Any] = copied(defaults)
    _lay_over(result, values)
    return result


def _lay_over(target: dict[str, Any], values: dict[str, Any]) -> None:
    for key, value in values.items():
        present = target.get(key)
        if value is None and key in target:
            del target[key]
        elif isinstance(present, dict) and isinstance(value, dict):
            _lay_over(present, value)
        elif not isinstance(present, dict) or isinstance(value, dict):
            target[key] = copied(value)


def differing(one: Any, other: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Where two trees differ, as deep as both are mappings; MISSING stands for what one of them lacks.

    An empty mapping is the same as none: templates can't tell them apart.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}, key=str):
            yield from differing(one.get(key, MISSING), other.get(key, MISSING), (*path, str(key)))
    elif isinstance(one, dict) and other is MISSING:
        yield from differing(one, {}, path)
    elif isinstance(other, dict) and one is MISSING:
        yield from differing({}, other, path)
    elif type(one) is not type(other) or one != other:
        yield path, one, other
