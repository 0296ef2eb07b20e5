"""Findings before and after a change: which are new, which are fixed.

A finding is the same one while it says the same of the same thing: lines may move, a field may move to another file,
and pools and clusters may have other names. One that weighs more than before, or that nobody accepts any more, is new.

Findings that a change brings and fixes, one point for each rule; self grants; what nobody can tell.

What a change allows itself: all below `policies/`, and the files that run or decide the check.

What lets more pass is judged where `check --policies-from` judges it. The same questions asked the other way round
say what lets less pass than before.

New pools whose nodes may be taken over by leave that nobody gave for them: grants for pools by a pattern.

A grant for `*` was reviewed when it was written. A pool that comes later is admitted without a finding; whoever merges
it has to be told once, and not by each privilege.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any

from poolsmith.change.diff.change_report import AdmittedPool, OwnLeave, PoolChange, SelfGrant
from poolsmith.change.diff.change_sections import Point, Weight
from poolsmith.change.diff.content_points import Gathered
from poolsmith.change.diff.touched_clusters import of_clusters
from poolsmith.change.review.widened_admission import widened_admission
from poolsmith.change.review.widened_grants import widened_grants
from poolsmith.change.review.widened_settings import widened_enforcement, widened_rules, widened_supply, widened_waivers
from poolsmith.core.diagnostics import Severity, sorted_unique, whole_file
from poolsmith.core.diagnostics.codes.hygiene import OUT_OF_DATE
from poolsmith.core.diagnostics.message_text import counted, joined, listed, shorten
from poolsmith.core.sources.pointer import value_at
from poolsmith.guard.ledger.reach import Reach
from poolsmith.guard.policies.policy_files import ENFORCEMENT, POLICIES, RULES, SUPPLY
from poolsmith.kubernetes.server.field_changes import Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    from poolsmith.change.diff.change_report import ChangeReport, ClusterDiff
    from poolsmith.change.diff.change_sections import Fleet
    from poolsmith.change.review.seen_cluster import SeenCluster
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.guard.ledger.grants.matching import GrantBook


Findings = tuple["Diagnostic", ...]
_WORD = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?")


def finding_changes(
    before: Iterable[Diagnostic], after: Iterable[Diagnostic], renamed: Mapping[str, str]
) -> tuple[Findings, Findings]:
    """What is new, and what is fixed. `renamed` are the new names of pools and clusters by old
    ones, and the new release by the old one."""
    old, new = list(sorted_unique(before)), list(sorted_unique(after))
    for telling in (_placed, _told):
        for names in ({}, renamed) if renamed else ({},):
            old, new = _without_pairs(old, new, partial(telling, names=names), partial(telling, names={}))
    return tuple(new), tuple(old)


def _placed(item: Diagnostic, names: Mapping[str, str]) -> Hashable:
    span = item.primary.span
    message = "" if item.code == OUT_OF_DATE.code else item.message  # other files of a folder that was not current
    told = (message, span.path, item.primary.pointer, item.subject)
    return item.code, item.severity, item.status, *(_renamed(text, names) for text in told)


def _told(item: Diagnostic, names: Mapping[str, str]) -> Hashable:
    """Wherever it stands: the same line may have moved to a base."""
    told = (_renamed(text, names) for text in (item.message, item.subject))
    return item.code, item.severity, item.status, *told


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
        told = key(item)
        if left[told]:
            left[told] -= 1
        else:
            kept.append(item)
    return kept


_WEIGHTS = {Severity.ERROR: Weight.GRAVE, Severity.WARNING: Weight.NOTABLE, Severity.NOTE: Weight.PLAIN}
_FEW = 6
_OUTPUT = "output/clusters/"


def finding_points(findings: Iterable[Diagnostic], *, new: bool) -> tuple[Point, ...]:
    """The worst first. Of several of one rule the first is told, and the others in the details."""
    groups: dict[tuple[Severity, str, bool], list[Diagnostic]] = defaultdict(list)
    for item in findings:
        groups[item.severity, item.code, item.is_waived].append(item)
    points = [_finding_point(found, new=new) for found in groups.values()]
    return tuple(sorted(points, key=lambda point: (point.weight.rank, -point.stands_for)))


def notes_in_short(points: Iterable[Point]) -> str:
    """The rules of findings that are all folded: `3 notes: PSM248, PSM304, PSM405`."""
    found = list(points)
    codes = dict.fromkeys(point.words.split(" ", 2)[1] for point in found)
    return f"{counted(sum(point.stands_for for point in found), 'note')}: {joined(codes, _FEW)}"


def _finding_point(found: list[Diagnostic], *, new: bool) -> Point:
    first = found[0]
    more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
    waived = ", waived" if first.is_waived else ""
    return Point(
        words=f"{first.severity.value} {first.code} {first.name}{waived}: {first.message}{more}",
        weight=_WEIGHTS[first.severity] if new and not first.is_waived else Weight.PLAIN,
        clusters=tuple(sorted({name for item in found if (name := _cluster(item))})),
        places=tuple(dict.fromkeys(item.primary for item in found)),
        details=tuple(f"{item.primary.span}: {item.message}" for item in found[1:]),
        stands_for=len(found),
        is_note=first.severity is Severity.NOTE or first.is_waived,
    )


def _cluster(item: Diagnostic) -> str:
    path = item.primary.span.path
    return path[len(_OUTPUT) :].partition("/")[0] if path.startswith(_OUTPUT) else of_clusters(path)


def self_grant_points(grants: Iterable[SelfGrant]) -> tuple[Point, ...]:
    """What lets more pass first."""
    points = [
        Point(words=item.what, weight=Weight.GRAVE if item.widens else Weight.PLAIN, places=(item.place,))
        for item in grants
    ]
    return tuple(sorted(points, key=lambda point: point.weight.rank))


def unknown_points(report: ChangeReport, fleet: Fleet) -> tuple[Point, ...]:
    gathered = Gathered(fleet)
    for cluster in report.clusters:
        for text in cluster.unknown:

            def told(where: str, text: str = text) -> str:
                return f"{text} ({where})" if where else text

            gathered.add((text,), told, cluster.name, weight=Weight.GRAVE)
    return (*(Point(words=text, weight=Weight.GRAVE) for text in report.unknown), *gathered.points())


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
    if kind is OwnLeave.ADMISSION:
        return {_name(body): file.path for file in policies.admission[0] for body in file.documents}
    return {}


def _name(body: Any) -> str:
    return str(value_at(body, ("metadata", "name"), ""))


_ADMITTED_POOLS_FEW = 3


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
    leave: dict[str, dict[str, None]] = {}
    for line in after.prediction.ledger.lines:
        if line.pool not in new or line.reach is not Reach.NODE_ROOT:
            continue
        repository = repositories.get((line.namespace, line.workload, line.container), "")
        allowing = [grants.grants[item.grant] for item in grants.granting(line, repository, given)]
        if allowing and not any(line.pool in grant.spec.pools for grant in allowing):
            found.setdefault(line.pool, set()).add((line.workload, line.container))
            leave.setdefault(line.pool, {}).update(dict.fromkeys(grant.name for grant in allowing[:1]))
    return tuple(
        AdmittedPool(
            pool=name,
            workloads=len({workload for workload, _ in found[name]}),
            containers=len(found[name]),
            grants=tuple(sorted(leave[name])),
            place=new[name].place,
        )
        for name in sorted(found)
    )


def admitted_points(clusters: Iterable[ClusterDiff]) -> Iterator[Point]:
    """Once for the pools of a cluster that are admitted alike."""
    for cluster in clusters:
        alike: dict[tuple[object, ...], list[AdmittedPool]] = {}
        for item in cluster.admitted:
            alike.setdefault((item.workloads, item.grants), []).append(item)
        for items in alike.values():
            who, first = counted(items[0].workloads, "workload"), items[0]
            named = listed((shorten(item.pool) for item in items), _ADMITTED_POOLS_FEW)
            pools = f"pool {named} is" if len(items) == 1 else f"pools {named} are"
            which = "this one" if len(items) == 1 else "these"
            yield Point(
                words=f"{pools} new: {who} may be root there, by {counted(len(first.grants), 'grant')} for pools by a "
                f"pattern and not for {which} ({listed(map(shorten, first.grants), _ADMITTED_POOLS_FEW)})",
                weight=Weight.NOTABLE,
                clusters=(cluster.name,),
                places=tuple(item.place for item in items if item.place is not None),
                stands_for=len(items),
            )
