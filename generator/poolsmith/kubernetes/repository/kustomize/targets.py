"""How patches and replacements choose objects, with the regular expressions of kustomize's selectors.

Source: kustomize api/types/selector.go, api/resmap/reswrangler.go (Select), and apimachinery's label selectors.

Go's regexp reads the expressions, and the whole text has to match. They are untrusted: an expression that could take
Python's engine a long time is not tried, and matches nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern as compiled_later
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.kubernetes.repository.kustomize.item import NOWHERE, RefusedError, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.kubernetes.repository.kustomize.item import Identity, Item


_PLAIN = compiled_later(r"[\w/-]*")
_KEY = r"[A-Za-z0-9](?:[\w./-]*[A-Za-z0-9])?"
_EQUAL = compiled_later(rf"({_KEY})\s*(==|=|!=)\s*([\w.-]*)")
_AMONG = compiled_later(rf"({_KEY})\s+(in|notin)\s*\(([^()]*)\)")
_EXISTS = compiled_later(rf"(!?)\s*({_KEY})")


def selects(target: Mapping[str, Any], item: Item) -> bool:
    """Whether the selector of a patch chooses an object, by its first or present name. Raises RefusedError."""
    now, first = item.identity, item.first
    if not any(_matches(target, "namespace", identity.place) for identity in (first, now)):
        return False
    if not any(_matches(target, "name", identity.name) for identity in (first, now)):
        return False
    return is_of_kind(target, now) and is_marked(target, item)


def is_of_kind(target: Mapping[str, Any], identity: Identity) -> bool:
    return all(_matches(target, key, own) for key, own in zip(("group", "version", "kind"), identity[:3], strict=True))


def selects_identity(target: Mapping[str, Any], identity: Identity) -> bool:
    """As `replacements` choose their targets: by expressions too, and by any name that an object ever had."""
    return (
        is_of_kind(target, identity)
        and _matches(target, "name", identity.name)
        and _matches(target, "namespace", identity.namespace)
    )


def is_source(selector: Mapping[str, Any], identity: Identity) -> bool:
    """As `replacements` choose their source: word by word."""
    group, version, kind, name, namespace = (
        text_of(selector.get(key)) for key in ("group", "version", "kind", "name", "namespace")
    )
    if (name and name != identity.name) or not identity.is_selected(group, version, kind):
        return False
    return not namespace or namespace == identity.place or (namespace == NOWHERE and identity.place == NOWHERE)


def is_marked(target: Mapping[str, Any], item: Item) -> bool:
    """Whether labels and annotations are as selectors want them."""
    metadata = mapping(item.data.get("metadata"))
    return _selected(word(target.get("labelSelector")), mapping(metadata.get("labels"))) and _selected(
        word(target.get("annotationSelector")), mapping(metadata.get("annotations"))
    )


def _matches(target: Mapping[str, Any], key: str, text: str) -> bool:
    pattern = target.get(key)
    if pattern is None or pattern == "":
        return True
    if not isinstance(pattern, str):
        raise RefusedError(f"`{key}` of a target is no text")
    if is_plain(pattern):
        return pattern == text
    return matches(pattern, text)


def is_plain(pattern: str) -> bool:
    """Whether it chooses what is written alike, and nothing else."""
    return _PLAIN.fullmatch(pattern) is not None


def _selected(selector: str, marks: Mapping[str, Any]) -> bool:
    return all(_holds(term.strip(), marks) for term in (_terms(selector) if selector else ()))


@lru_cache(maxsize=256)
def _terms(selector: str) -> tuple[str, ...]:
    """What stands between commas, but for those before a parenthesis that closes."""
    found, end, within = [], len(selector), False
    for at in range(end - 1, -1, -1):
        sign = selector[at]
        if sign in "()":
            within = sign == ")"
        elif sign == "," and not within:
            found.append(selector[at + 1 : end])
            end = at
    return (selector[:end], *reversed(found))


def _holds(term: str, marks: Mapping[str, Any]) -> bool:
    if found := _EQUAL.fullmatch(term):
        is_equal = found[1] in marks and text_of(marks[found[1]]) == found[3]
        return is_equal is not (found[2] == "!=")
    if found := _AMONG.fullmatch(term):
        values = {value.strip() for value in found[3].split(",")}
        is_among = found[1] in marks and text_of(marks[found[1]]) in values
        return is_among is not (found[2] == "notin")
    if found := _EXISTS.fullmatch(term):
        return (found[2] in marks) is not bool(found[1])
    raise RefusedError(f"`{term[:60]}` is no selector")


_QUANTIFIERS = compiled_later(r"(?<!\\)[*+]|(?<!\\)\{")
_AFTER_GROUP = compiled_later(r"\)\s*[*+{]")
_MOST_QUANTIFIERS = 3
_MOST_TEXT = 253


def matches(pattern: str, text: str) -> bool:
    """False too where the pattern is no expression, or one that is too costly."""
    compiled = _compiled(pattern)
    return compiled is not None and len(text) <= _MOST_TEXT and compiled.fullmatch(text) is not None


def searches(pattern: str, text: str) -> bool:
    """Whether some part of the text is as the pattern wants it."""
    compiled = _compiled(pattern)
    return compiled is not None and len(text) <= _MOST_TEXT and compiled.search(text) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    if len(_QUANTIFIERS.findall(pattern)) > _MOST_QUANTIFIERS or _AFTER_GROUP.search(pattern):
        return None
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return None
