"""Pass: what the stack is delivered after can be waited for by the engine, and is nothing of the stack itself.

Sources: fluxcd/kustomize-controller and fluxcd/helm-controller, `dependsOn` (each kind waits for its own kind only);
Argo CD, sync waves (an Application can't wait for another one; who holds both can).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.listing import joined
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.fleet.profiles.delivered_before import DeliveryKind

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan

_KINDS = {
    Engine.ARGOCD: ("Argo CD", (DeliveryKind.APPLICATION,)),
    Engine.FLUX: ("Flux", (DeliveryKind.KUSTOMIZATION, DeliveryKind.HELM_RELEASE)),
}
_NAMESPACES = {Engine.ARGOCD: "argocd", Engine.FLUX: "flux-system"}
_FEW = 4


def order_delivery(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Refuses what could never be waited for, and notes what has to be true beside it."""
    delivery = plan.cluster.spec.delivery
    if not delivery.after:
        return plan
    engine, kinds = _KINDS[delivery.engine]
    own = delivery.namespace or _NAMESPACES[delivery.engine]
    seen: set[tuple[str, str, str]] = set()
    for index, item in enumerate(delivery.after):
        place = f"/spec/delivery/after/{index}"
        if item.kind not in kinds:
            facts.report_cluster(
                codes.FIELD_WITHOUT_EFFECT,
                f"{place}/kind",
                f"{engine} can't wait for an object of kind {item.kind}",
                help=f"name one of kind {' or '.join(kinds)}",
            )
        where = item.namespace or own
        if where == own and item.name.startswith(f"{plan.name}-") and _is_own(item.name, plan):
            facts.report_cluster(
                codes.FIELD_WITHOUT_EFFECT,
                f"{place}/name",
                f"`{item.name}` is a part of this stack, which would wait for itself",
                help="remove it: the parts of the stack have their order",
            )
        if (identity := (item.kind.value, where, item.name)) in seen:
            facts.report_cluster(
                codes.FIELD_WITHOUT_EFFECT,
                f"{place}/name",
                f"{item.kind} `{item.name}` is named twice",
                help="remove one of them",
            )
        seen.add(identity)
    return replace(plan, notes=(*plan.notes, _note(plan)))


def _is_own(name: str, plan: ClusterPlan) -> bool:
    part = name.removeprefix(f"{plan.name}-")
    units = (end for unit in plan.units for end in (unit.name, f"{unit.name}-chart", f"{unit.name}-upstream"))
    chart = plan.chart.name if plan.chart is not None else ""
    return part in ("platform", "pools", chart, *units)


def _note(plan: ClusterPlan) -> str:
    """What the engine does with it, and what it does not."""
    delivery = plan.cluster.spec.delivery
    names = joined([f"{item.kind} {item.name}" for item in delivery.after], _FEW)
    if delivery.engine is Engine.ARGOCD:
        return (
            f"This stack is to come after {names}. Argo CD orders only what one Application holds: put them into wave "
            "0 or lower of the Application that holds delivery/ (whose own waves begin at 1), and let Argo CD assess "
            "the health of Applications; else nothing waits."
        )
    waits = ["Kustomizations wait for Kustomizations, and HelmReleases for HelmReleases"]
    if not any(item.kind is DeliveryKind.HELM_RELEASE for item in delivery.after) and plan.chart is not None:
        waits.append("the chart waits on its first installation only, for its values come with the first Kustomization")
    return f"This stack comes after {names}: {'; '.join(waits)}."
