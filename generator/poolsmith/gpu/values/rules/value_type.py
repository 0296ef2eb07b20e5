"""A value of another type than the chart and its custom resource take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import kind_of
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import dotted
from poolsmith.core.sources.scalars import NotJsonError, resolve_plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.sources.scalars import Scalar
    from poolsmith.gpu.values.document import KnownValue, ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM303")
_TEXT_LISTS = ("imagePullSecrets", "args")
_SCALARS = (bool, int, float)
_LONGEST_NAME = 60
_NO = ("false", "no", "off", "n", "0")
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
_EXAMPLES: dict[str, Any] = {**dict.fromkeys(_NAMES, ""), "array": [], "object": {}}


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    yield from _of_operator(document) if document.release.is_of_operator else _of_chart(document)


def _of_operator(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    for item in document.known:
        declared, value = item.node.type, item.value
        if not _fits(declared, value):
            yield from _of_another_type(document.release.tag, item)
        elif isinstance(value, list) and item.path[-1] in _TEXT_LISTS:
            for index, entry in enumerate(value):
                if not isinstance(entry, (str, *_SCALARS)):
                    yield _finding((*item.path, index), entry, "string", _list_help(item.path[-1], entry))
        elif isinstance(value, dict) and item.path[-2:] == ("config", "data"):
            for key, text in value.items():
                if isinstance(text, (dict, list)):
                    help_text = f"write it as text: `{key}: |`"
                    yield _finding((*item.path, key), text, "string", help_text)


def _of_another_type(release: str, item: KnownValue) -> Iterator[Finding[ValuePlace]]:
    declared, value = item.node.type, item.value
    if declared == "string" and isinstance(value, _SCALARS):
        return  # PSM324
    says = _without_quotes(value)
    if says is None or not _fits(declared, says):
        yield _finding(item.path, value, declared)
        return
    from poolsmith.gpu.catalog.text_values import Becomes, text_becomes  # on demand: few values are in quotes

    becomes = text_becomes(release, ".".join(item.path))
    if becomes is Becomes.REFUSED:
        yield _finding(item.path, value, declared)
    elif becomes is Becomes.TRUE and says is False:
        yield _taken_for_true(item.path, value)


def _without_quotes(value: Any) -> Scalar:
    """What a text says that a template prints as it is."""
    try:
        return resolve_plain(value) if isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME else None
    except NotJsonError:
        return None


def _finding(path: ValuePlace, value: Any, declared: str, help_text: str | None = None) -> Finding[ValuePlace]:
    return Finding(
        place=path,
        message=f"`{dotted(path)}` is {kind_of(value)}; the chart takes {_NAMES[declared]}",
        help=help_text or f"write {_NAMES[declared]}",
    )


def _taken_for_true(path: ValuePlace, value: str) -> Finding[ValuePlace]:
    return Finding(
        place=path,
        message=f"`{dotted(path)}` is the text `{value}`; a template of the chart asks for it, and every text is true",
        help="write `false` without quotes",
    )


def _list_help(key: str, entry: Any) -> str | None:
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        return None
    return f"this chart takes plain names: `{key}: [{name}]`"


def _of_chart(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    """Where the chart has a schema, by that. Elsewhere templates print scalars of any type, which are let alone."""
    release, depth = document.release, len(document.above)
    schema = release.paths.schema(release.tag)
    for item in document.known:
        wanted = schema.get(".".join(item.path[depth:]))
        if wanted is not None:
            if not any(_fits(name, item.value) for name in wanted if name in _NAMES):
                yield _refused(item.path, item.value, wanted, release.paths.chart)
        elif _is_taken_for_true(item) or _is_of_another_form(item):
            yield _finding(item.path, item.value, item.node.type)


def _is_taken_for_true(item: KnownValue) -> bool:
    """A text that is not empty is true for a template, whatever it says."""
    return item.node.type == "boolean" and isinstance(item.value, str) and item.value.lower() in _NO


def _is_of_another_form(item: KnownValue) -> bool:
    """A list for a mapping and their like; what is empty is like none."""
    if item.value in ([], {}, "", None) or item.node.type not in _NAMES:
        return False
    return _form(item.value) is not _form(_EXAMPLES[item.node.type])


def _form(value: Any) -> type:
    return type(value) if isinstance(value, (list, dict)) else str


def _refused(path: ValuePlace, value: Any, wanted: list[str], chart: str) -> Finding[ValuePlace]:
    names = " or ".join(_NAMES[item] for item in wanted if item in _NAMES)
    return Finding(
        place=path,
        message=f"`{dotted(path)}` is {kind_of(value)}; Helm refuses it by the schema of {chart}, which takes {names}",
        help=f"write {names}" + (", in quotes" if "string" in wanted else ""),
    )


def _fits(declared: str, value: Any) -> bool:
    """Whether a value is of a type; null deletes a default, whatever its type."""
    expected = _TYPES.get(declared)
    if expected is None or value is None:
        return True
    if isinstance(value, bool):
        return bool in expected
    return isinstance(value, expected)
