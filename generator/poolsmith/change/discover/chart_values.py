"""Back from a custom resource to the values of the chart that rendered it.

The catalog says which value each field comes from. A field that is not there although the chart's default would write
it had a value that is false, zero or empty; what no field shows stays at the default. What the API server fills in by
the resource's definition says nothing of the values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.nested import MISSING, copied, value_at
from poolsmith.core.sources.pod_template import mapping
from poolsmith.gpu.catalog.projections import read_projection
from poolsmith.kubernetes.schema.schemas import KindSchema, Versions, newest_kubernetes, schemas_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.gpu.catalog.projections import FieldRule, ObjectRule
    from poolsmith.kubernetes.schema.schemas import NoSchema

_RELEASE = "{appVersion}"
_READ = frozenset(("plain", "quoted", "data"))


def values_of(release: str, resource: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a release's chart that one of its custom resources shows, where they are no defaults."""
    kind, spec = resource["kind"], mapping(resource.get("spec"))
    versions = Versions(kubernetes=newest_kubernetes(), operator=release)
    definition = schemas_for(versions).find(str(resource.get("apiVersion")), kind)
    projection = read_projection(release)
    rules = [] if projection is None else [rule for rule in projection.objects if rule.kind == kind]
    values: dict[str, Any] = {}
    for field in rules[0].fields if rules else ():
        if field.form not in _READ or not field.source:
            continue
        default = value_at(defaults, field.source, MISSING)
        live = value_at(spec, field.path, MISSING)
        if live is MISSING and value_at(spec, field.path[:-1], MISSING) is MISSING:
            continue  # a block that is not there at all shows nothing of its fields
        found = _value(field, live, default, release)
        is_default = found is MISSING or found == default
        if not is_default and (default not in (MISSING, None) or not _is_filled_in(definition, resource, field.path)):
            _put(values, field.source, found)
    return values


def _is_filled_in(definition: KindSchema | NoSchema, resource: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    """Whether the API server puts the very same there where nobody says anything."""
    without = copied(dict(resource))
    parent = value_at(without, ("spec", *path[:-1]))
    if not isinstance(definition, KindSchema) or not isinstance(parent, dict):
        return False
    live = parent.pop(path[-1], MISSING)
    return live is not MISSING and value_at(definition.with_defaults(without), ("spec", *path), MISSING) == live


def is_known(release: str, kind: str) -> bool:
    projection = read_projection(release)
    rules: tuple[ObjectRule, ...] = () if projection is None else projection.objects
    return any(rule.kind == kind for rule in rules)


def _value(field: FieldRule, live: Any, default: Any, release: str) -> Any:
    """What the chart was given; MISSING where the field does not tell it."""
    is_only_guard = field.conditions == (((field.source, True),),)
    if is_only_guard and default in (MISSING, None) and not live:
        return MISSING  # the chart writes no such value: the server has put its default there
    if live is MISSING:
        return type(default)() if is_only_guard and default not in (MISSING, None) and default else MISSING
    by_itself = release if field.default == _RELEASE else field.default
    if (by_itself is not None and live == by_itself) or (field.has_otherwise and live == field.otherwise):
        return default
    if default is MISSING or type(live) is type(default):
        return live
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(str(live).lower(), live)
    return default if str(live) == str(default) else live


def _put(values: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for step in path[:-1]:
        below = values.setdefault(step, {})
        if not isinstance(below, dict):
            return
        values = below
    values[path[-1]] = value
