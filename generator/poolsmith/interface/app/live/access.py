"""Use case: what a reader of clusters must be allowed, as manifests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.discover.stack import EVERYWHERE
from poolsmith.core.diagnostics import UsageError
from poolsmith.core.sources.yaml_writer import emit_all
from poolsmith.interface.app.live.verify import view_of
from poolsmith.kubernetes.live.access import READER, reading_of_secrets, reading_roles
from poolsmith.kubernetes.live.resources import CONFIG_MAPS
from poolsmith.project.run.facts import with_facts

if TYPE_CHECKING:
    from pathlib import Path

_HOME = "poolsmith"
_FLEET = "/fleet"


@with_facts
def reading_manifests(
    root: Path, cluster: str | None, *, image: str | None = None, schedule: str = "17 * * * *"
) -> str:
    """Roles for what `verify` reads of the cluster; with an `image` also a CronJob that runs it, as YAML.

    The image has poolsmith, and the fleet's repository at /fleet. Raises UsageError, NoInputError.
    """
    view, problems = view_of(root, cluster)
    if view is None:
        raise UsageError(f"the profiles have errors, such as: {problems[0].message}; `poolsmith check` shows them")
    subject = (_HOME, READER)
    documents: list[dict[str, Any]] = list(reading_roles(view.resources, view.namespaces, subject, view.of_namespaces))
    account, namespace = _account()
    documents = [namespace, account, *documents]
    if image is not None:
        documents.append(_cron_job(view.name, image, schedule))
    return emit_all(documents)


def discovering_manifests(helm_namespace: str | None = None) -> str:
    """The role for what `discover` reads of a cluster of which nothing is known yet: of all namespaces, as YAML.

    For Helm's own records also the right to list Secrets in one namespace: RBAC knows no narrower one.
    """
    account, namespace = _account()
    documents = [namespace, account]
    documents += reading_roles((*EVERYWHERE, CONFIG_MAPS), (), (_HOME, READER), everywhere=True)
    if helm_namespace is not None:
        documents += reading_of_secrets(helm_namespace, (_HOME, READER))
    return emit_all(documents)


def _account() -> tuple[dict[str, Any], dict[str, Any]]:
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": READER, "namespace": _HOME},
    }
    return account, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _HOME}}


def _cron_job(cluster: str, image: str, schedule: str) -> dict[str, Any]:
    container = {
        "name": "verify",
        "image": image,
        "args": ["verify", cluster, "--root", _FLEET, "--in-cluster", "--strict"],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108 - of the container
    }
    pod = {
        "serviceAccountName": READER,
        "restartPolicy": "Never",
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65534, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        "volumes": [{"name": "tmp", "emptyDir": {}}],
    }
    job = {"backoffLimit": 0, "activeDeadlineSeconds": 900, "template": {"spec": pod}}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": f"poolsmith-verify-{cluster}"[:52].rstrip("-"), "namespace": _HOME},
        "spec": {"schedule": schedule, "concurrencyPolicy": "Forbid", "jobTemplate": {"spec": job}},
    }
