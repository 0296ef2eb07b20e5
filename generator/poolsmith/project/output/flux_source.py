"""Flux: the source of the output, a git repository or an OCI artefact, and the signatures that it demands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.profiles.cluster import VerifyMode, VerifyProvider

if TYPE_CHECKING:
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.fleet.profiles.cluster import Delivery, Verify

SOURCE = "source.toolkit.fluxcd.io/v1"
_OCI = "oci://"
_TAG = "refs/tags/"


def repository_name(plan: ClusterPlan) -> str:
    return f"{plan.name}-poolsmith"


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
