"""A key that the release does not read, nor any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.flat_words import flatten
from poolsmith.core.diagnostics.message_text import listed, nearest, one_edit
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import dotted
from poolsmith.gpu.catalog.chart_contents import components_reading, discovery_components
from poolsmith.gpu.catalog.charts import SUBCHART
from poolsmith.gpu.catalog.operand_inputs import operand_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.gpu.catalog.value_paths import ValueNode
    from poolsmith.gpu.values.document import UnknownKey, ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM301")
MOST_SUGGESTED = 60
"""Beyond these nobody reads a suggestion, and a file may have thousands of unknown keys."""
DISCOVERY_SWITCH = "nfd"
"""Whether Node Feature Discovery is installed; its values are those of the subchart."""
_DISCOVERY_NAMES = ("nfd", "nodeFeatureDiscovery", SUBCHART)
_LONGEST = 60
_PLACES = 4
_MOST_OF_IT = 0.6


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    release = document.release
    chart = f"the chart of {release.tag}" if release.is_of_operator else f"the chart {release.told}"
    count = 0
    for item in document.unknown:
        if _is_per_component(item.path, document) or (not release.is_of_operator and item.value in (None, [], {})):
            continue
        count += 1
        help_text = _advice(item, document) if count <= MOST_SUGGESTED else None
        message = f"{chart} does not read `{dotted(item.path)}`"
        yield Finding(place=item.path, message=message, help=help_text)


def _advice(item: UnknownKey, document: ValuesDocument) -> str:
    """What to write instead of an unknown key."""
    release = document.release
    *above, key = item.path
    if (elsewhere := _of_discovery(item.path, document) or _of_subchart(item.path, document)) is not None:
        return elsewhere
    if (place := _of_configuration(key, document)) is not None:
        return f"it belongs under `{place}`: `{place}.{key}`"
    if item.path == (release.paths.chart,):
        return (
            f"these are the values of the chart {release.paths.chart} itself: write what is below one level further up"
        )
    prefix = ".".join(above) + "." if above else ""
    siblings = item.parent.children
    if len(key) > _LONGEST:
        return "remove it: Helm drops it silently"
    if (match := nearest(key, siblings, certain=True)) is not None:
        return f"did you mean `{prefix}{match}`?"
    if "." in key and _is_read(key, item.parent):
        return (
            f"a dot does not nest keys in a values file: write `{key.replace('.', ': {')}: ...{'}' * key.count('.')}`"
        )
    is_of_many = _is_of_many(flatten(key), release.by_key)
    if not is_of_many and (places := release.by_key.get(flatten(key), ())):
        return _belongs(places, document)
    if (match := nearest(key, siblings)) is not None:
        return f"did you mean `{prefix}{match}`?"
    if is_of_many:
        return "remove it: Helm drops it silently"
    if (name := nearest(flatten(key), release.by_key)) is not None and _is_alike(name, flatten(key)):
        return _belongs(release.by_key[name], document)
    return "remove it: Helm drops it silently"


def _of_configuration(key: str, document: ValuesDocument) -> str | None:
    """Where a field of a configuration belongs that Node Feature Discovery's chart hands on as it is."""
    if document.release.paths.chart != SUBCHART:
        return None
    fields = operand_inputs("discovery").names
    components = [
        name for name in ("worker", "master") if any(f"{field}.".startswith(f"{name}.{key}.") for field in fields)
    ]
    return ".".join((*document.above, components[0], "config")) if len(components) == 1 else None


def _is_of_many(key: str, by_key: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether so many parts have the word, or one a letter from it, that where it stands elsewhere says nothing."""
    return any(len(places) > _PLACES for name, places in by_key.items() if name == key or one_edit(name, key))


def _is_alike(name: str, key: str) -> bool:
    """Whether a key elsewhere may be what is meant: nearly the same word, or one with a little before or behind it."""
    shorter, longer = sorted((name, key), key=len)
    is_part = shorter in longer and len(shorter) > len(longer) * _MOST_OF_IT
    return is_part or nearest(key, (name,), certain=True) is not None


def _of_subchart(path: tuple[str, ...], document: ValuesDocument) -> str | None:
    """The switch of this chart where its parent has another one; where the values of a chart inside stand."""
    if document.above and path[len(document.above) :] == ("enabled",) and document.switches:
        return f"it is switched by {listed(document.switches, _PLACES)}"
    for name, item in document.release.subcharts.items():
        if path[-1] in _DISCOVERY_NAMES and item.chart == SUBCHART and len(path) == 1 + len(document.above):
            return f"the values of {item.chart} belong under `{name}`"
    return None


def _of_discovery(path: tuple[str, ...], document: ValuesDocument) -> str | None:
    """Where a value of the operator's chart belongs that is meant for the subchart; None of any other."""
    key = path[-1]
    if not document.release.is_of_operator or path[:-1] not in ((), (DISCOVERY_SWITCH,)):
        return None
    if key in discovery_components():
        return f"the values of Node Feature Discovery belong under `{SUBCHART}`: `{SUBCHART}.{key}`"
    if path[:-1] and (found := components_reading(key)):
        return f"the values of Node Feature Discovery belong under `{SUBCHART}`: {_below(key, found)}"
    return None


def _below(key: str, components: tuple[str, ...]) -> str:
    return listed([f"{SUBCHART}.{name}.{key}" for name in components], _PLACES)


def _belongs(places: tuple[str, ...], document: ValuesDocument) -> str:
    places = tuple(".".join((*document.above, place)) for place in places)
    if len(places) == 1:
        above = places[0].rpartition(".")[0]
        return f"it belongs {f'under `{above}`' if above else 'at the top'}: `{places[0]}`"
    return f"this release reads it at {listed(places, _PLACES)}"


def _is_read(dotted: str, node: ValueNode) -> bool:
    for key in dotted.split("."):
        if key not in node.children:
            return False
        node = node.children[key]
    return True


def _is_per_component(path: tuple[str, ...], document: ValuesDocument) -> bool:
    """PSM321 tells these."""
    if path[0] == DISCOVERY_SWITCH:
        return False
    return len(path) > 1 and not document.above and document.release.paths.per_component(path[-1]) is not None
