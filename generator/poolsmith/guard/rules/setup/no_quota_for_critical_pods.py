"""System-critical pods where the distribution admits them by quota only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mappings, words
from poolsmith.core.sources.pointer import value_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupObject, SetupView

RULE = RuleInfo(
    code="PSM423",
    name="no-quota-for-critical-pods",
    severity=Severity.WARNING,
    applies_to="setup",
    what="The cluster runs on GKE, and no ResourceQuota of the operator's namespace names the priority classes "
    "system-node-critical and system-cluster-critical.",
    why="GKE accepts pods of these classes only if a quota names them. The operator and all operands have one of them.",
    symptom="`Error creating: insufficient quota to match these scopes: [{PriorityClass In [system-node-critical "
    "system-cluster-critical]}]` in the events of Deployment and DaemonSets; Helm times out.",
    fix="add a ResourceQuota with a scopeSelector for both classes to the operator's namespace",
    bad="values: {daemonsets: {priorityClassName: system-node-critical}}  # on GKE, without a quota\n",
    good="kind: ResourceQuota\nspec:\n  hard: {pods: 1G}\n  scopeSelector:\n    matchExpressions:\n"
    "      - {scopeName: PriorityClass, operator: In, values: [system-node-critical, system-cluster-critical]}\n",
    references=("NVIDIA/gpu-operator issue 660", "NVIDIA/aicr issue 915"),
)
NEEDS = ("values",)
_CLASS = "daemonsets.priorityClassName"
_NODE_LABELS = {"cloud.google.com/gke-nodepool": "gke"}
"""What tells a distribution where nobody names it."""


def check(view: SetupView) -> Iterator[Finding[Location]]:
    assert view.values is not None
    critical = view.catalog.scheduling.critical_pods
    distribution = view.distribution or _by_nodes(view)
    if distribution is None or not critical.guarded(distribution, view.namespace or ""):
        return
    asked = (view.value(_CLASS), view.value("operator.priorityClassName"))
    needed = [name for name in critical.classes if name in asked]
    if not needed or any(allows(item, needed, view.namespace) for item in view.of_kind("ResourceQuota", "")):
        return
    where = f"namespace `{view.namespace}`" if view.namespace else "operator's namespace"
    yield Finding(
        message=f"{distribution} refuses pods of the class `{needed[0]}` in the {where}: no ResourceQuota here "
        "names it",
        place=view.value_location(_CLASS),
        help=f"add a ResourceQuota whose scopeSelector names {' and '.join(critical.classes)}",
    )


def _by_nodes(view: SetupView) -> str | None:
    labels = {key for node in view.nodes or () for key in node.labels}
    return next((name for key, name in _NODE_LABELS.items() if key in labels), None)


def allows(item: SetupObject, needed: list[str], namespace: str | None) -> bool:
    """A quota without a namespace gets it from whoever applies it."""
    if namespace is not None and item.metadata.get("namespace") not in (None, namespace):
        return False
    for expression in mappings(value_at(item.spec, ("scopeSelector", "matchExpressions"))):
        if expression.get("scopeName") == "PriorityClass":
            return expression.get("operator") == "Exists" or set(needed) <= set(words(expression.get("values")))
    return False
