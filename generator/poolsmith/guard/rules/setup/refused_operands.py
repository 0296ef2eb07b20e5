"""Words of values and custom resources that the API server refuses in what the operator makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes.schema import REFUSED_BY_DEFINITION
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import reach
from poolsmith.fleet.operands.expansion import object_order
from poolsmith.kubernetes.schema.violation import What

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.configured import Configured, Leaf, Outcome
    from poolsmith.guard.rules.setup.setup_view import SetupView
    from poolsmith.kubernetes.schema.violation import Violation

    Judge = Callable[[dict[str, Any]], list[Violation]]

RULE = REFUSED_BY_DEFINITION
NEEDS = ("release", "all")
_MOST = 12
_MAY_REPEAT: frozenset[str | int] = frozenset(("env", "ports", "imagePullSecrets"))
"""Lists whose items may have one name, but for server-side apply, by which the operator writes nothing (kubernetes
pkg/apis/core/validation: ValidateEnv, validateContainerPorts)."""
_OWNERS = "ownerReferences"
"""The API server knows their uid, a prediction does not."""


def check(view: SetupView) -> Iterator[Finding[Location]]:
    if view.is_generated and not (view.values is not None and view.values.own):
        return
    from poolsmith.guard.rules.setup.configured import configured  # on demand

    made = configured(view)
    outcome = made.written if made.parts else None
    if outcome is None:
        return
    judge = _judge(view)
    told: set[tuple[int, tuple[str, ...]]] = set()
    asked: set[tuple[str, str]] = set()
    for item in outcome.objects:
        refused = judge(item)
        if refused and made.usual.get(object_order(item)) == item:
            continue
        for violation in refused:
            if len(told) >= _MOST or (violation.message, _shape(violation)) in asked:
                continue
            asked.add((violation.message, _shape(violation)))
            leaf = _cause(made, item, violation, judge)
            if leaf is None or (leaf.part, leaf.steps) in told:
                continue
            told.add((leaf.part, leaf.steps))
            place = made.parts[leaf.part].at(leaf.steps)
            if not view.is_told(place):
                name = f"{item['kind']}/{item['metadata']['name']}"
                yield Finding(
                    message=f"the operator writes it into {name}, where `{violation.dotted}` {violation.message}",
                    place=place,
                    help=violation.help or "write what the field takes, or remove it",
                )


def _shape(violation: Violation) -> str:
    """The field without the places in lists: the same word stands in many operands."""
    return ".".join(str(step) for step in violation.steps if isinstance(step, str))


def _judge(view: SetupView) -> Judge:
    from poolsmith.gpu.catalog.schema_versions import schema_versions  # on demand
    from poolsmith.guard.rules.setup.node_refusals import refused_by_nodes  # on demand
    from poolsmith.kubernetes.schema.schemas import NoSchema, newest_kubernetes, schemas_for  # on demand

    assert view.tag is not None, "NEEDS says so"
    schemas = schemas_for(schema_versions(kubernetes=newest_kubernetes(), operator=view.tag))

    def judge(item: dict[str, Any]) -> list[Violation]:
        schema = schemas.find(item["apiVersion"], item["kind"])
        refused = () if isinstance(schema, NoSchema) else schema.violations(item)
        kept = (found for found in refused if found.grave and _OWNERS not in found.steps and not _may_repeat(found))
        return [*kept, *refused_by_nodes(item)]

    return judge


def _may_repeat(found: Violation) -> bool:
    above = found.steps[1:2]  # innermost first: the place in the list, then the list
    return found.what is What.DUPLICATE and not _MAY_REPEAT.isdisjoint(above)


def _cause(made: Configured, item: dict[str, Any], violation: Violation, judge: Judge) -> Leaf | None:
    """The leaf without which the object is not made, or has no such mistake.

    Those that hold the word come first, then empty ones, and switches last: of these the one that takes least away
    with it.
    """
    word, _ = reach(item, violation.pointer)
    key = object_order(item)
    switches: list[tuple[int, Leaf]] = []

    def holds(leaf: Leaf) -> bool:
        return _holds(leaf.value, word)

    for leaf in sorted(made.tried(holds), key=lambda leaf: (not holds(leaf), leaf.value != "")):
        after = made.outcome_without(leaf)
        if after is None or not _cured(after, key, violation, judge):
            continue
        if not isinstance(leaf.value, bool):
            return leaf
        switches.append((-len(after.objects), leaf))
    return min(switches, key=lambda found: found[0], default=(0, None))[1]


def _holds(value: Any, word: Any) -> bool:
    if isinstance(value, list):
        return any(_holds(entry, word) for entry in value)
    if isinstance(value, dict):
        return any(_holds(entry, word) for entry in value.values())
    return bool(value == word and word not in (None, "", {}))


def _cured(outcome: Outcome, key: tuple[str, str, str], violation: Violation, judge: Judge) -> bool:
    if outcome.errors:
        return False
    item = next((item for item in outcome.objects if object_order(item) == key), None)
    return item is None or all(found.message != violation.message for found in judge(item))
