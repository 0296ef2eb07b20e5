"""Smoke tests: jobs that nobody syncs, to be run on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.manifest import Manifest
from poolsmith.fleet.plan.taints import all_tolerations

if TYPE_CHECKING:
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan


_GPU = "gpu"
_CHANNEL = "channel"


def render_smoke_tests(plan: ClusterPlan, header: tuple[str, ...]) -> list[Manifest]:
    """One file per pool that can run one; in no kustomization."""
    manifests = []
    for pool in plan.pools:
        if pool.smoke.image is None:
            continue
        path = f"smoke/{pool.name}.yaml"
        lines = (*header, "", f"Not applied; run it with: kubectl create -f {path}")
        documents = (*_claims(plan, pool), _job(plan, pool))
        manifests.append(Manifest(path=path, documents=documents, header=lines, applied=False))
    return manifests


def _claims(plan: ClusterPlan, pool: PoolPlan) -> tuple[dict[str, Any], ...]:
    """What the job claims, under names of their own: they stay, and a second run finds them."""
    if pool.smoke.claim is None:
        return ()
    version, device_class = pool.smoke.claim
    namespace = plan.cluster.spec.smoke_test.namespace
    request = {"name": _GPU, "exactly": {"deviceClassName": device_class}}
    template = {
        "apiVersion": version,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": _claim_name(pool, _GPU), "namespace": namespace},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }
    if pool.smoke.domain is None:
        return (template,)
    domain = {
        "apiVersion": pool.smoke.domain,
        "kind": "ComputeDomain",
        "metadata": {"name": _claim_name(pool, "domain"), "namespace": namespace},
        "spec": {"numNodes": 0, "channel": {"resourceClaimTemplate": {"name": _claim_name(pool, _CHANNEL)}}},
    }
    return template, domain


def _claim_name(pool: PoolPlan, what: str) -> str:
    return f"gpu-smoke-{pool.name[:40]}-{what}"


def _job(plan: ClusterPlan, pool: PoolPlan) -> dict[str, Any]:
    pod: dict[str, Any] = {"restartPolicy": "Never"}
    if pool.smoke.runtime_class is not None:
        pod["runtimeClassName"] = pool.smoke.runtime_class
    pod["nodeSelector"] = {plan.cluster.spec.pool_label: pool.label_value}
    if tolerations := all_tolerations(pool.taints):
        pod["tolerations"] = tolerations
    if secrets := plan.cluster.spec.registry.pull_secrets:
        pod["imagePullSecrets"] = [{"name": name} for name in secrets]
    limits: dict[str, Any] = {pool.smoke.resource: pool.smoke.count, **dict(pool.smoke.limits)}
    resources: dict[str, Any] = {"limits": limits}
    if pool.smoke.claim is not None:
        claims = [_GPU, *([_CHANNEL] if pool.smoke.domain is not None else [])]
        pod["resourceClaims"] = [
            {"name": name, "resourceClaimTemplateName": _claim_name(pool, name)} for name in claims
        ]
        resources = {"claims": [{"name": name} for name in claims]}
    pod["containers"] = [
        {
            "name": "cuda-vectoradd",
            "image": pool.smoke.image,
            "resources": resources,
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        }
    ]
    template: dict[str, Any] = {"metadata": {"annotations": dict(pool.smoke.annotations)}, "spec": pod}
    if not pool.smoke.annotations:
        del template["metadata"]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "generateName": f"gpu-smoke-{pool.name[:40]}-",
            "namespace": plan.cluster.spec.smoke_test.namespace,
        },
        "spec": {"backoffLimit": 2, "ttlSecondsAfterFinished": 86400, "template": template},
    }
