"""System-critical pods where the distribution admits them by quota only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mappings, words
from poolsmith.core.sources.pointer import value_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupObject, SetupView

RULE = RuleInfo.of("PSM423")
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
