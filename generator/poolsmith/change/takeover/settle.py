"""Profiles that come as near to what is installed as profiles can, found by generating and comparing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.takeover.effective import differing, effective, leaves, tree_of
from poolsmith.change.takeover.fields import proposed_fields, proposed_of_driver
from poolsmith.core.record import record
from poolsmith.core.sources.nested import MISSING, overlap, value_at
from poolsmith.core.sources.pointer import split
from poolsmith.fleet.plan.plan import values_tree
from poolsmith.fleet.profiles.fleet import PROFILES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.change.takeover.draft import ClusterDraft, ProfileDraft
    from poolsmith.change.takeover.effective import Path
    from poolsmith.change.takeover.fields import Proposed
    from poolsmith.change.takeover.planning import Planned, Planner
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.gpu.catalog import Chart

    Proposal = tuple[Proposed, list[ProfileDraft]]
    Drivers = list[Mapping[str, Any]]

_VALUES = ("stack", "values")
_KEPT_FIELDS = frozenset((("driver", "source"),))
_MOST_ROUNDS = 40


@record(frozen=False)
class Settled:
    """`left_out`: values by their paths, with what keeps them from the profiles. `kept`: those in `stack.values`.

    `by_field`: values by their paths, with the field that holds them. `errors` are what keeps the profiles from being
    generated: something that the repository does not say, or what no profile may have.
    """

    draft: ClusterDraft
    plan: ClusterPlan | None
    wanted: dict[str, Any]
    by_field: dict[Path, str]
    kept: dict[Path, Any]
    left_out: dict[Path, str]
    errors: tuple[Diagnostic, ...] = ()


def settle(draft: ClusterDraft, values: dict[str, Any], chart: Chart, planner: Planner, drivers: Drivers) -> Settled:
    """`draft` has what is no value of the chart; `values` are those of the installation, `drivers` the specs of driver
    objects, one for each pool, or none."""
    wanted = effective(chart.defaults, values)
    state = Settled(draft=draft.copied(), plan=None, wanted=wanted, by_field={}, kept={}, left_out={})
    proposed = _proposals(state.draft, wanted, chart, drivers)
    for item, profiles in proposed:
        _put(item, profiles)
        if not drivers or item.of_cluster:
            state.by_field[item.value] = ".".join(item.field)
    planned = _with_fields(state, proposed, planner)
    _use_values(state, values, chart, planned.plan)
    for _ in range(_MOST_ROUNDS):
        write_values(state)
        planned = planner.plan(state.draft)
        if planned.plan is not None or not drop_values(state, planned.errors):
            break
    state.plan, state.errors = planned.plan, planned.errors
    return state


def score(
    draft: ClusterDraft, values: dict[str, Any], chart: Chart, planner: Planner, drivers: Drivers
) -> tuple[int, int]:
    """How far the profiles are from what is installed, before anything is kept: lower is nearer."""
    trial = draft.copied()
    wanted = effective(chart.defaults, values)
    for item, profiles in _proposals(trial, wanted, chart, drivers):
        _put(item, profiles)
    planned = planner.plan(trial)
    if planned.plan is None:
        return len(planned.errors), 0
    given = values_tree(setting for setting in planned.plan.values if setting.path[0] in _OF_NODES)
    here = effective(chart.defaults, given)
    mine, theirs = ({key: tree.get(key, {}) for key in _OF_NODES} for tree in (here, wanted))
    return 0, sum(_distance(one, other) for _, one, other in differing(mine, theirs))


def _distance(one: Any, other: Any) -> int:
    """Of lists, the items that only one of them has."""
    if isinstance(one, list) and isinstance(other, list):
        return sum(item not in other for item in one) + sum(item not in one for item in other)
    return 1


_OF_NODES = ("toolkit", "devicePlugin", "operator", "hostPaths", "driver")
"""Where the chart is told what nodes are like."""


def _proposals(draft: ClusterDraft, wanted: dict[str, Any], chart: Chart, drivers: Drivers) -> list[Proposal]:
    """Fields, and the profiles that they go to. What driver objects say is not read from the values again."""
    found: list[Proposal] = []
    for item in proposed_fields(wanted, chart.default):
        if item.of_cluster:
            found.append((item, [draft.cluster]))
        elif not drivers or item.field[0] == "toolkit":
            found.append((item, draft.pools))
    for pool, spec in zip(draft.pools, drivers, strict=False):
        found += [(item, [pool]) for item in proposed_of_driver(spec, chart.default)]
    return found


def _put(item: Proposed, profiles: list[ProfileDraft]) -> None:
    for profile in profiles:
        if profile.is_fixed(item.field):
            continue
        profile.fields[item.field] = item.content
        for path, content in item.also:
            profile.fields.setdefault(path, content)
            profile.assumed.add(path)
        if item.field == ("nodes", "taints"):
            profile.assumed.add(item.field)


def _with_fields(state: Settled, proposed: list[Proposal], planner: Planner) -> Planned:
    """Without those fields that a plan refuses; their values are looked at as values then."""
    planned = planner.plan(state.draft)
    for _ in range(len(proposed)):
        told = ((pair, _hit(pair, planned.errors, state)) for pair in proposed if pair[0].field not in _KEPT_FIELDS)
        refused = [(pair, reason) for pair, reason in told if reason is not None]
        if planned.plan is not None or not refused:
            break
        for pair, reason in refused:
            proposed.remove(pair)
            item, profiles = pair
            state.by_field.pop(item.value, None)
            state.left_out[item.value] = reason
            for profile in profiles:
                profile.fields.pop(item.field, None)
        planned = planner.plan(state.draft)
    return planned


def _hit(pair: Proposal, errors: tuple[Diagnostic, ...], state: Settled) -> str | None:
    """What is wrong with a field, if something is."""
    item, profiles = pair
    paths = {_path(state.draft, profile) for profile in profiles}
    for error in errors:
        steps = split(error.primary.pointer)[1:]
        if error.primary.span.path in paths and len(steps) > 1 and overlap(item.field, steps):
            return f"{error.message} ({error.code})"
    return None


def _path(draft: ClusterDraft, profile: ProfileDraft) -> str:
    name = "cluster" if profile is draft.cluster else profile.name
    return f"{PROFILES}/{draft.name}/{name}.yaml"


def _use_values(state: Settled, values: dict[str, Any], chart: Chart, plan: ClusterPlan | None) -> None:
    """All values that make a difference, and that the profiles don't come to already."""
    settings = plan.values if plan is not None else ()
    here = effective(chart.defaults, values_tree(settings))
    for path, value in leaves(values, chart.accepts):
        if value_at(here, path, MISSING) == value_at(state.wanted, path, MISSING):
            continue
        if path in state.by_field:
            continue
        state.kept[path] = value


def write_values(state: Settled) -> None:
    """What is kept, as `stack.values`."""
    fields = state.draft.cluster.fields
    fields.pop(_VALUES, None)
    if state.kept:
        fields[_VALUES] = tree_of(state.kept)


def drop_values(state: Settled, errors: tuple[Diagnostic, ...]) -> bool:
    """Leave out the values that errors are about. False where none of them is about a value."""
    dropped = False
    for error in errors:
        steps = split(error.primary.pointer)
        if steps[:3] != ("spec", *_VALUES) or len(steps) == 3:  # noqa: PLR2004 - all values, and none of them
            continue
        for path in [path for path in state.kept if overlap(path, steps[3:])]:
            del state.kept[path]
            state.left_out[path] = f"{error.message} ({error.code})"
            dropped = True
    return dropped
