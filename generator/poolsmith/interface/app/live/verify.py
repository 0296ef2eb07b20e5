"""Use cases: compare a running cluster with what is committed for it; manifests that let somebody read clusters.

A snapshot comes from an API server or from a file.
"""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolsmith.change.discover.stack import EVERYWHERE as DISCOVERED
from poolsmith.change.verify.live_view import AROUND, EVERYWHERE, ClusterView, LiveView
from poolsmith.change.verify.verification import judge_live
from poolsmith.core.diagnostics import Severity, UsageError, sorted_unique
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.outcome import Outcome, Skipped
from poolsmith.core.record import record
from poolsmith.core.sources.yaml_writer import emit_all
from poolsmith.gpu.catalog.stack_objects import OPERATOR_GROUP
from poolsmith.guard.policies.applied_policies import JudgingOptions, strictly, with_policies
from poolsmith.interface.app.check_project import compare
from poolsmith.interface.app.live.last_changes import with_last_changes
from poolsmith.interface.app.live.since import aged, moment
from poolsmith.interface.app.new_files import replace_file
from poolsmith.kubernetes.live import api_resources as api
from poolsmith.kubernetes.live.snapshot import from_text, to_text
from poolsmith.project.run.cluster_run import admission_of, plan_cluster
from poolsmith.project.run.facts import with_facts
from poolsmith.project.run.project import CLUSTERS, open_project

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.interface.app.live.since import EarlierRun
    from poolsmith.kubernetes.live.api_resources import ApiResource, Reading
    from poolsmith.kubernetes.live.snapshot import Snapshot


@record
class Source:
    """`file` in the place of a server; `save` writes what was read, secrets left out."""

    reading: Reading
    file: Path | None = None
    save: Path | None = None


def snapshot_of(
    source: Source,
    resources: Iterable[ApiResource],
    namespaces: Collection[str],
    of_namespaces: Collection[ApiResource] = api.OF_NAMESPACES,
    everywhere: frozenset[ApiResource] = frozenset(),
) -> Snapshot:
    """Raises UsageError, ClusterError, WriteError."""
    if source.file is not None:
        try:
            text = source.file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{source.file} can't be read: {getattr(error, 'strerror', None) or error}") from None
        return from_text(text, str(source.file))
    from poolsmith.kubernetes.live.api_server import read_cluster  # kr8s, for who asks a server

    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    reading = _from_here(replace(source.reading, schemas_of=(OPERATOR_GROUP,), everywhere=everywhere))
    found = read_cluster(resources, namespaces, of_namespaces, reading, now)
    if source.save is not None:
        replace_file(source.save, to_text(found))
    return found


def _from_here(reading: Reading) -> Reading:
    """With what plugins find in the environment; without a kubeconfig those that kubectl would read."""
    named = reading.kubeconfig or os.environ.get("KUBECONFIG")
    if named:
        paths = (named,) if reading.kubeconfig else tuple(filter(None, named.split(os.pathsep)))
    else:
        home = Path("~/.kube/config").expanduser()
        paths = (str(home),) if home.exists() else ()
    return replace(reading, environ=dict(os.environ), kubeconfigs=paths)


@with_facts
def verify(
    root: Path,
    cluster: str | None,
    source: Source,
    judging: JudgingOptions | None = None,
    earlier: EarlierRun | None = None,
) -> Outcome:
    """One cluster; its name may be left out where the project has only one. Findings that the `earlier` run had are as
    old as it says. Raises UsageError, NoInputError.
    """
    judging = judging or JudgingOptions()
    view, problems = view_of(root, cluster)
    if view is None:
        skipped = (Skipped("the cluster", "its profiles have errors"),)
        return Outcome(diagnostics=problems, skipped=skipped)
    snapshot = snapshot_of(source, view.resources, view.namespaces, view.of_namespaces, EVERYWHERE)
    outcome = judge_live(LiveView(view, snapshot))
    outcome = replace(outcome, diagnostics=(*outcome.diagnostics, *_about_output(root, view.name)))
    outcome = with_policies(outcome, open_project(root).policies, today=judging.today, complete=False)
    outcome = strictly(outcome) if judging.strict else outcome
    found = with_last_changes(root, outcome.diagnostics)
    return aged(replace(outcome, diagnostics=found, taken=moment(snapshot.taken)), earlier)


def view_of(root: Path, cluster: str | None) -> tuple[ClusterView | None, tuple[Diagnostic, ...]]:
    """What should stand on the cluster; without it the errors of its profiles. Raises UsageError, NoInputError."""
    project = open_project(root)
    chosen = project.select((cluster,) if cluster else ())
    if len(chosen) != 1:
        names = listed(sorted(files.name for files in chosen))
        raise UsageError(f"which cluster is it? The project has {names}; name one of them")
    planned = plan_cluster(project, chosen[0])
    errors = tuple(item for item in planned.diagnostics if item.severity is Severity.ERROR)
    if planned.plan is None or planned.prediction is None or planned.loaded.file is None or errors:
        return None, sorted_unique(errors)
    admission = admission_of(project.policies, planned.prediction, planned.loaded.file).manifests
    return ClusterView(planned.plan, planned.prediction, planned.loaded, admission, project.catalog.gpus), ()


def _about_output(root: Path, name: str) -> tuple[Diagnostic, ...]:
    """What is compared follows from the profiles; that the committed output does not is a finding of its own."""
    found = compare(root, clusters=(name,)).outcome.diagnostics
    folder = f"{CLUSTERS}/{name}"
    return tuple(item for item in found if f"{item.primary.span.path}/".startswith(f"{folder}/"))


_HOME = "poolsmith"
_FLEET = "/fleet"


@with_facts
def reading_manifests(
    root: Path, cluster: str | None, *, image: str | None = None, schedule: str = "17 * * * *", around: bool = False
) -> str:
    """Roles for what `verify` reads of the cluster; with an `image` also a CronJob that runs it, as YAML.

    `around`: also what stands around the stack, in all namespaces; who runs unattended gets that right, too. The image
    has poolsmith, and the fleet's repository at /fleet. Raises UsageError, NoInputError.
    """
    view, problems = view_of(root, cluster)
    if view is None:
        raise UsageError(f"the profiles have errors, such as: {problems[0].message}; `poolsmith check` shows them")
    subject = (_HOME, api.READER)
    documents: list[dict[str, Any]] = list(
        api.reading_roles(view.required, view.namespaces, subject, view.of_namespaces)
    )
    if around or image is not None:
        documents += api.reading_around((*AROUND, *EVERYWHERE), subject)
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
    documents += api.reading_roles((*DISCOVERED, api.CONFIG_MAPS), (), (_HOME, api.READER), everywhere=True)
    if helm_namespace is not None:
        documents += api.reading_of_secrets(helm_namespace, (_HOME, api.READER))
    return emit_all(documents)


def _account() -> tuple[dict[str, Any], dict[str, Any]]:
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": api.READER, "namespace": _HOME},
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
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}},
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108 - of the container
    }
    pod = {
        "serviceAccountName": api.READER,
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
