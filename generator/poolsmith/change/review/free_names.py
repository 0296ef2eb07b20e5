"""What anybody may set by its exact name, in its form: the closed lists of `data/review/free_names.yaml`.

A name that is in none of them needs `acceptSettings`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from poolsmith.core.facts import store
from poolsmith.core.pattern import pattern as compiled_later
from poolsmith.core.sources.scalars import text_of
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents

_FILE = "review/free_names.yaml"
_BOOLEAN = "true or false"
_FORMS = {
    "true, false, 0 or 1": compiled_later(r"(?i:true|false)|[01]"),
    "a number": compiled_later(r"[0-9]{1,9}"),
    "a number or a percentage": compiled_later(r"[0-9]{1,9}|[0-9]{1,3}%"),
    "a level of logs": compiled_later(r"(?i:trace|debug|info|notice|warn|warning|error|fatal|panic)|[0-9]{1,2}"),
    "a duration": compiled_later(r"([0-9]{1,6}(ms|s|m|h)){1,4}|[0-9]{1,9}"),
    "a name": compiled_later(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?"),
    "a name, or nothing": compiled_later(r"([A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?)?"),
    "one line": compiled_later(r"[^\x00-\x1f\x7f]{0,500}"),
    "a time zone": compiled_later(r"[A-Z][A-Za-z_]{1,30}(/[A-Z][A-Za-z0-9_+-]{1,30}){0,2}"),
    "a locale": compiled_later(r"C|POSIX|(C|[a-z]{2}_[A-Z]{2})\.(?i:utf-?8)"),
    "a tag or a digest": compiled_later(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}|sha256:[0-9a-f]{64}"),
    "a quantity": compiled_later(r"[0-9]{1,15}(\.[0-9]{1,9})?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?"),
    "a label selector": compiled_later(r"([A-Za-z0-9!][A-Za-z0-9_./=,!() -]{0,500})?"),
    "a path of a URL": compiled_later(r"/[A-Za-z0-9/_.-]{0,200}"),
}
"""Forms of values, in words."""
_PLUGIN_DATA = "devicePlugin.config.data"
_DATA_KEY = compiled_later(r"[A-Za-z0-9._-]{1,253}")
_LARGEST_TEXT = 1 << 20


@cache
def _lists() -> dict[str, Any]:
    """No pack of facts adds to them."""
    return store.read_own_yaml(_FILE)


@cache
def free_names(table: str) -> dict[str, str]:
    """By the names of a table the form of the whole value, in words or as all its spellings (`a|b`)."""
    return {name: row["form"] for row in _lists()[table] for name in row["names"]}


@cache
def free_fields(table: str, kind: str = "") -> tuple[str, ...]:
    """Of objects of a kind, or of pods: patterns of paths. A resource that is no share of a node gives a device."""
    lists = _lists()
    parts = ("limits", "requests") if table == "podFields" else ()
    shares = (f"spec.container.resources.{part}.{name}" for part in parts for name in lists["resources"])
    return (*shares, *lists[table], *lists["kindFields"].get(kind, ()))


def is_free_kernel_argument(argument: str) -> bool:
    return argument in _lists()["kernelArguments"]


def is_free(table: str, name: str, value: Any) -> bool:
    """Whether a name is in a table, and its value has the form of that table."""
    form = free_names(table).get(name)
    return form is not None and has_form(form, value)


def has_form(form: str, value: Any) -> bool:
    """Whether a value of YAML is of a form; a text that looks like a number or a switch is one."""
    if form == _BOOLEAN:
        return isinstance(value, bool)
    text = _scalar(value)
    if text is None:
        return False
    pattern = _FORMS.get(form)
    return pattern.fullmatch(text) is not None if pattern is not None else text in form.split("|")


def is_free_value(path: tuple[str, ...], value: Any) -> bool:
    """Whether a Helm value may be set without anybody's leave: by its whole path, and only in its form."""
    dotted = ".".join(path)
    if value is None or value == {}:
        return path[-1:] == ("resources",) and len(path) > 1
    if is_free("values", dotted, value):
        return True
    if len(path) > 1 and any(
        len(path) > pattern.count(".") and dotted.endswith(pattern[1:]) and has_form(form, value)
        for pattern, form in free_names("inAny").items()
    ):
        return True
    return _is_free_text(dotted, value)


def _is_free_text(dotted: str, value: Any) -> bool:
    place = next((one for one in _lists()["texts"] if dotted.startswith(f"{one}.")), None)
    if place is None or not isinstance(value, str) or _DATA_KEY.fullmatch(dotted[len(place) + 1 :]) is None:
        return False
    return place != _PLUGIN_DATA or _is_free_plugin_config(value)


def _is_free_plugin_config(text: str) -> bool:
    if len(text) > _LARGEST_TEXT:
        return False
    try:
        documents = read_documents(text)
    except YamlProblem:
        return False
    allowed = {tuple(field.lower().split(".")) for field in _lists()["pluginFields"]}
    return all(_is_within(document, (), allowed) for document in documents)


def _is_within(node: Any, path: tuple[str, ...], allowed: set[tuple[str, ...]]) -> bool:
    """Whether all of a tree lies at or below allowed places. Letter case does not matter to the reader of it."""
    if path in allowed:
        return True
    if not isinstance(node, dict):
        return not path and node is None
    return all(_is_within(below, (*path, str(key).lower()), allowed) for key, below in node.items())


def _scalar(value: Any) -> str | None:
    """As a line of a manifest would have it."""
    return text_of(value) if isinstance(value, int | float | str) else None
