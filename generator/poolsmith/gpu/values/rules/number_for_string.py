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

RULE = RuleInfo(
    code="PSM324",
    name="number-for-string",
    applies_to="values",
    what="Helm values have a number or a boolean where the chart needs a text: a version, the value of a variable.",
    why="YAML reads `570.10` as 570.1 before Helm sees it. If a variable is not a text, the API server refuses the "
    "object. A whole number that the template quotes survives, and is a warning.",
    fix="quote it",
    bad="driver:\n  version: 570.10\n",
    good="driver:\n  version: '570.10'\n",
    references=("NVIDIA/gpu-operator issue 207",),
)
_SCALARS = (bool, int, float)


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    for item in document.known:
        if item.node.type == "string" and isinstance(item.value, _SCALARS):
            whole = isinstance(item.value, int) and not isinstance(item.value, bool)
            yield _finding(item.path, item.value, Severity.WARNING if whole and item.node.quoted else Severity.ERROR)
        elif isinstance(item.value, list):
            yield from _entries(item.path, item.value)


def _entries(path: tuple[str, ...], entries: list[Any]) -> Iterator[Finding[ValuePlace]]:
    is_env, is_text = path[-1] == "env", path[-1] in ("args", "imagePullSecrets")
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
