"""A value of another type than the chart and its custom resource take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import kind_of
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import covers
from poolsmith.core.sources.pointer import dotted, value_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo(
    code="PSM303",
    name="value-type",
    applies_to="values",
    what="Helm values set a value of another type than the chart's default has, or than the field has to which the "
    "chart writes it.",
    why="The chart renders it, and the API server refuses or prunes the custom resource.",
    bad="dcgm:\n  enabled: 'true'\n",
    good="dcgm:\n  enabled: true\n",
    references=("values.yaml, values.schema.json and CRDs of the chart at its tag",),
)
_TEXT_LISTS = ("imagePullSecrets", "args")
_SCALARS = (bool, int, float)
_LONGEST_NAME = 60
_DISCOVERY = "node-feature-discovery"
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "int-or-string": (int, str),
    "array": (list,),
    "object": (dict,),
}
_NAMES = {
    "string": "a string",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a number",
    "int-or-string": "an integer or a string",
    "array": "a list",
    "object": "a mapping",
}


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    for item in document.known:
        declared, value = item.node.type, item.value
        if not _fits(declared, value):
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


def _finding(path: ValuePlace, value: Any, declared: str, help_text: str | None = None) -> Finding[ValuePlace]:
    return Finding(
        place=path,
        message=f"`{dotted(path)}` is {kind_of(value)}; the chart takes {_NAMES[declared]}",
        help=help_text or f"write {_NAMES[declared]}",
    )


def _list_help(key: str, entry: Any) -> str | None:
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        return None
    return f"this chart takes plain names: `{key}: [{name}]`"


def _subchart(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    """The subchart's own defaults are known where the parent's values.yaml sets them."""
    schema = _schema_of(document.release.tag)
    for path, value in document.subchart:
        wanted = schema.get(".".join(map(str, path[1:]))) if path[0] == _DISCOVERY else None
        if wanted is not None:
            if not any(_fits(item, value) for item in wanted if item in _NAMES):
                yield _refused(path, value, wanted)
            continue
        default = value_at(document.release.line_defaults, path)
        declared = _type_of(default)
        if declared is None or _fits(declared, value) or (declared == "string" and _fits("number", value)):
            continue
        yield _finding(path, value, declared)


def _schema_of(release: str) -> Mapping[str, list[str]]:
    """Types by path below the subchart that brings a schema of its own values, where the release has such a one."""
    known = store.read_yaml("values/discovery_schema.yaml")
    types: Mapping[str, list[str]] = known["types"] if covers(known, release) else {}
    return types


def _refused(path: ValuePlace, value: Any, wanted: list[str]) -> Finding[ValuePlace]:
    names = " or ".join(_NAMES[item] for item in wanted if item in _NAMES)
    return Finding(
        place=path,
        message=f"`{dotted(path)}` is {kind_of(value)}; Helm refuses it by the schema of {_DISCOVERY}, which takes "
        f"{names}",
        help=f"write {names}" + (", in quotes" if "string" in wanted else ""),
    )


def _type_of(default: Any) -> str | None:
    if isinstance(default, bool):
        return "boolean"
    if isinstance(default, int):
        return "number"
    if isinstance(default, str):
        return "string"
    return "array" if isinstance(default, list) else "object" if isinstance(default, dict) else None


def _fits(declared: str, value: Any) -> bool:
    """Whether a value is of a type; null deletes a default, whatever its type."""
    expected = _TYPES.get(declared)
    if expected is None or value is None:
        return True
    if isinstance(value, bool):
        return bool in expected
    return isinstance(value, expected)
