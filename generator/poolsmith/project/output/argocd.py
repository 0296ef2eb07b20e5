"""Argo CD: one Application per unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.manifest import Manifest
from poolsmith.fleet.profiles.cluster import Engine, Retiring
from poolsmith.kubernetes.repository.argo_destination import IN_CLUSTER_SERVER
from poolsmith.project.output.delivery_units import PRUNE_GUARDS, delivery_namespace, namespace_patch
from poolsmith.project.output.pools import FOLDER as POOLS
from poolsmith.project.output.pools import TOOLKIT_FOLDER as TOOLKIT_BASE

if TYPE_CHECKING:
    from poolsmith.fleet.plan.plan import ClusterPlan, GitSource, HelmChart
    from poolsmith.fleet.profiles.cluster import Hydrate
    from poolsmith.project.output.delivery_units import DeliveryUnit

COMPARE_OPTIONS, SERVER_SIDE_DIFF = "argocd.argoproj.io/compare-options", "ServerSideDiff=true"
"""Without it Argo CD takes the structured merge for `ServerSideApply=true`, which it gives up (diff-strategies.md of
v3.5.1): defaults of definitions always show as out of sync there. Stable since v3.1, known since v2.10.
"""
CASCADE = "resources-finalizer.argocd.argoproj.io"
"""An Application that has it takes what it applied along."""
SKIP_RECONCILE = "argocd.argoproj.io/skip-reconcile"
"""The controller leaves an Application that has it alone: it syncs nothing, and finishes no deletion.

Source: argoproj/argo-cd@v3.5.1:controller/appcontroller.go, canProcessApp
"""
SYNC_WAVE = "argocd.argoproj.io/sync-wave"
_RETRY = {"limit": 20, "backoff": {"duration": "30s", "factor": 2, "maxDuration": "10m"}}


def render_applications(
    plan: ClusterPlan, units: tuple[DeliveryUnit, ...], folder: str, header: tuple[str, ...]
) -> list[Manifest]:
    """Waves order the Applications where one Application holds them all; retries order them otherwise.

    One with a chart is not pruned by accident: its deletion would start the chart's hooks.
    Wave 0 is left to what the stack comes after.
    """
    return [
        Manifest(
            path=f"{folder}/{unit.name}.yaml",
            documents=(_application(plan, unit, wave),),
            header=(*header, "", f"{unit.title}."),
        )
        for wave, unit in enumerate(units, 1 if plan.cluster.spec.delivery.after else 0)
    ]


def _application(plan: ClusterPlan, unit: DeliveryUnit, wave: int) -> dict[str, Any]:
    delivery = plan.cluster.spec.delivery
    spec: dict[str, Any] = {"project": delivery.project, "destination": _destination(plan, unit.namespace)}
    options = ["ServerSideApply=true", "FailOnSharedResource=true", "SkipDryRunOnMissingResource=true"]
    ignored = plan.ignore_differences if unit.is_operator else ()
    if unit.chart is not None:
        spec["sources"] = _chart_sources(plan, unit.chart)
    elif unit.source is not None:
        spec["source"] = _git_source(unit.source)
    else:
        source = {
            "repoURL": delivery.repo_url,
            "targetRevision": delivery.revision,
            "path": f"{delivery.path}/clusters/{plan.name}/{unit.folder}",
        }
        if delivery.hydrate is None:
            spec["source"] = source
        else:
            spec["sourceHydrator"] = _hydrated(delivery.hydrate, source)
    if ignored:
        options.append("RespectIgnoreDifferences=true")
        spec["ignoreDifferences"] = [{key: item[key] for key in ("group", "kind", "jsonPointers")} for item in ignored]
    is_kept = delivery.retiring is Retiring.KEEP
    spec["syncPolicy"] = {
        **({} if is_kept else {"automated": {"prune": True, "selfHeal": True}}),
        "syncOptions": options,
        "retry": _RETRY,
    }
    annotations = {SKIP_RECONCILE: "true"} if is_kept else {}
    if unit.chart is not None and delivery.retiring is None:
        annotations |= PRUNE_GUARDS[Engine.ARGOCD]
    annotations |= {SYNC_WAVE: str(wave), COMPARE_OPTIONS: SERVER_SIDE_DIFF}
    if unit.source is None:
        annotations["argocd.argoproj.io/manifest-generate-paths"] = ";".join(
            f"/{delivery.path}/clusters/{plan.name}/{folder}" for folder in _watched(plan, unit)
        )
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {
            "name": f"{plan.delivery_name}-{unit.name}",
            "namespace": delivery_namespace(plan),
            "annotations": annotations,
            **({"finalizers": [CASCADE]} if delivery.retiring is Retiring.REMOVE else {}),
        },
        "spec": spec,
    }


def _hydrated(hydrate: Hydrate, dry: dict[str, str]) -> dict[str, Any]:
    """Each Application has a folder of its own on the branch, the one that it is rendered from."""
    body: dict[str, Any] = {
        "drySource": dry,
        "syncSource": {"targetBranch": hydrate.branch, "path": dry["path"]},
    }
    if hydrate.stage_branch is not None:
        body["hydrateTo"] = {"targetBranch": hydrate.stage_branch}
    return body


def _watched(plan: ClusterPlan, unit: DeliveryUnit) -> list[str]:
    """The folders whose commits concern this Application."""
    if unit.chart is not None:
        return [unit.chart.values_file.rpartition("/")[0]]
    return [unit.folder, TOOLKIT_BASE] if unit.folder == POOLS and plan.toolkit_overlays else [unit.folder]


def _destination(plan: ClusterPlan, namespace: str) -> dict[str, str]:
    destination = plan.cluster.spec.delivery.destination
    where = {"server": IN_CLUSTER_SERVER}
    if destination is not None and destination.name is not None:
        where = {"name": destination.name}
    elif destination is not None and destination.server is not None:
        where = {"server": destination.server}
    return {**where, "namespace": namespace}


def _chart_sources(plan: ClusterPlan, chart: HelmChart) -> list[dict[str, Any]]:
    delivery = plan.cluster.spec.delivery
    values = f"$values/{delivery.path}/clusters/{plan.name}/{chart.values_file}"
    return [
        {
            "repoURL": chart.repository.removeprefix("oci://"),
            "chart": chart.name,
            "targetRevision": chart.version,
            "helm": {"releaseName": chart.name, "valueFiles": [values]},
        },
        {"repoURL": delivery.repo_url, "targetRevision": delivery.revision, "ref": "values"},
    ]


def _git_source(source: GitSource) -> dict[str, Any]:
    return {
        "repoURL": source.repository,
        "targetRevision": source.revision,
        "path": source.path,
        "kustomize": {"patches": [namespace_patch(source.level)]},
    }
