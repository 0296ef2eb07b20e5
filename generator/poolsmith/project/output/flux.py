"""Flux objects: the source of the output with its signatures, a Kustomization per unit, a HelmRelease per chart.

The source is a git repository or an OCI artefact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.manifest import Manifest
from poolsmith.fleet.profiles.cluster import DeliveryKind, Engine, Retiring, VerifyMode, VerifyProvider
from poolsmith.project.output.delivery_units import (
    PRUNE_GUARDS,
    VALUES_KEY,
    delivery_namespace,
    namespace_patch,
    values_config_map,
)
from poolsmith.project.output.pools import FOLDER as POOLS

if TYPE_CHECKING:
    from poolsmith.fleet.plan.plan import ClusterPlan, HelmChart
    from poolsmith.fleet.profiles.cluster import Delivery, Verify
    from poolsmith.project.output.delivery_units import DeliveryUnit


SOURCE = "source.toolkit.fluxcd.io/v1"
_OCI = "oci://"
_TAG = "refs/tags/"


def repository_name(plan: ClusterPlan) -> str:
    return f"{plan.delivery_name}-poolsmith"


def source_kind(delivery: Delivery) -> str:
    """The kind of the source that is generated: its address says it."""
    return "OCIRepository" if delivery.repo_url.startswith(_OCI) else "GitRepository"


def own_source(plan: ClusterPlan, namespace: str) -> dict[str, Any]:
    """The source that holds output/."""
    delivery, name = plan.cluster.spec.delivery, repository_name(plan)
    if source_kind(delivery) == "GitRepository":
        source = git_repository(name, namespace, delivery.repo_url, delivery.revision)
        if delivery.verify is not None:
            source["spec"]["verify"] = _git_verify(delivery.verify)
        return source
    revision = delivery.revision
    reference = {"tag": revision.removeprefix(_TAG)} if revision.startswith(_TAG) else {"digest": revision}
    spec: dict[str, Any] = {"interval": "10m", "url": delivery.repo_url, "ref": reference}
    if delivery.verify is not None:
        spec["verify"] = _artefact_verify(delivery.verify)
    return {
        "apiVersion": SOURCE,
        "kind": "OCIRepository",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def git_repository(name: str, namespace: str, url: str, revision: str) -> dict[str, Any]:
    reference = {"name": revision} if revision.startswith("refs/") else {"commit": revision}
    return {
        "apiVersion": SOURCE,
        "kind": "GitRepository",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"interval": "10m", "url": url, "ref": reference},
    }


def _git_verify(verify: Verify) -> dict[str, Any]:
    return {"mode": (verify.mode or VerifyMode.HEAD).value, "secretRef": {"name": verify.secret}}


def _artefact_verify(verify: Verify) -> dict[str, Any]:
    body: dict[str, Any] = {"provider": (verify.provider or VerifyProvider.COSIGN).value}
    if verify.secret is not None:
        body["secretRef"] = {"name": verify.secret}
    if verify.identities:
        body["matchOIDCIdentity"] = [{"issuer": item.issuer, "subject": item.subject} for item in verify.identities]
    return body


_KUSTOMIZE = "kustomize.toolkit.fluxcd.io/v1"
_HELM = "helm.toolkit.fluxcd.io/v2"
_SAID = "has(status.conditions) && status.conditions.exists(e, "
_ERROR = "e.type == 'Error' && e.status == 'True'"
_WAITING = f"{_ERROR} && e.reason == 'DriverNotReady'"
_NO_NODES = "e.message.contains('no nodes matching the given node selector')"
_DRIVER_HEALTH = {
    "apiVersion": "nvidia.com/v1alpha1",
    "kind": "NVIDIADriver",
    "inProgress": f"!has(status.conditions) || status.conditions.exists(e, {_WAITING})",
    "failed": f"{_SAID}{_ERROR} && e.reason != 'DriverNotReady' && !{_NO_NODES})",
    "current": f"{_SAID}e.type == 'Ready' && e.status == 'True' || {_ERROR} && {_NO_NODES})",
}
"""Without it, a driver object counts as healthy before the operator has seen it. While driver pods start, the operator
says Error, too, for a reason of its own; and before v26.3 of a pool that has no nodes now, where it says Ready since.
Flux takes the first of the three that holds.

Source: NVIDIA/gpu-operator, from v24.6.0 on: internal/conditions/nvidiadriver.go, internal/state/driver.go,
controllers/nvidiadriver_controller.go; fluxcd/pkg:runtime/cel/status_evaluator.go
"""


def render_flux(
    plan: ClusterPlan, units: tuple[DeliveryUnit, ...], folder: str, header: tuple[str, ...]
) -> list[Manifest]:
    """Kustomizations depend on the one before; a chart's values unit waits for its HelmRelease."""
    namespace = delivery_namespace(plan)
    manifests = []
    sources = _sources(plan, units, namespace)
    if sources:
        manifests.append(Manifest(path=f"{folder}/sources.yaml", documents=tuple(sources), header=header))
    previous: str | None = None
    releases = {unit.values_folder: unit for unit in units if unit.chart is not None}
    for unit in units:
        if unit.chart is not None:
            body = _helm_release(plan, unit, unit.chart, namespace)
        else:
            body = _kustomization(plan, unit, namespace, previous, releases.get(unit.folder))
            previous = body["metadata"]["name"]
        lines = (*header, "", f"{unit.title}.")
        manifests.append(Manifest(path=f"{folder}/{unit.name}.yaml", documents=(body,), header=lines))
    return manifests


def _name(plan: ClusterPlan, unit: DeliveryUnit) -> str:
    return f"{plan.delivery_name}-{unit.name}"


def _sources(plan: ClusterPlan, units: tuple[DeliveryUnit, ...], namespace: str) -> list[dict[str, Any]]:
    delivery = plan.cluster.spec.delivery
    found = []
    if delivery.source_ref is None:
        found.append(own_source(plan, namespace))
    for unit in units:
        if unit.source is not None:
            found.append(git_repository(_name(plan, unit), namespace, unit.source.repository, unit.source.revision))
        if unit.chart is not None:
            found.append(_helm_repository(_name(plan, unit), namespace, unit.chart))
    return found


def _helm_repository(name: str, namespace: str, chart: HelmChart) -> dict[str, Any]:
    spec: dict[str, Any] = {"interval": "24h", "url": chart.repository}
    if chart.repository.startswith("oci://"):
        spec["type"] = "oci"
    return {
        "apiVersion": SOURCE,
        "kind": "HelmRepository",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def _kustomization(
    plan: ClusterPlan, unit: DeliveryUnit, namespace: str, previous: str | None, release: DeliveryUnit | None
) -> dict[str, Any]:
    delivery = plan.cluster.spec.delivery
    spec: dict[str, Any] = {"interval": "1h", "retryInterval": "2m", "timeout": "30m", "prune": True}
    if delivery.retiring is Retiring.KEEP:
        spec |= {"suspend": True, "deletionPolicy": "Orphan"}
    if unit.source is not None:
        spec["path"] = f"./{unit.source.path}"
        spec["sourceRef"] = {"kind": "GitRepository", "name": _name(plan, unit)}
        spec["patches"] = [namespace_patch(unit.source.level)]
    else:
        spec["path"] = f"./{delivery.path}/clusters/{plan.name}/{unit.folder}"
        spec["sourceRef"] = _source_ref(plan)
    if release is None:
        spec["wait"] = True
        if unit.folder == POOLS and plan.driver_objects:
            spec["healthCheckExprs"] = [dict(_DRIVER_HEALTH)]
    else:  # the release takes its values from this unit, and what depends on the unit needs the release
        spec["healthChecks"] = [
            {"apiVersion": _HELM, "kind": "HelmRelease", "name": _name(plan, release), "namespace": namespace}
        ]
    if previous is not None:
        spec["dependsOn"] = [{"name": previous}]
    elif before := _before(plan, DeliveryKind.KUSTOMIZATION, namespace):
        spec["dependsOn"] = before
    return {
        "apiVersion": _KUSTOMIZE,
        "kind": "Kustomization",
        "metadata": {"name": _name(plan, unit), "namespace": namespace},
        "spec": spec,
    }


def _before(plan: ClusterPlan, kind: DeliveryKind, namespace: str) -> list[dict[str, str]]:
    """What others deliver before this stack, of one kind: no kind can wait for another one."""
    return [
        {"name": item.name, **({"namespace": item.namespace} if item.namespace not in (None, namespace) else {})}
        for item in plan.cluster.spec.delivery.after
        if item.kind is kind
    ]


def _source_ref(plan: ClusterPlan) -> dict[str, str]:
    given = plan.cluster.spec.delivery.source_ref
    if given is None:
        return {"kind": source_kind(plan.cluster.spec.delivery), "name": repository_name(plan)}
    reference = {"kind": given.kind, "name": given.name}
    if given.namespace is not None:
        reference["namespace"] = given.namespace
    return reference


def _helm_release(plan: ClusterPlan, unit: DeliveryUnit, chart: HelmChart, namespace: str) -> dict[str, Any]:
    """One that leaves the delivery stays in the cluster: pruned, it would uninstall its release within seconds. One
    that is given up may be pruned: suspended, it leaves its release alone.

    Source: fluxcd/helm-controller@v1.6.3:internal/controller/helmrelease_controller.go, reconcileDelete;
    fluxcd/kustomize-controller@v1.9.4:internal/controller/kustomization_controller.go, finalizerShouldDeleteResources
    """
    action = {"crds": "CreateReplace", "strategy": {"name": "RetryOnFailure"}}
    drift: dict[str, Any] = {"mode": "enabled"}
    if unit.is_operator and plan.ignore_differences:
        drift["ignore"] = [
            {"paths": item["jsonPointers"], "target": {"group": item["group"], "kind": item["kind"]}}
            for item in plan.ignore_differences
        ]
    before = _before(plan, DeliveryKind.HELM_RELEASE, namespace)
    retiring = plan.cluster.spec.delivery.retiring
    guards = {"annotations": dict(PRUNE_GUARDS[Engine.FLUX])} if retiring is None else {}
    return {
        "apiVersion": _HELM,
        "kind": "HelmRelease",
        "metadata": {
            "name": _name(plan, unit),
            "namespace": namespace,
            **guards,
        },
        "spec": {
            **({"suspend": True} if retiring is Retiring.KEEP else {}),
            "interval": "1h",
            "timeout": "30m",
            "releaseName": chart.name,
            **({"dependsOn": before} if before else {}),
            "targetNamespace": unit.namespace,
            "storageNamespace": unit.namespace,
            "chart": {
                "spec": {
                    "chart": chart.name,
                    "version": chart.version,
                    "interval": "24h",
                    "sourceRef": {"kind": "HelmRepository", "name": _name(plan, unit)},
                }
            },
            "install": action,
            "upgrade": action,
            "driftDetection": drift,
            "valuesFrom": [{"kind": "ConfigMap", "name": values_config_map(plan, chart), "valuesKey": VALUES_KEY}],
        },
    }
