"""A key that some releases read and others drop, in values of which nobody says the release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes.hygiene import VALUE_OF_SOME_RELEASES
from poolsmith.core.diagnostics.rule_engine import Finding, Found
from poolsmith.core.sources.pointer import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.catalog.value_paths import ValuePaths
    from poolsmith.gpu.values.document import ValuePlace

_MOST = 20


def values_of_some(values: dict[str, Any], paths: ValuePaths) -> Iterator[Found[ValuePlace]]:
    """The topmost keys that a part of the releases reads, each with its range; nothing of what none of them reads."""
    for place, tags in list(_partly_read(values, (), paths))[:_MOST]:
        message = f"`{dotted(place)}` is read by {_range(tags, paths.tags)} alone, and nothing says the release"
        yield Found(VALUE_OF_SOME_RELEASES, Finding(place=place, message=message, help=VALUE_OF_SOME_RELEASES.fix))


def _partly_read(
    values: dict[str, Any], above: tuple[str, ...], paths: ValuePaths
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    for key, value in values.items():
        place = (*above, str(key))
        tags = paths.reading(place)
        if tags and len(tags) < len(paths.tags):
            yield place, tags
        elif tags and isinstance(value, dict):
            yield from _partly_read(value, place, paths)


def _range(tags: tuple[str, ...], known: tuple[str, ...]) -> str:
    """`v25.3.0 and later`, `v24.9.2 and earlier`, `v24.3.0 to v24.9.2`; gaps are left out of it."""
    first, last = tags[0], tags[-1]
    if last == known[-1]:
        return f"{first} and later"
    if first == known[0]:
        return f"{last} and earlier"
    return first if first == last else f"{first} to {last}"
