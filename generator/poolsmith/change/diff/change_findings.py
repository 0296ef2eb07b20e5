"""Findings that are new or fixed, permissions that a change grants itself, and new pools that wide grants admit.

A finding is the same while it says the same of the same thing: lines may move, a field may move to another file, and
pools and clusters may have other names. A finding that weighs more than before, or whose waiver is gone, is new.

What lets more pass is judged where `check --policies-from` judges it. The same questions with both sides swapped find
what lets less pass.

A new pool that matches only a grant for pools by a pattern is admitted without a finding, so it is reported once.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from poolsmith.change.diff.change_report import AdmittedPool, OwnLeave, PoolChange, SelfGrant
from poolsmith.change.review.widened_admission import widened_admission
from poolsmith.change.review.widened_grants import widened_grants
from poolsmith.change.review.widened_settings import (
    widened_enforcement,
    widened_external,
    widened_rules,
    widened_supply,
    widened_waivers,
)
from poolsmith.core.diagnostics import Severity, sorted_unique, whole_file
from poolsmith.core.diagnostics.codes.hygiene import OUT_OF_DATE
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import value_at
from poolsmith.guard.ledger.reach import Reach
from poolsmith.guard.policies.policy_files import ENFORCEMENT, POLICIES, RULES, SUPPLY
from poolsmith.kubernetes.server.field_changes import Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    from poolsmith.change.review.seen_cluster import SeenCluster
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.guard.ledger.grants.matching import GrantBook


Findings = tuple["Diagnostic", ...]
_WORD = pattern(r"[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?")


def finding_changes(
    before: Iterable[Diagnostic], after: Iterable[Diagnostic], renamed: Mapping[str, str]
) -> tuple[Findings, Findings]:
    """What is new, and what is fixed. `renamed` are the new names of pools and clusters by old
    ones, and the new release by the old one."""
    old, new = list(sorted_unique(before)), list(sorted_unique(after))
    for identity_of in (_placed, _anywhere):
        for names in ({}, renamed) if renamed else ({},):
            old, new = _without_pairs(old, new, partial(identity_of, names=names), partial(identity_of, names={}))
    return tuple(new), tuple(item for item in old if not _got_worse(item, new))


def _got_worse(item: Diagnostic, new: Iterable[Diagnostic]) -> bool:
    """Whether something graver is said now of the same value, or of one beside it: that is no mend."""
    place = item.primary.span.path, _parent(item)
    return any(
        other.severity.rank < item.severity.rank and (other.primary.span.path, _parent(other)) == place
        for other in new
        if place[1]
    )


def _parent(item: Diagnostic) -> str:
    return item.primary.pointer.rpartition("/")[0]


def _placed(item: Diagnostic, names: Mapping[str, str]) -> Hashable:
    span = item.primary.span
    message = "" if item.code == OUT_OF_DATE.code else item.message  # other files of a folder that was not current
    texts = (message, span.path, item.primary.pointer, item.subject)
    return item.code, item.severity, item.status, *(_renamed(text, names) for text in texts)


def _anywhere(item: Diagnostic, names: Mapping[str, str]) -> Hashable:
    """Wherever it stands: the same line may have moved to a base."""
    texts = (_renamed(text, names) for text in (item.message, item.subject))
    return item.code, item.severity, item.status, *texts


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """The words of a text that are old names, as the new ones; releases have dots in theirs."""
    if not names:
        return text
    for old, new in names.items():
        if "." in old:
            text = text.replace(old, new)
    return _WORD.sub(lambda word: names.get(word[0], word[0]), text)


def _without_pairs(
    old: list[Diagnostic],
    new: list[Diagnostic],
    key_of_old: Callable[[Diagnostic], Hashable],
    key_of_new: Callable[[Diagnostic], Hashable],
) -> tuple[list[Diagnostic], list[Diagnostic]]:
    there = Counter(map(key_of_old, old))
    here = Counter(map(key_of_new, new))
    both = there & here
    return _beyond(old, key_of_old, both), _beyond(new, key_of_new, both)


def _beyond(
    items: list[Diagnostic], key: Callable[[Diagnostic], Hashable], paired: Counter[Hashable]
) -> list[Diagnostic]:
    left = Counter(paired)
    kept = []
    for item in items:
        identity = key(item)
        if left[identity]:
            left[identity] -= 1
        else:
            kept.append(item)
    return kept


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from poolsmith.change.review.widened_grants import Widening
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.guard.policies.policies import Policies

    Question = Callable[[Policies, Policies], Iterator[Widening]]

_QUESTIONS: tuple[tuple[OwnLeave, Question], ...] = (
    (OwnLeave.GRANT, widened_grants),
    (OwnLeave.ENFORCEMENT, widened_enforcement),
    (OwnLeave.WAIVER, widened_waivers),
    (OwnLeave.RULE_SETTING, widened_rules),
    (OwnLeave.ADMISSION, widened_admission),
    (OwnLeave.SOURCE, widened_supply),
    (OwnLeave.EXTERNAL, widened_external),
)
_WHOLE = {OwnLeave.ENFORCEMENT: ENFORCEMENT, OwnLeave.RULE_SETTING: RULES, OwnLeave.SOURCE: SUPPLY}


def self_grants(base: Policies, head: Policies, judge_changes: Iterable[Diagnostic]) -> tuple[SelfGrant, ...]:
    """What widens first, each in the order of OwnLeave. `judge_changes` are findings on files that judge."""
    wider = [*_widened(base, head), *_of_judges(judge_changes)]
    found = [*wider, *_narrowed(base, head, {(item.kind, item.subject) for item in wider})]
    order = list(OwnLeave)
    return tuple(sorted(found, key=lambda item: (not item.widens, order.index(item.kind), item.subject, item.what)))


def _widened(base: Policies, head: Policies) -> Iterator[SelfGrant]:
    for kind, question in _QUESTIONS:
        for item in question(base, head):
            yield SelfGrant(kind=kind, subject=item.subject, what=item.what, widens=True, place=item.place)


def _of_judges(findings: Iterable[Diagnostic]) -> Iterator[SelfGrant]:
    """Files that decide nothing are no leave."""
    for item in findings:
        if item.severity is not Severity.NOTE:
            yield SelfGrant(
                kind=OwnLeave.JUDGE, subject=item.subject, what=item.message, widens=True, place=item.primary
            )


def _narrowed(base: Policies, head: Policies, wider: set[tuple[OwnLeave, str]]) -> Iterator[SelfGrant]:
    """Once for each subject. Of what is merely another, only that it may let more pass is told; a grant can do both."""
    for kind, question in _QUESTIONS:
        before, after = _subjects(kind, base), _subjects(kind, head)
        for subject in dict.fromkeys(item.subject for item in question(head, base)):
            if (kind, subject) in wider and kind is not OwnLeave.GRANT:
                continue
            if kind in _WHOLE or (subject in before and subject in after):
                how = "lets less pass than before"
            else:
                how = "is gone" if subject in before else "is new: what it refuses no longer passes"
            path = _WHOLE.get(kind) or after.get(subject) or before.get(subject) or POLICIES
            what = f"{kind} `{shorten(subject)}` {how}"
            yield SelfGrant(kind=kind, subject=subject, what=what, widens=False, place=whole_file(path))


def _subjects(kind: OwnLeave, policies: Policies) -> dict[str, str]:
    """Files by what they have leave for."""
    if kind is OwnLeave.GRANT:
        return {item.grant.name: item.file.path for item in policies.grants[0]}
    if kind is OwnLeave.WAIVER:
        return {item.rule.name: item.place.span.path for item in policies.waivers[0]}
    if kind is OwnLeave.EXTERNAL:
        return {f"{item.name.kind}/{item.name.name}": item.place.span.path for item in policies.external[0]}
    if kind is OwnLeave.ADMISSION:
        return {_name(body): file.path for file in policies.admission[0] for body in file.documents}
    return {}


def _name(body: Any) -> str:
    return str(value_at(body, ("metadata", "name"), ""))


def admitted_pools(
    after: SeenCluster, pools: Iterable[PoolChange], grants: GrantBook | None
) -> tuple[AdmittedPool, ...]:
    """Of the pools that are new; `grants` are those that judge, None where none are kept."""
    new = {pool.name: pool for pool in pools if pool.standing is Standing.ADDED}
    if grants is None or not new:
        return ()
    repositories = grants.repositories(after.prediction.installation.made, after.plan.cluster.spec.registry.mirrors)
    given = grants.of_cluster(after.plan.name)
    found: dict[str, set[tuple[str, str]]] = {}
    granted_by: dict[str, dict[str, None]] = {}
    for line in after.prediction.ledger.lines:
        if line.pool not in new or line.reach is not Reach.NODE_ROOT:
            continue
        repository = repositories.get((line.namespace, line.workload, line.container), "")
        allowing = [grants.grants[item.grant] for item in grants.granting(line, repository, given)]
        if allowing and not any(line.pool in grant.spec.pools for grant in allowing):
            found.setdefault(line.pool, set()).add((line.workload, line.container))
            granted_by.setdefault(line.pool, {}).update(dict.fromkeys(grant.name for grant in allowing[:1]))
    return tuple(
        AdmittedPool(
            pool=name,
            workloads=len({workload for workload, _ in found[name]}),
            containers=len(found[name]),
            grants=tuple(sorted(granted_by[name])),
            place=new[name].place,
        )
        for name in sorted(found)
    )
