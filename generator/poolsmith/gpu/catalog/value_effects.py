"""Which settings a value of the operator's chart takes effect with, by release.

Recorded by `tests/tools/record_value_effects.py` from what Helm renders and what the operator makes of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping

_FILE = "values/effects.json"
Settings = dict[str, Any]
"""Values by dotted path."""


@record(kw_only=False)
class Switch:
    """What turns many values off. `of`: the first keys of those that it may hold, none for all."""

    of: frozenset[str]
    made_by: Mapping[str, Settings]

    def may_hold(self, path: str) -> bool:
        return not self.of or path.partition(".")[0] in self.of

    def positions(self, read: Container[str], path: str) -> dict[str, Settings]:
        """By name the settings that make each, of those that a release reads and without the value itself; without such
        as are then another one."""
        found: dict[str, Settings] = {}
        for name, settings in self.made_by.items():
            known = {key: value for key, value in settings.items() if key in read and key != path}
            if known and known not in found.values():
                found[name] = known
        return found


@remembered
def switches() -> dict[str, Switch]:
    """By name."""
    data = store.read_yaml("values/switches.yaml")["switches"]
    return {
        name: Switch(of=frozenset(item.get("of", ())), made_by={at: made for at, made in item.items() if at != "of"})
        for name, item in data.items()
    }


@remembered
def always_on() -> frozenset[str]:
    """Switches that every release has on by default."""
    return frozenset(store.read_yaml("values/switches.yaml")["alwaysOn"])


def recorded_effects(release: str) -> dict[str, Any]:
    """By path the positions of each switch with which a value takes effect, or several such; a word where it has none,
    or nobody knows; None where the release does not read it. Nothing of a release that is not recorded."""
    return at_release(store.read_json(_FILE), release)


def at_release(table: Mapping[str, Any], release: str) -> dict[str, Any]:
    """Of a table whose values are lists of a release and what holds from it on; nothing of one that is not recorded."""
    order = {tag: number for number, tag in enumerate(table["releases"])}
    if release not in order:
        return {}
    return {
        path: next((found for first, found in reversed(runs) if order[first] <= order[release]), None)
        for path, runs in table["values"].items()
    }


class Effects:
    """What the values of one release take effect with."""

    def __init__(self, release: str) -> None:
        self._by_path = recorded_effects(release)
        self._read = frozenset(path for path, found in self._by_path.items() if found is not None)

    def missing(self, path: str, value: Callable[[str], Any]) -> list[Settings]:
        """The settings without which a value has no effect: for each switch that stands wrong the fewest to set.

        `value` is what holds at a path, None where nobody knows; then it may be what is wanted.
        """
        return min(([*self._without(path, item, value)] for item in self._of(path)), key=len, default=[])

    def _without(
        self, path: str, conditions: Mapping[str, list[str]], value: Callable[[str], Any]
    ) -> Iterator[Settings]:
        for name, allowed in conditions.items():
            positions = self._positions(name, path)
            ways = [_wrong(settings, value) for at, settings in positions.items() if at in allowed]
            if ways and all(ways):
                yield min(ways, key=len)

    def _of(self, path: str) -> list[dict[str, list[str]]]:
        """Of the path, or of the nearest one above it that is recorded; several where one of them is enough."""
        while path and path not in self._read:
            path = path.rpartition(".")[0]
        found = self._by_path.get(path)
        return [found] if isinstance(found, dict) else found if isinstance(found, list) else []

    def _positions(self, name: str, path: str) -> dict[str, Settings]:
        known = switches().get(name)
        return {"true": {name: True}} if known is None else known.positions(self._read, path)


def _wrong(settings: Settings, value: Callable[[str], Any]) -> Settings:
    """Those that are known to be otherwise."""
    return {path: wanted for path, wanted in settings.items() if _is_other(value(path), wanted)}


def _is_other(found: Any, wanted: Any) -> bool:
    return type(found) is type(wanted) and found != wanted


@remembered
def effects(release: str) -> Effects:
    """Of a release that is not recorded nothing is known."""
    return Effects(release)
