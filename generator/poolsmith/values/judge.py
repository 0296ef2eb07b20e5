"""Run the rules over one values document, and bound what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.catalog.value_paths import value_paths
from poolsmith.diagnostics import Severity
from poolsmith.values.document import ValuesDocument
from poolsmith.values.finding import ValueFinding, ValuesJudgement
from poolsmith.values.registry import VALUE_RULES

if TYPE_CHECKING:
    from poolsmith.catalog.value_paths import ReleaseValues

MOST_PER_FILE = 50


def judge_stack_values(values: dict[str, Any], release: str, beneath: dict[str, Any]) -> ValuesJudgement:
    """`stack.values` of a profile, on top of what the profiles generate."""
    known = value_paths().release(release)
    assert known is not None, "every release of the catalog has its value paths; a test holds it"
    return judge_values(values, known, beneath=beneath)


def judge_values(
    values: dict[str, Any],
    release: ReleaseValues,
    *,
    partial: bool = False,
    beneath: dict[str, Any] | None = None,
    most: int = MOST_PER_FILE,
) -> ValuesJudgement:
    """What a release makes of a values document; findings beyond `most` are counted."""
    document = ValuesDocument(values, release, partial=partial, beneath=beneath)
    told: list[ValueFinding] = []
    hidden = hidden_errors = 0
    for rule in VALUE_RULES:
        for finding in rule.check(document):
            if len(told) < most:
                told.append(finding)
            else:
                hidden += 1
                hidden_errors += (finding.severity or finding.rule.severity) is Severity.ERROR
    return ValuesJudgement(
        findings=tuple(told),
        hidden=hidden,
        hidden_errors=hidden_errors,
        values=document.size,
        not_evaluated=sum(not _is_known(path, release) for path, _ in document.subchart),
    )


def _is_known(path: tuple[str, ...], release: ReleaseValues) -> bool:
    """Whether the parent's defaults say something of a value of the subchart; what they leave empty is free."""
    if release.line_defaults is None:
        return False
    node: Any = release.line_defaults
    for key in path:
        if isinstance(node, (list, dict)) and not node:
            return True
        if not isinstance(node, dict) or key not in node:
            return False
        node = node[key]
    return True
