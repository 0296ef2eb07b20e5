"""A key that the release does not read, nor any other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.flat_words import flatten
from poolsmith.core.diagnostics.message_text import listed, nearest
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import dotted
from poolsmith.gpu.catalog.chart_contents import components_reading, discovery_components
from poolsmith.gpu.catalog.charts import SUBCHART
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.catalog.value_paths import ReleaseValues
    from poolsmith.gpu.values.document import UnknownKey, ValuePlace, ValuesDocument

RULE = RuleInfo(
    code="PSM301",
    name="unknown-value",
    applies_to="values",
    what="Helm values set a key that neither the chart of this release nor that of any other release reads.",
    why="The chart has no schema: Helm silently drops an unknown key, and the operator reports ready.",
    bad="driver:\n  rdma:\n    enable: true\n",
    good="driver:\n  rdma:\n    enabled: true\n",
    references=("values.yaml and templates of the chart at its tag", "NVIDIA/gpu-operator issues 196, 2626"),
    at_key=True,
)
MOST_SUGGESTED = 60
"""Beyond these nobody reads a suggestion, and a file may have thousands of unknown keys."""
DISCOVERY_SWITCH = "nfd"
"""Whether Node Feature Discovery is installed; its values are those of the subchart."""
_LONGEST = 60
_PLACES = 4


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    tag = document.release.tag
    count = 0
    for item in document.unknown:
        if _is_per_component(item.path, document):
            continue
        count += 1
        help_text = _advice(item, document.release) if count <= MOST_SUGGESTED else None
        message = f"the chart of {tag} does not read `{dotted(item.path)}`"
        yield Finding(place=item.path, message=message, help=help_text)
    yield from _subchart(document)


def _advice(item: UnknownKey, release: ReleaseValues) -> str:
    """What to write instead of an unknown key."""
    *above, key = item.path
    if (elsewhere := _of_discovery(item.path)) is not None:
        return elsewhere
    if item.path == (OPERATOR_CHART,):
        return f"these are the values of the chart {OPERATOR_CHART} itself: write what is below one level further up"
    prefix = ".".join(above) + "." if above else ""
    siblings = item.parent.children
    if len(key) > _LONGEST:
        return "remove it: Helm drops it silently"
    if (match := nearest(key, siblings, certain=True)) is not None:
        return f"did you mean `{prefix}{match}`?"
    if "." in key and _is_read(f"{prefix}{key}", release):
        return (
            f"a dot does not nest keys in a values file: write `{key.replace('.', ': {')}: ...{'}' * key.count('.')}`"
        )
    if places := release.by_key.get(flatten(key), ()):
        return _belongs(places)
    if (match := nearest(key, siblings)) is not None:
        return f"did you mean `{prefix}{match}`?"
    if (name := nearest(flatten(key), release.by_key)) is not None:
        return _belongs(release.by_key[name])
    return "remove it: Helm drops it silently"


def _of_discovery(path: tuple[str, ...]) -> str | None:
    """Where a value belongs that is meant for the subchart; None of any other."""
    key = path[-1]
    if path[:-1] not in ((), (DISCOVERY_SWITCH,)):
        return None
    if key in discovery_components():
        return f"the values of Node Feature Discovery belong under `{SUBCHART}`: `{SUBCHART}.{key}`"
    if path[:-1] and (found := components_reading(key)):
        return f"the values of Node Feature Discovery belong under `{SUBCHART}`: {_below(key, found)}"
    return None


def _below(key: str, components: tuple[str, ...]) -> str:
    return listed([f"{SUBCHART}.{name}.{key}" for name in components], _PLACES)


def _belongs(places: tuple[str, ...]) -> str:
    if len(places) == 1:
        above = places[0].rpartition(".")[0]
        return f"it belongs {f'under `{above}`' if above else 'at the top'}: `{places[0]}`"
    return f"this release reads it at {listed(places, _PLACES)}"


def _is_read(dotted: str, release: ReleaseValues) -> bool:
    node = release.root
    for key in dotted.split("."):
        if key not in node.children:
            return False
        node = node.children[key]
    return True


def _is_per_component(path: tuple[str, ...], document: ValuesDocument) -> bool:
    """PSM321 tells these."""
    if path[0] == DISCOVERY_SWITCH:
        return False
    return len(path) > 1 and document.release.paths.per_component(path[-1]) is not None


def _subchart(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    """Of the subchart only the keys of the parent's defaults are known: one edit away from one of them is a warning."""
    defaults = (document.release.line_defaults or {}).get(SUBCHART)
    pending: list[tuple[tuple[str, ...], Any, Any]] = [((SUBCHART,), document.values.get(SUBCHART), defaults)]
    while pending:
        above, values, known = pending.pop()
        if not isinstance(values, dict) or not isinstance(known, dict):
            continue
        for key, value in values.items():
            path = (*above, key)
            if key in known:
                pending.append((path, value, known[key]))
            elif above == (SUBCHART,) and value not in (None, [], {}) and (found := components_reading(key)):
                message = f"the chart of Node Feature Discovery does not read `{dotted(path)}`"
                yield Finding(place=path, message=message, help=f"write it at {_below(key, found)}")
            elif (match := nearest(key, known, certain=True)) is not None:
                message = f"`{dotted(path)}` is no key that is known of the node-feature-discovery chart"
                help_text = f"did you mean `{dotted((*above, match))}`?"
                yield Finding(place=path, message=message, help=help_text, severity=Severity.WARNING)
