"""Pass: fields that the API server would add to the items of a list, written out.

Argo CD's structured merge replaces such a list as a whole, so that each field that the server adds is taken away again,
for ever. Nothing else can be written for it: what ignores a field inside a list swallows real changes, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.catalog.drift_facts import list_defaults
from poolsmith.plan.origin import Derived, FromCatalog
from poolsmith.plan.plan import ValueSetting

if TYPE_CHECKING:
    from poolsmith.catalog.drift_facts import ListDefault
    from poolsmith.plan.facts import Facts
    from poolsmith.plan.plan import ClusterPlan

DERIVATION = "list_defaults"
_WHY = "the server adds this field to items of the list: an engine that compares would never be in sync"


def complete_lists(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Only fields that are absent, or null, are written."""
    del facts
    values = plan.values
    if not values:
        return plan
    for default in list_defaults(plan.cluster.spec.stack.release):
        values = tuple(_completed(setting, default) for setting in values)
    return replace(plan, values=values) if values != plan.values else plan


def _completed(setting: ValueSetting, default: ListDefault) -> ValueSetting:
    if setting.path != default.path[: len(setting.path)]:
        return setting
    value = _with_field(setting.value, default.path[len(setting.path) :], default)
    if value == setting.value:
        return setting
    asked = (setting.origin, FromCatalog(f"list_defaults/{default.dotted}", default.source))
    return ValueSetting(setting.path, value, Derived(DERIVATION, _WHY, asked))


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
