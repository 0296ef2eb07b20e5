"""Label selectors, on labels of which not all may be known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import mapping, mappings, word, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Requirement = tuple[str, str, tuple[str, ...]]
"""Key, operator, values."""

OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


def selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str], *, complete: bool = True) -> bool | None:
    """Whether the selector fits; None where that hangs on labels beside `labels`. No selector fits all."""
    answers = {_holds(item, labels, complete) for item in requirements(selector)}
    if False in answers:
        return False
    return None if None in answers else True


def requirements(selector: Mapping[str, Any] | None) -> Iterator[Requirement]:
    for key, value in mapping(mapping(selector).get("matchLabels")).items():
        yield key, "In", (value,) if isinstance(value, str) else ()
    for item in mappings(mapping(selector).get("matchExpressions")):
        yield word(item.get("key")), word(item.get("operator")), words(item.get("values"), empty=True)


def labels_of(body: Mapping[str, Any] | None) -> dict[str, str]:
    labels = mapping(mapping(mapping(body).get("metadata")).get("labels"))
    return {key: value for key, value in labels.items() if isinstance(value, str)}


def selector_problem(selector: Mapping[str, Any] | None) -> str | None:
    """Why the API server would not take it."""
    for key, operator, values in requirements(selector):
        if not key:
            return "a requirement has no key"
        if operator not in OPERATORS:
            return f"`{operator}` is no operator of a label selector; there are {', '.join(OPERATORS)}"
        if operator in ("In", "NotIn") and not values:
            return f"for `{operator}`, `values` must not be empty"
        if operator in ("Exists", "DoesNotExist") and values:
            return f"for `{operator}`, `values` must be empty"
    return None


def _holds(requirement: Requirement, labels: Mapping[str, str], complete: bool) -> bool | None:
    key, operator, values = requirement
    if key not in labels and not complete:
        return None
    found = labels.get(key)
    if operator == "In":
        return found in values
    if operator == "NotIn":
        return found not in values
    return (found is not None) == (operator == "Exists")
