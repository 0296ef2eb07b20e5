"""Waivers, rule settings, enforcement and entries of policies/supply.yaml that are less strict than those of the base.

An entry of a supply policy is not reported where one entry of the base allows all that it does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.review.widened_grants import Widening, any_includes, includes
from poolsmith.core.diagnostics import Severity, whole_file
from poolsmith.core.diagnostics.known_rules import known_rules
from poolsmith.core.diagnostics.message_text import cut, listed
from poolsmith.guard.policies.enforcement import DEFAULT_ACTIONS, EnforcementAction, EnforcementSpec
from poolsmith.guard.policies.policy_files import ENFORCEMENT, RULES, SUPPLY
from poolsmith.guard.policies.rule_settings import RuleSetting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics.rule_info import RuleInfo
    from poolsmith.guard.policies.external_names import LoadedName
    from poolsmith.guard.policies.policies import Policies
    from poolsmith.guard.policies.supply.supply_kind import AllowedChart, AllowedDelivery, AllowedGit, SupplySpec
    from poolsmith.guard.policies.supply.supply_policy import Acceptance, Key


_LONGEST = 200
_FEW = 6
_MORE_IS_STRICTER = frozenset((("PSM413", "days"),))
"""Parameters whose greater values find more; a change of any other is for people to judge."""
_BY_DEFAULT = RuleSetting()
_Actions = tuple[EnforcementAction, ...]


def widened_waivers(base: Policies, head: Policies) -> Iterator[Widening]:
    """Findings that would be accepted, or accepted for longer."""
    known = {(item.rule.code, item.waiver.subject): item.last_day for item in base.waivers[0]}
    for item in head.waivers[0]:
        before = known.get((item.rule.code, item.waiver.subject))
        if before is not None and item.last_day <= before:
            continue
        how = f"until {item.last_day}" + (f", and not {before}" if before is not None else "")
        what = f"waiver: `{item.rule.name}` on {cut(item.waiver.subject, _LONGEST)} would pass {how}"
        yield Widening(what, item.place, item.rule.name)


def widened_external(base: Policies, head: Policies) -> Iterator[Widening]:
    """Names that would need no supplier here, or for longer."""
    known = {item.name: item.last_day for item in base.external[0]}
    before = {_who(item): item.last_day for item in base.external[0]}
    for item in head.external[0]:
        if item.name in known or (_who(item) in before and item.last_day <= before[_who(item)]):
            continue
        shown = f"{item.name.kind}/{cut(item.name.name, _LONGEST)}"
        what = f"external name: {shown} would need no supplier here until {item.last_day}"
        yield Widening(what, item.place, shown)


def _who(item: LoadedName) -> tuple[str, str, str | None, tuple[str, ...]]:
    return item.name.kind, item.name.name, item.name.namespace, item.name.clusters


_OF_ONE_SEVERITY = ("PSM4", "PSM6", "PSM7")


def widened_rules(base: Policies, head: Policies) -> Iterator[Widening]:
    """Rules that would find less, or whose findings would weigh less."""
    old, new = base.settings[0].by_code, head.settings[0].by_code
    book = known_rules()
    for code in sorted(old.keys() | new.keys()):
        rule = book[code]
        for what in _weaker(rule, old.get(code, _BY_DEFAULT), new.get(code, _BY_DEFAULT)):
            yield Widening(f"rule `{rule.name}`: {what}", whole_file(head.files.rules or RULES), rule.name)


def _weaker(rule: RuleInfo, old: RuleSetting, new: RuleSetting) -> Iterator[str]:
    if old.enabled and not new.enabled:
        yield "its findings would pass: it is turned off"
    elif old.enabled and _is_less(rule, old.severity, new.severity):
        was, now = old.severity or rule.severity, new.severity or "what the rule itself says"
        yield f"its findings would be {now}, and not {was}"
    for name, default in rule.parameters:
        before, after = old.parameters.get(name, default), new.parameters.get(name, default)
        if after < before or (after != before and (rule.code, name) not in _MORE_IS_STRICTER):
            yield f"`{name}` would be {after}, and not {before}: it would find less"


def _is_less(rule: RuleInfo, old: Severity | None, new: Severity | None) -> bool:
    """A rule may give its findings other severities than its own, as long as nobody sets one for all of them.

    What policies and grants say is never graver than their rules.
    """
    if old == new:
        return False
    if old is None and not rule.code.startswith(_OF_ONE_SEVERITY):
        return new is not Severity.ERROR
    return (new or rule.severity).rank > (old or rule.severity).rank


def widened_enforcement(base: Policies, head: Policies) -> Iterator[Widening]:
    """Pods that API servers would let in, or say less about."""
    old, new = base.enforcement[0], head.enforcement[0]
    place = whole_file(head.files.enforcement or ENFORCEMENT)
    for where, before, after in _weaker_places(old, new):
        what = f"in clusters {listed(where, _FEW)} pods that want more than is granted would meet {_said(after)}"
        yield Widening(f"enforcement: {what}, and not {_said(before)}", place, "enforcement")
    for script in new.scripts:
        if script not in old.scripts:
            what = f"enforcement: containers that run the script `{cut(' '.join(script.split()), _LONGEST)}` would pass"
            yield Widening(what, place, "enforcement")


def _weaker_places(old: EnforcementSpec, new: EnforcementSpec) -> Iterator[tuple[list[str], _Actions, _Actions]]:
    """Patterns of clusters, and the actions there before and after; clusters that nobody chooses have the default."""
    lost = [item for item in old.clusters if not any_includes(new.clusters, item)]
    won = [item for item in new.clusters if not any_includes(old.clusters, item)]
    both = [item for item in (*old.clusters, *new.clusters) if item not in (*lost, *won)]
    if both and _is_weaker(new.actions, old.actions):
        yield list(dict.fromkeys(both)), old.actions, new.actions
    if lost and _is_weaker(DEFAULT_ACTIONS, old.actions):
        yield lost, old.actions, DEFAULT_ACTIONS
    if won and _is_weaker(new.actions, DEFAULT_ACTIONS):
        yield won, DEFAULT_ACTIONS, new.actions


def _is_weaker(now: _Actions, before: _Actions) -> bool:
    """A pod that is denied never gets in, so that what else is said of it does not matter."""
    hardest = next(action for action in EnforcementAction if action in before)
    if hardest not in now:
        return EnforcementAction.DENY not in now
    return hardest is not EnforcementAction.DENY and not set(now) >= set(before)


def _said(actions: _Actions) -> str:
    return " and ".join(action.value for action in EnforcementAction if action in actions)


_LONGEST_ENTRY = 300
_OF_SETTING = 3
"""Parts of the key of a setting: cluster, workload, text. What is unknown has more."""


def widened_supply(base: Policies, head: Policies) -> Iterator[Widening]:
    """The first policy of a repository counts as well: it decides about all changes to come."""
    old, new = base.supply, head.supply
    path = head.files.supply or SUPPLY
    if not new.is_kept:
        if old.is_kept:
            yield Widening(f"{SUPPLY}: without it nothing says where things may come from", whole_file(path), SUPPLY)
        return
    if not old.is_kept:
        what = f"{SUPPLY} is new: from the merge on it says where things may come from, and what is accepted"
        yield Widening(what, whole_file(path), SUPPLY)
    for what in _sources(old.spec, new.spec):
        yield Widening(f"{SUPPLY}: {cut(what, _LONGEST_ENTRY)}", whole_file(path), SUPPLY)
    yield from _acceptances((*old.unknown, *old.settings), (*new.unknown, *new.settings))


def _sources(old: SupplySpec, new: SupplySpec) -> Iterator[str]:
    for word, before, after in (
        ("charts from", old.chart_repositories, new.chart_repositories),
        ("images from", old.image_registries, new.image_registries),
    ):
        if more := [item for item in after if not any(_is_at(item, place) for place in before)]:
            yield f"{word} {listed(more, _FEW)} would pass"
    for chart in new.charts:
        if not any(_chart_covers(other, chart) for other in old.charts):
            versions = f" in versions {listed(chart.versions, _FEW)}" if chart.versions else " in every version"
            yield f"chart `{chart.name}`{versions} would pass"
    for host, mirrors in new.mirrors.items():
        for mirror in mirrors:
            if mirror not in old.mirrors.get(host, ()):
                yield f"images of `{host}` would pass from mirror `{mirror}`"
    yield from _repositories(old.git_repositories, new.git_repositories)
    yield from _deliveries(old.deliveries, new.deliveries)


def _is_at(item: str, place: str) -> bool:
    """Whether all that lies below an address lies below another one as well."""
    return item == place or item.startswith(f"{place.rstrip('/')}/")


def _chart_covers(other: AllowedChart, chart: AllowedChart) -> bool:
    if other.name != chart.name:
        return False
    return not other.versions or (
        bool(chart.versions) and all(any_includes(other.versions, item) for item in chart.versions)
    )


def _repositories(old: tuple[AllowedGit, ...], new: tuple[AllowedGit, ...]) -> Iterator[str]:
    held = _held(item.clusters for item in old)
    for item in new:
        for cluster in item.clusters:
            others = [other for other in old if other.url == item.url and _is_for(other.clusters, cluster, held)]
            for revision in item.revisions:
                missing = [path for path in (*item.paths, None) if not _git_covers(others, revision, path)]
                if missing:
                    paths = [path for path in missing if path is not None]
                    there = f", folders {listed(paths, _FEW)}," if paths else ""
                    yield f"repository `{item.url}` at `{revision}`{there} would pass for clusters `{cluster}`"
    yield from _no_longer_held("Git repositories", old, new)


def _git_covers(others: Iterable[AllowedGit], revision: str, path: str | None) -> bool:
    return any(
        any(_revision_includes(wide, revision) for wide in other.revisions) and (path is None or path in other.paths)
        for other in others
    )


def _revision_includes(wide: str, narrow: str) -> bool:
    """A star stands for no slash."""
    wides, narrows = wide.split("/"), narrow.split("/")
    return len(wides) == len(narrows) and all(map(includes, wides, narrows))


def _deliveries(old: tuple[AllowedDelivery, ...], new: tuple[AllowedDelivery, ...]) -> Iterator[str]:
    held = _held(item.clusters for item in old)
    for item in new:
        for cluster in item.clusters:
            if not any(_delivery_covers(other, item) and _is_for(other.clusters, cluster, held) for other in old):
                where = item.name or item.server or item.source_ref or "the cluster that Argo CD runs in"
                by = f"by the Argo CD `{item.instance}`, projects" if item.instance else "by projects"
                yield f"clusters `{cluster}` could be delivered to `{where}`, {by} {listed(item.projects, _FEW)}"
    yield from _no_longer_held("deliveries", old, new)


def _delivery_covers(other: AllowedDelivery, item: AllowedDelivery) -> bool:
    return (
        (other.name, other.server, other.instance, other.source_ref)
        == (item.name, item.server, item.instance, item.source_ref)
        and set(item.namespaces) <= set(other.namespaces)
        and set(item.projects) <= set(other.projects)
    )


def _held(clusters: Iterable[tuple[str, ...]]) -> frozenset[str]:
    """Clusters that an entry names exactly, and that no other entry is for."""
    return frozenset(name for names in clusters for name in names if not _is_pattern(name))


def _is_for(clusters: tuple[str, ...], cluster: str, held: frozenset[str]) -> bool:
    return cluster in clusters if cluster in held else any_includes(clusters, cluster)


def _no_longer_held(
    what: str,
    old: tuple[AllowedGit, ...] | tuple[AllowedDelivery, ...],
    new: tuple[AllowedGit, ...] | tuple[AllowedDelivery, ...],
) -> Iterator[str]:
    """Clusters that would fall to the entries for many, having had their own."""
    patterns = [name for item in new for name in item.clusters if _is_pattern(name)]
    gone = _held(item.clusters for item in old) - _held(item.clusters for item in new)
    if fallen := sorted(name for name in gone if any_includes(patterns, name)):
        yield f"clusters {listed(fallen, _FEW)} would be held to {what} for many, and no longer to their own"


def _is_pattern(name: str) -> bool:
    return "*" in name or "?" in name


def _acceptances(old: tuple[Acceptance, ...], new: tuple[Acceptance, ...]) -> Iterator[Widening]:
    """An entry for a workload that a pattern of the base has is no news."""
    for item in new:
        before = max((one.last_day for one in old if _accepts_all(one.key, item.key)), default=None)
        if before is None or item.last_day > before:
            how = f"until {item.last_day}" + (f", and not {before}" if before is not None else "")
            yield Widening(f"{SUPPLY}: {cut(item.said, _LONGEST_ENTRY)} would pass {how}", item.place, SUPPLY)


def _accepts_all(wide: Key, narrow: Key) -> bool:
    if wide == narrow:
        return True
    if len(wide) != _OF_SETTING or len(narrow) != _OF_SETTING:
        return False
    return (wide[0], wide[2]) == (narrow[0], narrow[2]) and includes(wide[1], narrow[1])
