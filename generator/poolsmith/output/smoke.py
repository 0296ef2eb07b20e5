"""Smoke tests: jobs that nobody syncs, to be run on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.operands.manifest import Manifest
from poolsmith.plan.scheduling import all_tolerations

if TYPE_CHECKING:
    from poolsmith.plan.plan import ClusterPlan, PoolPlan


def render_smoke_tests(plan: ClusterPlan, header: tuple[str, ...]) -> list[Manifest]:
    """One file per pool that can run one; in no kustomization."""
    manifests = []
    for pool in plan.pools:
        if pool.smoke.image is None:
            continue
        path = f"smoke/{pool.name}.yaml"
        lines = (*header, "", f"Not applied; run it with: kubectl create -f {path}")
        manifests.append(Manifest(path=path, documents=(_job(plan, pool),), header=lines, applied=False))
    return manifests


def _job(plan: ClusterPlan, pool: PoolPlan) -> dict[str, Any]:
    pod: dict[str, Any] = {"restartPolicy": "Never"}
    if pool.smoke.runtime_class is not None:
        pod["runtimeClassName"] = pool.smoke.runtime_class
    pod["nodeSelector"] = {plan.cluster.spec.pool_label: pool.label_value}
    if tolerations := all_tolerations(pool.taints):
        pod["tolerations"] = tolerations
    if secrets := plan.cluster.spec.registry.pull_secrets:
        pod["imagePullSecrets"] = [{"name": name} for name in secrets]
    pod["containers"] = [
        {
            "name": "cuda-vectoradd",
            "image": pool.smoke.image,
            "resources": {"limits": {pool.smoke.resource: 1}},
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
