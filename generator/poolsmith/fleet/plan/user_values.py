"""Passes: `stack.values`, checked as strictly as generated values and laid on top of them.

Values that ask for a GPUCluster are refused: the pools of such a cluster are planned in another way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.codes import compatibility
from poolsmith.core.diagnostics.codes import schema as codes
from poolsmith.core.record import replace
from poolsmith.core.sources import pointer as pointers
from poolsmith.core.sources.pointer import leaves_of, value_at
from poolsmith.fleet.plan.plan import ClusterPlan, ValueSetting, values_tree
from poolsmith.fleet.plan.runtime.runtime_checks import yaml_name

if TYPE_CHECKING:
    from poolsmith.core.diagnostics.rule_engine import Found
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ValuePath
    from poolsmith.gpu.values.document import ValuePlace
    from poolsmith.gpu.values.judge import ValuesJudgement


VALUES = "/spec/stack/values"
MAX_REPORTED = 50
_VULNERABLE = "PSM427"
_DROPPED = "PSM320"
"""A dead key in anyone's file is a warning; what is generated here holds nothing that the chart would drop."""

_OF_PROFILES = {
    ("nfd", "enabled"): "nfd.provider",
    ("driver", "usePrecompiled"): "driver.source",
    ("driver", "version"): "driver.version",
    ("driver", "repository"): "driver.repository",
    ("driver", "kernelModuleType"): "driver.kernelModuleType",
    ("driver", "useOpenKernelModules"): "driver.kernelModuleType",
    ("driver", "rdma", "enabled"): "driver.rdma",
    ("driver", "rdma", "useHostMofed"): "driver.useHostMofed",
    ("gds", "enabled"): "driver.gds",
    ("gdrcopy", "enabled"): "driver.gdrcopy",
}
"""Values that profiles always decide, also where the result is the chart's default and nothing is generated."""
_TOOLKIT_ENV = ("toolkit", "env")


def add_user_values(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Refuse what the chart would drop, and what the profiles already decide."""
    values = plan.cluster.spec.stack.values
    if not values:
        return plan
    derived = {setting.path: setting for setting in plan.values}
    chart = facts.need_chart()
    from poolsmith.gpu.values.judge import judge_stack_values  # most profiles have no values, and need no rules

    judged = judge_stack_values(values, chart.release, values_tree(plan.values))
    _report(judged, facts)
    told = {found.finding.place for found in judged.findings if _severity(found) is Severity.ERROR}
    settings: list[ValueSetting] = []
    reported = 0
    for path, value in leaves_of(values, accepts=chart.accepts):
        pointer = pointers.join(VALUES, *path)
        if any(path[:length] in told for length in range(1, len(path) + 1)):
            settings.append(ValueSetting(path, value, facts.at_cluster(pointer)))  # errors end the plan
            continue
        taken, advice = _taken(path, derived), None
        if taken is not None and taken.value != value:
            message = f"`{taken.dotted}` follows from the profiles ({taken.origin})"
            rule = codes.VALUE_TAKEN
        elif taken is None and path in _OF_PROFILES and value != chart.default(path):
            message = f"`{'.'.join(path)}` follows from the profiles (`{_OF_PROFILES[path]}`)"
            advice = f"remove it from stack.values, and write `{_OF_PROFILES[path]}` in the profiles"
            rule = codes.VALUE_TAKEN
        elif taken is None and value == chart.default(path) and value is not None:
            message = f"`{'.'.join(path)}` repeats the chart's default"
            rule = codes.VALUE_IS_DEFAULT
        else:
            if taken is None:
                _refuse_paths(path, value, facts)
                settings.append(ValueSetting(path, value, facts.at_cluster(pointer)))
            continue
        reported += 1
        if reported <= MAX_REPORTED:
            facts.report_cluster(rule, pointer, message, help=advice)
        elif rule is codes.VALUE_TAKEN:
            facts.report_cluster(rule, VALUES, "more values than are shown follow from the profiles")
            break
    return replace(plan, values=plan.values + tuple(settings))


def _refuse_paths(path: ValuePath, value: Any, facts: Facts) -> None:
    """Where a runtime lies is said once, by the distribution or by `runtime` of the pools."""
    if path != _TOOLKIT_ENV or not isinstance(value, list):
        return
    fields = {
        name: field for runtime in facts.catalog.runtimes.by_name.values() for field, name in runtime.variables.items()
    }
    for index, item in enumerate(value):
        name = item.get("name") if isinstance(item, dict) else None
        if isinstance(name, str) and name in fields:
            field = yaml_name(fields[name])
            facts.report_cluster(
                codes.VALUE_TAKEN,
                pointers.join(VALUES, *path, str(index)),
                f"`{name}` follows from the profiles (the distribution, or `runtime.{field}` of the pools)",
                help=f"remove it from stack.values, and write `runtime.{field}` in the pools' profiles",
            )


def _report(judged: ValuesJudgement, facts: Facts) -> None:
    for found in judged.findings:
        if found.rule.code == _VULNERABLE and not found.finding.place:
            continue  # what the release itself installs is told of the release
        facts.report_cluster(
            found.rule,
            pointers.join(VALUES, *found.finding.place),
            found.finding.message,
            help=found.finding.help,
            severity=_severity(found),
        )


def _severity(found: Found[ValuePlace]) -> Severity:
    return Severity.ERROR if found.rule.code == _DROPPED else found.severity


def _taken(path: ValuePath, derived: dict[ValuePath, ValueSetting]) -> ValueSetting | None:
    """A derived value at this path, above it or below it."""
    for length in range(1, len(path) + 1):
        if (setting := derived.get(path[:length])) is not None:
            return setting
    return next((setting for known, setting in derived.items() if known[: len(path)] == path), None)


DEPLOYED = ("gpuCluster", "deployCR")


def refuse_gpu_cluster_by_values(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Pools are planned for one kind of stack; values can't turn it into another one."""
    if value_at(plan.cluster.spec.stack.values, DEPLOYED) is True:
        facts.report_cluster(
            compatibility.STACK_CONTRADICTION,
            "/spec/stack/values/gpuCluster/deployCR",
            "a GPUCluster stands in the place of the ClusterPolicy that these pools are planned for",
            help="write `stack: {kind: gpu-cluster}`, and remove `gpuCluster` and `clusterPolicy` from stack.values",
        )
    return plan
