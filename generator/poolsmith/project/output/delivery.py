"""delivery/: what the cluster is pointed at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.project.output.argocd import render_applications
from poolsmith.project.output.delivery_unit import delivery_units
from poolsmith.project.output.flux import render_flux
from poolsmith.project.output.kustomization import FILE, kustomization

if TYPE_CHECKING:
    from poolsmith.fleet.operands.manifest import Manifest
    from poolsmith.fleet.plan.plan import ClusterPlan

FOLDER = "delivery"
_EMITTERS = {Engine.ARGOCD: render_applications, Engine.FLUX: render_flux}


def render_delivery(plan: ClusterPlan, manifests: list[Manifest], header: tuple[str, ...]) -> list[Manifest]:
    """`manifests` are the units rendered so far; only folders with a kustomization are delivered."""
    folders = frozenset(
        manifest.path.rpartition("/")[0] for manifest in manifests if manifest.path.endswith(f"/{FILE}")
    )
    units = delivery_units(plan, folders)
    if not units:
        return []
    found = _EMITTERS[plan.cluster.spec.delivery.engine](plan, units, FOLDER, header)
    resources = [manifest.path.removeprefix(f"{FOLDER}/") for manifest in found]
    return [*found, kustomization(FOLDER, resources, header)]
