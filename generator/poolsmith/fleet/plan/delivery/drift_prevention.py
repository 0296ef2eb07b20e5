"""Passes that write out values where an engine would otherwise see a difference at each sync: defaults and nulls.

The API server fills in defaults. An engine would remove them again in two cases: in the items of a list, which Argo
CD's structured merge replaces as a whole, and where somebody sets a value to null and the chart renders the null. What
is stored is the same.

The chart of some releases writes a null where its defaults have nothing. Server-side apply refuses some of them, and in
place of others the server stores a default, which an engine that compares would remove again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import replace
from poolsmith.core.sources.pointer import overlap
from poolsmith.fleet.plan.facts import with_values
from poolsmith.fleet.plan.origin import Derived, FromCatalog
from poolsmith.fleet.plan.plan import ValueSetting
from poolsmith.gpu.catalog.chart_contents import REFUSED, nulls_of
from poolsmith.gpu.catalog.drift_facts import list_defaults, null_defaults

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.gpu.catalog.drift_facts import ListDefault, NullDefault


DEFAULTS = "server_defaults"
_ADDED = "the server adds this field to items of the list: an engine that compares would never be in sync"
_STORED = "the server stores its default in place of null: an engine that compares would never be in sync"


def write_defaults(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Only fields that are absent, or null, are written."""
    del facts
    values = plan.values
    if not values:
        return plan
    release = plan.cluster.spec.stack.release
    for default in list_defaults(release):
        values = tuple(_completed(setting, default) for setting in values)
    for null in null_defaults(release):
        values = tuple(_in_place_of_null(setting, null) for setting in values)
    return replace(plan, values=values) if values != plan.values else plan


def _completed(setting: ValueSetting, default: ListDefault) -> ValueSetting:
    if setting.path != default.path[: len(setting.path)]:
        return setting
    value = _with_field(setting.value, default.path[len(setting.path) :], default)
    return setting if value == setting.value else _written(setting, value, _ADDED, default)


def _in_place_of_null(setting: ValueSetting, null: NullDefault) -> ValueSetting:
    if setting.path != null.path or setting.value is not None:
        return setting
    return _written(setting, null.value, _STORED, null)


def _written(setting: ValueSetting, value: Any, why: str, default: ListDefault | NullDefault) -> ValueSetting:
    asked = (setting.origin, FromCatalog(f"server_defaults/{default.dotted}", default.source))
    return ValueSetting(setting.path, value, Derived(DEFAULTS, why, asked))


def _with_field(value: Any, path: tuple[str, ...], default: ListDefault) -> Any:
    """A copy with the field in each item of the list at `path`; the same where there is no such list."""
    if path:
        if not isinstance(value, dict) or path[0] not in value:
            return value
        return {**value, path[0]: _with_field(value[path[0]], path[1:], default)}
    if not isinstance(value, list):
        return value
    return [
        {**item, default.field: default.value} if isinstance(item, dict) and item.get(default.field) is None else item
        for item in value
    ]


NULLS = "chart_nulls"
_WHY = {
    True: "the chart writes a null here, which server-side apply refuses",
    False: "the chart writes a null here, and the server stores its default instead: it would never be in sync",
}


def cure_nulls(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Whoever sets such a path, or something above or below it, decides by oneself."""
    release = plan.cluster.spec.stack.release
    settings = []
    for item in nulls_of(release):
        if any(overlap(item.path, setting.path) for setting in plan.values):
            continue
        asked = (facts.at_cluster("/spec/stack/release"), FromCatalog(f"chart_nulls/{item.dotted}", item.source))
        origin = Derived(NULLS, _WHY[item.effect == REFUSED], asked)
        settings.append(ValueSetting(item.path, item.value, origin))
    return with_values(plan, *settings)
