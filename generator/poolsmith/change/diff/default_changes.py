"""Defaults of the chart that differ between two releases, where a cluster takes the default and runs what it is for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.printable import shorten
from poolsmith.core.sources.nested import value_at
from poolsmith.fleet.plan.plan import values_tree
from poolsmith.gpu.catalog.charts import SUBCHART

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.review.change import SeenCluster

_OF_IMAGES = frozenset(("image", "repository", "version", "tag", "digest", "imagePullPolicy", "imagePullSecrets"))
"""Told as images."""
_NOTHING: tuple[Any, ...] = (None, "", False, [], {})


def default_changes(before: SeenCluster, after: SeenCluster) -> tuple[str, ...]:
    """Sentences, by the path of the value. What only one of the releases knows is no default that changes."""
    old, new = before.prediction.origins.chart, after.prediction.origins.chart
    if old is None or new is None:
        return ()
    then, now = dict(_leaves(old.defaults)), dict(_leaves(new.defaults))
    given = values_tree(before.plan.values), values_tree(after.plan.values)
    found = []
    for path in sorted(then.keys() & now.keys()):
        was, is_now = then[path], now[path]
        if was == is_now and type(was) is type(is_now):
            continue
        if (was in _NOTHING and is_now in _NOTHING) or path[0] == SUBCHART or not _OF_IMAGES.isdisjoint(path):
            continue
        if any(_is_given(values, path) for values in given) or not _runs(path, new.defaults, given[1]):
            continue
        found.append(f"the chart's default of `{'.'.join(path)}` is {_shown(is_now)}, and was {_shown(was)}")
    return tuple(found)


def _leaves(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Values that are no mapping, or an empty one. Texts of scripts and configurations are leaves as well."""
    if isinstance(node, dict) and node:
        for key, value in node.items():
            yield from _leaves(value, (*path, key))
    elif path:
        yield path, node


def _is_given(values: dict[str, Any], path: tuple[str, ...]) -> bool:
    """Whether the profiles say something at a path, above it, or below it."""
    node: Any = values
    for key in path:
        if not isinstance(node, dict):
            return True
        if key not in node:
            return False
        node = node[key]
    return True


def _runs(path: tuple[str, ...], defaults: dict[str, Any], given: dict[str, Any]) -> bool:
    """Whether each part that the value belongs to is on, as far as it has a switch."""
    for length in range(1, len(path)):
        switch = (*path[:length], "enabled")
        value = value_at(given, switch) if _is_given(given, switch) else value_at(defaults, switch)
        if switch != path and value is False:
            return False
    return True


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    return f"`{shorten(value if isinstance(value, str) and value else json.dumps(value))}`"
