"""Pass: stack.values, checked as strictly as generated values, on top of them. Floor: resolve."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.diagnostics.codes import schema as codes
from poolsmith.diagnostics.suggest import nearest
from poolsmith.load.shape import dotted, kind_of
from poolsmith.model.plan import ClusterPlan, ValueSetting
from poolsmith.sources import pointer as pointers

if TYPE_CHECKING:
    from poolsmith.model.plan import ValuePath
    from poolsmith.resolve.facts import Facts

VALUES = "/spec/stack/values"
MAX_REPORTED = 50
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}


def add_user_values(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Refuse what the chart would drop, and what the profiles already decide."""
    derived = {setting.path: setting for setting in plan.values}
    chart = facts.need_chart()
    settings: list[ValueSetting] = []
    reported = 0
    for path, value in _leaves(plan.cluster.spec.stack.values, facts):
        pointer = pointers.join(VALUES, *path)
        if reported >= MAX_REPORTED:
            facts.report_cluster(
                codes.UNKNOWN_VALUE,
                VALUES,
                f"more than {MAX_REPORTED} problems in stack.values; the rest is not shown",
            )
            break
        if not chart.accepts(path):
            reported += 1
            _report_unknown(path, pointer, facts)
        elif (taken := _taken(path, derived)) is not None:
            if taken.value != value:
                reported += 1
                facts.report_cluster(
                    codes.VALUE_TAKEN,
                    pointer,
                    f"`{taken.dotted}` follows from the profiles ({taken.origin})",
                )
        elif not _fits(chart.value_type(path), value):
            reported += 1
            facts.report_cluster(
                codes.VALUE_TYPE,
                pointer,
                f"`{'.'.join(path)}` is {kind_of(value)}; the chart's default is a {chart.value_type(path)}",
                help=_type_help(chart.value_type(path), value),
            )
        elif value == chart.default(path) and value is not None:
            facts.report_cluster(codes.VALUE_IS_DEFAULT, pointer, f"`{'.'.join(path)}` repeats the chart's default")
        else:
            settings.append(ValueSetting(path, value, facts.at_cluster(pointer)))
    return replace(plan, values=plan.values + tuple(settings))


def _leaves(values: dict[str, Any], facts: Facts) -> list[tuple[ValuePath, Any]]:
    """Every value that the chart merges on its own: maps merge, lists and scalars replace."""
    found: list[tuple[ValuePath, Any]] = []
    pending: list[tuple[ValuePath, Any]] = [((), values)]
    while pending:
        path, node = pending.pop()
        if isinstance(node, dict) and node and (not path or _descend(path, node, facts)):
            pending.extend(((*path, key), value) for key, value in reversed(node.items()))
        elif path:
            found.append((path, node))
    return found


def _descend(path: ValuePath, node: dict[str, Any], facts: Facts) -> bool:
    """Unknown maps are told once, at their top."""
    return facts.need_chart().accepts(path) and bool(node)


def _report_unknown(path: ValuePath, pointer: str, facts: Facts) -> None:
    chart = facts.need_chart()
    text = dotted(pointer.removeprefix(VALUES))
    parent = ".".join(path[:-1])
    siblings = {
        known.removeprefix(f"{parent}." if parent else "").split(".")[0]
        for known in chart.paths
        if not parent or known.startswith(f"{parent}.")
    }
    if ".".join(path) in chart.dead:
        help_text = "remove it: the chart declares it and reads it nowhere"
    elif (match := nearest(path[-1], sorted(siblings))) is not None:
        help_text = f"did you mean `{'.'.join((*path[:-1], match))}`?"
    elif places := sorted(known for known in chart.paths if known.split(".")[-1] == path[-1]):
        help_text = f"did you mean `{places[0]}`?" if len(places) == 1 else f"it is read at {', '.join(places[:5])}"
    else:
        help_text = "remove it: Helm would drop it silently"
    facts.report_cluster(
        codes.UNKNOWN_VALUE, pointer, f"the chart of {chart.release} does not read `{text}`", help=help_text
    )


def _taken(path: ValuePath, derived: dict[ValuePath, ValueSetting]) -> ValueSetting | None:
    """A derived value at this path, above it or below it."""
    for length in range(1, len(path) + 1):
        if (setting := derived.get(path[:length])) is not None:
            return setting
    return next((setting for known, setting in derived.items() if known[: len(path)] == path), None)


def _fits(declared: str, value: Any) -> bool:
    expected = _TYPES.get(declared)
    if expected is None or value is None:
        return True
    if isinstance(value, bool):
        return bool in expected
    return isinstance(value, expected)


def _type_help(declared: str, value: Any) -> str:
    if declared == "string" and isinstance(value, (bool, int, float)):
        return "quote it"
    return f"write a {declared}"
