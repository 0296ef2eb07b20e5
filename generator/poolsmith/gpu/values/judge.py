"""What the rules say of one values document."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.rule_engine import findings_of
from poolsmith.core.record import record
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.gpu.values.document import ValuesDocument
from poolsmith.gpu.values.registry import CHART_VALUE_RULES, VALUE_RULES

if TYPE_CHECKING:
    from poolsmith.core.diagnostics.rule_engine import Found
    from poolsmith.gpu.catalog.value_paths import ReleaseValues
    from poolsmith.gpu.values.document import ValuePlace


@record(kw_only=False)
class ValuesJudgement:
    """What the rules said about one values document.

    `not_evaluated` counts values that nothing is known about, as most of a subchart's.
    """

    findings: tuple[Found[ValuePlace], ...]
    not_evaluated: int


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
    shown: Counter[tuple[str, str]] | None = None,
) -> ValuesJudgement:
    """What a release of a chart makes of a values document, and what the charts inside of it make of theirs.

    `shown` counts the findings of the documents of one file together.
    """
    document = ValuesDocument(values, release, partial=partial, beneath=beneath)
    rules = VALUE_RULES if release.is_of_operator else CHART_VALUE_RULES
    shown = Counter() if shown is None else shown
    findings = list(findings_of(rules, document, shown=shown))
    judged = {item.above for item in document.inner}
    for inner in document.inner:
        findings.extend(findings_of(CHART_VALUE_RULES, inner, shown=shown))
    return ValuesJudgement(
        findings=tuple(findings),
        not_evaluated=sum(path[:1] not in judged and not _is_known(path, release) for path, _ in document.subchart),
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
