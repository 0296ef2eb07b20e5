"""Whether an admission policy or a binding is meant for all requests that another one is meant for."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from poolsmith.kubernetes.admission.policy import MatchResources
from poolsmith.kubernetes.admission.selector import requirements

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from poolsmith.kubernetes.admission.policy import ResourceRule

_MOST_COMBINATIONS = 20_000
_ANY = "*"
_EVERYTHING = MatchResources()


def lost_requests(old: MatchResources | None, new: MatchResources | None) -> Iterator[str]:
    """Why the new criteria may leave out a request that the old ones take, in words; None takes everything."""
    if new is None:
        return
    old = old or _EVERYTHING
    if new.rules and not (old.rules and all(_covered(rule, new.rules) for rule in old.rules)):
        yield "`resourceRules` no longer has all operations and resources"
    if not all(old.excluded and _covered(rule, old.excluded) for rule in new.excluded):
        yield "`excludeResourceRules` leaves out more"
    for name, before, after in (
        ("namespaceSelector", old.namespace_selector, new.namespace_selector),
        ("objectSelector", old.object_selector, new.object_selector),
    ):
        if not _demands(after) <= _demands(before):
            yield f"`{name}` asks for more"
    if old.equivalent and not new.equivalent:
        yield "`matchPolicy: Exact` leaves out other versions of the same resources"


def _demands(selector: Mapping[str, Any] | None) -> frozenset[tuple[str, str, frozenset[str]]]:
    """Each of them has to hold."""
    return frozenset((key, operator, frozenset(values)) for key, operator, values in requirements(selector))


def _covered(rule: ResourceRule, by: Iterable[ResourceRule]) -> bool:
    """Whether each request of a rule is one of some other rule; False where that takes too long to tell."""
    parts = (rule.operations, rule.api_groups, rule.api_versions, rule.resources)
    number = 1
    for part in parts:
        number *= len(part)
    others = [
        other
        for other in by
        if other.scope in (_ANY, rule.scope)
        and (
            not other.resource_names or (rule.resource_names and set(rule.resource_names) <= set(other.resource_names))
        )
    ]
    if number > _MOST_COMBINATIONS:
        return False
    return all(
        any(
            _has(other.operations, operation)
            and _has(other.api_groups, group)
            and _has(other.api_versions, version)
            and any(_resource_covers(wide, resource) for wide in other.resources)
            for other in others
        )
        for operation, group, version, resource in product(*parts)
    )


def _names_cover(wide: tuple[str, ...], narrow: tuple[str, ...]) -> bool:
    """No names are all of them."""
    return not wide or (bool(narrow) and set(narrow) <= set(wide))


def _has(items: tuple[str, ...], wanted: str) -> bool:
    return _ANY in items or wanted in items


def _resource_covers(wide: str, narrow: str) -> bool:
    """`pods` is not `pods/log`; `*` is no subresource, `*/*` is everything, `pods/*` are pods and its subresources."""
    if wide in (narrow, "*/*"):
        return True
    plural, slash, part = wide.partition("/")
    of, has_part, of_part = narrow.partition("/")
    if plural not in (_ANY, of):
        return False
    return part == _ANY or (bool(slash) == bool(has_part) and part == of_part)
