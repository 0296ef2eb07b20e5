"""A number or boolean where the chart means a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import kind_of
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM324")
_SCALARS = (bool, int, float)
_OF_TEXTS = ("nodeSelector", "Labels", "labels", "Annotations", "annotations")
"""How maps are called that the API server takes with texts alone."""
_VARIABLES = ("env", "extraEnv", "extraEnvs")
_WORDS = ("args", "arguments", "extraArgs", "imagePullSecrets")
"""How lists are called of variables, and of texts."""


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    for item in document.known:
        if item.node.type == "string" and isinstance(item.value, _SCALARS) and document.release.is_of_operator:
            whole = isinstance(item.value, int) and not isinstance(item.value, bool)
            yield _finding(item.path, item.value, Severity.WARNING if whole and item.node.quoted else Severity.ERROR)
        elif isinstance(item.value, list):
            yield from _entries(item.path, item.value)
        elif isinstance(item.value, dict) and item.path[-1].endswith(_OF_TEXTS) and _is_by_itself(document):
            wrong = ((key, value) for key, value in item.value.items() if isinstance(value, _SCALARS))
            yield from (_finding((*item.path, key), value, Severity.ERROR) for key, value in wrong)


def _is_by_itself(document: ValuesDocument) -> bool:
    """Whether it is a chart of which nobody renders all objects, as is done for the operator's."""
    return not document.release.is_of_operator and not document.above


def _entries(path: tuple[str, ...], entries: list[Any]) -> Iterator[Finding[ValuePlace]]:
    is_env, is_text = path[-1] in _VARIABLES, path[-1] in _WORDS
    if not is_env and not is_text:
        return
    for index, entry in enumerate(entries):
        if is_text and isinstance(entry, _SCALARS):
            yield _finding((*path, index), entry, Severity.ERROR)
        elif is_env and isinstance(entry, dict) and isinstance(entry.get("value"), _SCALARS):
            yield _finding((*path, index, "value"), entry["value"], Severity.ERROR)


def _finding(path: tuple[str | int, ...], value: Any, severity: Severity) -> Finding[ValuePlace]:
    what = f"`{dotted(path)}` is {kind_of(value)}, but a string is needed"
    return Finding(place=path, message=what, severity=severity)
