"""Profile fields that reproduce an installation, found by proposing, generating and comparing.

A row of the table proposes a field for a value of the chart. Whether it holds is seen when the profiles are generated
and compared with what is installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.takeover.effective import differing, effective
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import MISSING, copied, leaves_of, overlap, split, tree_of, value_at
from poolsmith.fleet.plan.driver.upgrade_policies import policy_fields
from poolsmith.fleet.plan.plan import values_tree
from poolsmith.fleet.profiles.driver import UpgradePolicy
from poolsmith.fleet.profiles.fleet import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from poolsmith.change.takeover.effective import Path


_FULL = pattern(r"\d{1,4}(\.\d{1,6}){1,3}(-[A-Za-z0-9][A-Za-z0-9._-]{0,40})?")
_BRANCH = pattern(r"\d{3,4}")


@record(kw_only=False)
class SettledRow:
    """`value` of the chart becomes `field` of every pool, or of the cluster; None of a value that it can't hold."""

    value: Path
    field: Path
    of_cluster: bool = False
    convert: Callable[[Any], Any] = lambda value: value


def _true(value: Any) -> bool | None:
    return True if value is True else None


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _amount(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _open(value: Any) -> str | None:
    return "open" if value is True else None


def _external(value: Any) -> str | None:
    return "external" if value is False else None


_POLICY = ("driver", "upgradePolicy")
SETTLED_ROWS = (
    SettledRow(("nfd", "enabled"), ("nfd", "provider"), True, _external),
    SettledRow(("driver", "repository"), ("driver", "repository"), False, _text),
    SettledRow(("driver", "kernelModuleType"), ("driver", "kernelModuleType"), False, _text),
    SettledRow(("driver", "useOpenKernelModules"), ("driver", "kernelModuleType"), False, _open),
    SettledRow(("driver", "rdma", "enabled"), ("driver", "rdma"), False, _true),
    SettledRow(("driver", "rdma", "useHostMofed"), ("driver", "useHostMofed"), False, _true),
    SettledRow(("gds", "enabled"), ("driver", "gds"), False, _true),
    SettledRow(("gdrcopy", "enabled"), ("driver", "gdrcopy"), False, _true),
    SettledRow(("hostPaths", "driverInstallDir"), ("driver", "installDir"), False, _text),
    SettledRow(("driver", "licensingConfig", "secretName"), ("driver", "vgpu", "licensingSecret"), False, _text),
    SettledRow(("driver", "licensingConfig", "configMapName"), ("driver", "vgpu", "licensingConfigMap"), False, _text),
    SettledRow((*_POLICY, "autoUpgrade"), (*_POLICY, "autoUpgrade"), False, _flag),
    SettledRow((*_POLICY, "maxParallelUpgrades"), (*_POLICY, "maxParallelUpgrades"), False, _number),
    SettledRow((*_POLICY, "maxUnavailable"), (*_POLICY, "maxUnavailable"), False, _amount),
    SettledRow(
        (*_POLICY, "waitForCompletion", "podSelector"), (*_POLICY, "waitForCompletion", "podSelector"), False, _text
    ),
    *(
        SettledRow((*_POLICY, there, name), (*_POLICY, here, name), False, kind)
        for there, here in (("gpuPodDeletion", "podDeletion"), ("drain", "drain"))
        for name, kind in (("force", _flag), ("deleteEmptyDir", _flag), ("timeoutSeconds", _number))
    ),
    SettledRow((*_POLICY, "drain", "enable"), (*_POLICY, "drain", "enable"), False, _flag),
    SettledRow((*_POLICY, "drain", "podSelector"), (*_POLICY, "drain", "podSelector"), False, _text),
)
_WAIT = (*_POLICY, "waitForCompletion")


@record(kw_only=False)
class Proposed:
    """A value for a field of the profiles."""

    value: Path
    field: Path
    content: Any
    of_cluster: bool = False
    also: tuple[tuple[Path, Any], ...] = ()
    """Fields without which a plan refuses this one; nothing is generated of them alone."""


_BESIDE: dict[Path, tuple[tuple[Path, Any], ...]] = {("driver", "rdma"): ((("nic",), "mellanox"),)}


def proposed_fields(wanted: dict[str, Any], default: Callable[[Path], Any]) -> Iterator[Proposed]:
    """`wanted` are the values that hold today, defaults among them; what comes to the same by itself is left out."""
    yield from _driver_source(wanted)
    ours = policy_fields(UpgradePolicy())
    for row in SETTLED_ROWS:
        value = value_at(wanted, row.value)
        by_itself = value_at(ours, row.field[2:]) if row.field[:2] == _POLICY else default(row.value)
        if value is None or value == by_itself:
            continue
        content = row.convert(value)
        if content is not None:
            yield Proposed(row.value, row.field, content, row.of_cluster, _BESIDE.get(row.field, ()))
    selector, timeout = (value_at(wanted, (*_WAIT, key)) for key in ("podSelector", "timeoutSeconds"))
    if selector and isinstance(timeout, int) and timeout:
        yield Proposed((*_WAIT, "timeoutSeconds"), (*_WAIT, "timeoutSeconds"), timeout)


def proposed_of_driver(spec: Mapping[str, Any], default: Callable[[Path], Any]) -> Iterator[Proposed]:
    """Of an NVIDIADriver, whose fields are named like the values below `driver`."""
    driver = {key: value for key, value in spec.items() if key not in ("gds", "gdrcopy")}
    licence = driver.get("licensingConfig")
    if isinstance(licence, dict) and "name" in licence:
        driver["licensingConfig"] = {**licence, "configMapName": licence["name"]}
    policy = driver.get("upgradePolicy")
    if isinstance(policy, dict) and "podDeletion" in policy:
        driver["upgradePolicy"] = {**policy, "gpuPodDeletion": policy["podDeletion"]}
    wanted = {"driver": driver, "gds": spec.get("gds"), "gdrcopy": spec.get("gdrcopy")}
    yield from proposed_fields(wanted, default)
    taints = [taint for taint in map(_taint, spec.get("tolerations") or ()) if taint is not None]
    if taints:
        yield Proposed(("driver", "tolerations"), ("nodes", "taints"), taints)


def _taint(toleration: Any) -> dict[str, str] | None:
    """What a toleration is there for; None of one that is for many taints."""
    if not isinstance(toleration, dict) or not toleration.get("key") or not toleration.get("effect"):
        return None
    value = {"value": str(toleration["value"])} if toleration.get("value") else {}
    return {"key": str(toleration["key"]), **value, "effect": str(toleration["effect"])}


def _driver_source(wanted: dict[str, Any]) -> Iterator[Proposed]:
    source = ("driver", "source")
    if value_at(wanted, ("driver", "enabled")) is False:
        yield Proposed(("driver", "enabled"), source, "preinstalled")
    else:
        precompiled = value_at(wanted, ("driver", "usePrecompiled")) is True
        yield Proposed(("driver", "usePrecompiled"), source, "precompiled" if precompiled else "container")
        version = value_at(wanted, ("driver", "version"))
        fits = _BRANCH if precompiled else _FULL
        if isinstance(version, str | int) and fits.fullmatch(str(version)):
            yield Proposed(("driver", "version"), ("driver", "version"), str(version))
        yield Proposed(("driver", "upgradePolicy"), ("driver", "upgradePolicy"), {})
    if value_at(wanted, ("toolkit", "enabled")) is False:
        yield Proposed(("toolkit", "enabled"), ("toolkit", "source"), "preinstalled")


if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.change.takeover.draft import ClusterDraft, Planned, Planner, ProfileDraft
    from poolsmith.change.takeover.effective import Path
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.gpu.catalog import Chart

    Proposal = tuple[Proposed, list[ProfileDraft]]
    Drivers = list[Mapping[str, Any]]

_VALUES = ("stack", "values")
_KEPT_FIELDS = frozenset(("driver", field) for field in ("source", "version", "kernelModuleType"))
"""What runs today, right or wrong: another driver would come with the first merge."""
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
    for path, value in leaves_of(values, accepts=chart.accepts):
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
        fields[_VALUES] = tree_of((path, copied(value)) for path, value in state.kept.items())


def drop_values(state: Settled, errors: tuple[Diagnostic, ...]) -> bool:
    """Leave out the values that errors are about. False where none of them is about a value."""
    dropped = False
    for error in errors:
        steps = split(error.primary.pointer)
        if steps[:3] != ("spec", *_VALUES) or len(steps) == 3:  # noqa: PLR2004 - all values, and none of them
            continue
        for path in [path for path in state.kept if overlap(path, steps[3:])]:
            del state.kept[path]
            state.left_out.setdefault(path, f"{error.message} ({error.code})")
            dropped = True
    return dropped
