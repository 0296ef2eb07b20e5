"""What Flux's postBuild puts into texts: `${name}` with defaults and operators, as drone/envsubst reads them.

Source: fluxcd/pkg kustomize/kustomize_varsub.go (variables are looked up in each object's YAML, which is read again
afterwards), and drone/envsubst.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.scalars import NotJsonError, resolve_plain

if TYPE_CHECKING:
    from collections.abc import Mapping

DISABLED = "kustomize.toolkit.fluxcd.io/substitute"
"""A label or annotation of objects that are left as they are, with the value `disabled`."""
_REFERENCE = re.compile(
    r"\$(?P<escaped>\$)?\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:(?P<operator>:=|:-|=|-|:\?|:\+)(?P<default>[^{}]*)"
    r"|(?P<other>[^{}A-Za-z0-9_][^{}]*))?\}"
)
_NEEDS_QUOTES = re.compile(r"^[\s!&*\-?|>@`\"'%,\[\]{}#:]|:\s|\s#|\s$|:$")


@record
class Variables:
    """`known` by name. `is_complete`: nothing else is put in, so that every other name stands for an empty text;
    otherwise `hidden` are names whose values can't be read, and nobody knows which others there are."""

    known: Mapping[str, str]
    hidden: frozenset[str] = frozenset()
    is_complete: bool = True


def substituted(value: Any, variables: Variables) -> Any:
    """A tree with its variables put in; the same tree where there are none. Unknown ones stay as they are written."""
    if isinstance(value, str):
        return _text(value, variables) if "${" in value else value
    if isinstance(value, dict):
        changed = {key: substituted(item, variables) for key, item in value.items()}
        if any("${" in key for key in changed):
            changed = {str(substituted(key, variables)): item for key, item in changed.items()}
            return changed
        return changed if any(changed[key] is not value[key] for key in changed) else value
    if isinstance(value, list):
        items = [substituted(item, variables) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


def is_left_alone(data: Any) -> bool:
    """Whether an object refuses to have variables put in."""
    metadata = data.get("metadata") if isinstance(data, dict) else None
    if not isinstance(metadata, dict):
        return False
    marks = (metadata.get("labels"), metadata.get("annotations"))
    return any(isinstance(mark, dict) and mark.get(DISABLED) == "disabled" for mark in marks)


def _text(text: str, variables: Variables) -> Any:
    open_ones = False

    def put_in(match: re.Match[str]) -> str:
        nonlocal open_ones
        if match["escaped"]:
            return match[0][1:]
        value = _value(match, variables)
        if value is None:
            open_ones = True
            return match[0]
        return value

    result = _REFERENCE.sub(put_in, text)
    if result == text:
        return text
    if open_ones or "\n" in text or not _was_plain(text):
        return result
    try:
        return resolve_plain(result)
    except NotJsonError:
        return result


def _value(match: re.Match[str], variables: Variables) -> str | None:
    """None where nobody can tell."""
    name, operator, default = match["name"], match["operator"], match["default"]
    value = variables.known.get(name)
    if value is None and (name in variables.hidden or (not variables.is_complete and default is None)):
        return None
    if match["other"] is not None:
        return None if value is not None or not variables.is_complete else ""
    if operator == ":+":
        return default if value else ""
    if operator in (":=", ":-", ":?"):
        return value or (default if operator != ":?" else "")
    if operator in ("=", "-"):
        return default if value is None else value
    return value or ""


def _was_plain(text: str) -> bool:
    """Whether the object's YAML has the text without quotes, so that what is put in decides its type."""
    return _NEEDS_QUOTES.search(text) is None
