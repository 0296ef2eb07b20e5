"""A value of another type than the chart and its custom resource take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.diagnostics import RuleInfo
from poolsmith.sources.nested import value_at
from poolsmith.values.finding import ValueFinding
from poolsmith.values.shown import dotted, fits, kind_of, named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.values.document import ValuesDocument

RULE = RuleInfo(
    code="PSM303",
    name="value-type",
    applies_to="values",
    what="Helm values set a value of another type than the chart's default, or the field that it is written to, has.",
    why="The chart renders it, and the API server refuses or prunes the custom resource.",
    bad="dcgm:\n  enabled: 'true'\n",
    good="dcgm:\n  enabled: true\n",
    references=("values.yaml and CRDs of the chart at its tag",),
)
_TEXT_LISTS = ("imagePullSecrets", "args")
_SCALARS = (bool, int, float)
_LONGEST_NAME = 60


def check(document: ValuesDocument) -> Iterator[ValueFinding]:
    for item in document.known:
        declared, value = item.node.type, item.value
        if not fits(declared, value):
            if declared == "string" and isinstance(value, _SCALARS):
                continue  # PSM324
            yield _finding(item.path, value, declared)
        elif isinstance(value, list) and item.path[-1] in _TEXT_LISTS:
            for index, entry in enumerate(value):
                if not isinstance(entry, (str, *_SCALARS)):
                    yield _finding((*item.path, index), entry, "string", _list_help(item.path[-1], entry))
        elif isinstance(value, dict) and item.path[-2:] == ("config", "data"):
            for key, text in value.items():
                if isinstance(text, (dict, list)):
                    help_text = f"write it as text: `{key}: |`"
                    yield _finding((*item.path, key), text, "string", help_text)
    yield from _subchart(document)


def _finding(path: tuple[str | int, ...], value: Any, declared: str, help_text: str | None = None) -> ValueFinding:
    return ValueFinding(
        rule=RULE,
        path=path,
        message=f"`{dotted(path)}` is {kind_of(value)}; the chart takes {named(declared)}",
        help=help_text or f"write {named(declared)}",
    )


def _list_help(key: str, entry: Any) -> str | None:
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        return None
    return f"this chart takes plain names: `{key}: [{name}]`"


def _subchart(document: ValuesDocument) -> Iterator[ValueFinding]:
    """The subchart's own defaults are known where the parent's values.yaml sets them."""
    for path, value in document.subchart:
        default = value_at(document.release.line_defaults, path)
        declared = _type_of(default)
        if declared is not None and not fits(declared, value) and not (declared == "string" and fits("number", value)):
            yield _finding(path, value, declared)


def _type_of(default: Any) -> str | None:
    if isinstance(default, bool):
        return "boolean"
    if isinstance(default, int):
        return "number"
    if isinstance(default, str):
        return "string"
    return "array" if isinstance(default, list) else "object" if isinstance(default, dict) else None
