"""What the result of one cluster may say: of that cluster only, and nothing that no shard finds out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.diagnostic import OPEN
from poolsmith.core.diagnostics.known_rules import known_rules
from poolsmith.core.diagnostics.outcome import LEFT_OUT_FOR_ERRORS
from poolsmith.core.shape.field import DNS_LABEL, matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.guard.ledger.grants.grant import PrivilegeGrant
    from poolsmith.guard.ledger.grants.use import LedgerUse
    from poolsmith.guard.rules.schema.object_schemas import SchemaResult
    from poolsmith.interface.app.cluster_judgement import Judgement
    from poolsmith.interface.app.cluster_result import ClusterResult

_COUNTED = re.compile(r"[A-Za-z][A-Za-z -]{0,60}")
_VERSION = re.compile(r"(?:v?\d{1,4}(?:\.\d{1,4}){1,3}(?:-[a-z0-9.]{1,20})?)?")


def unfit(result: ClusterResult, review: tuple[Diagnostic, ...], *, is_judged: bool) -> str:
    """Why it can't be what a shard found out; empty for nothing."""
    folder, judged = result.folder, result.judgement
    if not all(matches(DNS_LABEL, name) for name in result.admission or ()):
        return "a namespace that is none"
    if (judged is not None) is not (is_judged and folder is not None) or (review and not is_judged):
        return "a cluster that was judged otherwise than the others"
    findings = folder.findings if folder is not None else None
    if folder is not None and (findings is not None) is not is_judged and not (is_judged and folder.diagnostics):
        return "a folder that was judged otherwise than the others"
    if findings is not None and not _is_of_schemas(findings.schemas):
        return "versions of schemas that there are none of"
    told = (*result.diagnostics, *review, *(folder.diagnostics if folder is not None else ()))
    if not all(map(_is_of_a_rule, (*told, *(findings.diagnostics if findings is not None else ())))):
        return "a finding of no rule, or one that somebody has waived"
    return _unfit_judgement(result.name, judged) if judged is not None else ""


def _is_of_a_rule(item: Diagnostic) -> bool:
    rule = known_rules().get(item.code)
    return rule is not None and (rule.code, rule.name) == (item.code, item.name) and item.status == OPEN


def _is_of_schemas(item: SchemaResult) -> bool:
    return all(_VERSION.fullmatch(version) is not None for version in (item.kubernetes, item.operator or ""))


def _unfit_judgement(name: str, judged: Judgement) -> str:
    use = judged.grant_use
    if use is None or use.cluster != name or any(item.cluster not in ("", name) for item in judged.unevaluated):
        return "a cluster that speaks for another one"
    if any(item.what == LEFT_OUT_FOR_ERRORS for item in judged.skipped):
        return "a cluster that was judged, and left out"
    return "" if all(map(_COUNTED.fullmatch, judged.checked)) else "a count of nothing that is counted"


def knows_grants(judged: Judgement | None, grants: Sequence[PrivilegeGrant]) -> bool:
    """Whether what a cluster needs of grants are grants that there are."""
    use = judged.grant_use.use if judged is not None and judged.grant_use is not None else None
    return use is None or all(_is_there(place, grants) for place in _places(use))


def _places(use: LedgerUse) -> Iterator[tuple[int, int]]:
    """Of grants, and of their tokens; 0 stands for the grant as a whole."""
    yield from use.exact
    yield from use.wider
    named: Iterable[int] = (grant for found in (use.containers, use.repositories, use.pools) for grant, _ in found)
    yield from ((grant, 0) for grant in (*named, *use.met))


def _is_there(place: tuple[int, int], grants: Sequence[PrivilegeGrant]) -> bool:
    grant, token = place
    return grant < len(grants) and (token == 0 or token < len(grants[grant].tokens))
