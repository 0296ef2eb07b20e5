"""One cluster from profiles to files, in memory, with the policies that its API server is to enforce.

These are the users' policies, and one made of what was granted.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, Severity, diagnose
from poolsmith.core.diagnostics.codes.compatibility import OPERATOR_ERROR
from poolsmith.core.diagnostics.codes.policy import POLICY_NOT_SERVED
from poolsmith.core.diagnostics.codes.privilege import RUNNING_RELEASE_UNKNOWN
from poolsmith.core.diagnostics.codes.schema import REFUSED_BY_DEFINITION, VALUES_DO_NOT_RENDER, mend_of_rendering
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import join
from poolsmith.fleet.plan.origin import profile_inputs
from poolsmith.fleet.plan.pipeline import resolve_cluster
from poolsmith.fleet.plan.user_values import VALUES
from poolsmith.fleet.profiles.load_cluster import LoadedCluster, load_cluster
from poolsmith.guard.policies.shipped_policies import shipped_policies
from poolsmith.guard.rules.prediction.driver_images import judge_driver_images
from poolsmith.guard.rules.prediction.idle_driver_values import idle_driver_values
from poolsmith.guard.rules.prediction.pool_supply import pool_supply
from poolsmith.project.output.lock_file import LOCK, write_lock
from poolsmith.project.output.tree import cluster_header, file_bytes, render_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.fleet.operands.manifest import Manifest, ManifestTree
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.fleet.profiles.fleet import ClusterFiles
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.guard.policies.policies import Policies
    from poolsmith.guard.policies.policy_files import AdmissionFile
    from poolsmith.project.run.project import Project


_FEW = 4


@record
class Admission:
    """Manifests below platform/, the digests of the policy files that they are made of, and what can't be enforced."""

    manifests: tuple[Manifest, ...] = ()
    inputs: dict[str, str] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()


def admission_of(policies: Policies, prediction: Prediction, file: SourceFile) -> Admission:
    """Of one cluster; `file` is its profile."""
    plan = prediction.plan
    files, unserved = policies.admission_for(plan.cluster.spec.kubernetes.version)
    own = Admission(
        manifests=tuple(shipped_policies(files)),
        inputs={item.path: item.digest for item in files},
        diagnostics=tuple(_not_served(unserved, plan, file)),
    )
    return own if not policies.files.has_privileges else _with_grants(own, policies, prediction, file)


def _with_grants(own: Admission, policies: Policies, prediction: Prediction, file: SourceFile) -> Admission:
    """With the policy that is made of the grants, and the digests of all that it is made of."""
    from poolsmith.guard.policies.privilege_policy.validating_policy import privilege_policy  # on demand

    enforcement, _ = policies.enforcement
    made = privilege_policy(prediction, policies.book, file, cluster_header(prediction.plan.name), enforcement)
    given = policies.book.of_cluster(prediction.plan.name) if made.manifests else ()
    grants = {policies.grants[0][index].file.path: policies.grants[0][index].file.digest for index in given}
    if made.manifests and policies.files.enforcement is not None:
        grants[policies.files.enforcement] = policies.enforcement_digest
    return Admission(
        manifests=(*own.manifests, *made.manifests),
        inputs=own.inputs | grants,
        diagnostics=(*own.diagnostics, *made.diagnostics),
    )


def _not_served(unserved: Sequence[AdmissionFile], plan: ClusterPlan, file: SourceFile) -> Iterator[Diagnostic]:
    if unserved:
        names = listed((item.name for item in unserved), _FEW)
        message = (
            f"Kubernetes {plan.cluster.spec.kubernetes.version} of `{plan.name}` does not serve the policies of {names}"
        )
        yield diagnose(POLICY_NOT_SERVED, message, file.locate("/spec/kubernetes/version"), subject=plan.name)


@record
class ClusterRun:
    """What became of one cluster. `plan`, `tree` and `files` are None when diagnostics have errors."""

    loaded: LoadedCluster
    plan: ClusterPlan | None
    tree: ManifestTree | None
    files: dict[str, bytes] | None
    prediction: Prediction | None
    diagnostics: tuple[Diagnostic, ...]
    admission: tuple[Manifest, ...] = ()

    @property
    def failed(self) -> bool:
        return any(item.severity is Severity.ERROR for item in self.diagnostics)


@record
class PlannedCluster:
    """A cluster before any file of it exists. Without `plan` and `prediction` diagnostics say why."""

    loaded: LoadedCluster
    plan: ClusterPlan | None
    prediction: Prediction | None
    diagnostics: tuple[Diagnostic, ...]


def plan_cluster(project: Project, files: ClusterFiles) -> PlannedCluster:
    """Load, resolve and predict."""
    loaded = load_cluster(project.tree, files, project.bases, project.rings)
    diagnostics = list(loaded.problems)
    plan = prediction = None
    alike = b""
    on_sound_bases = project.unsound_bases.isdisjoint(loaded.used_bases)
    if on_sound_bases and not any(item.severity is Severity.ERROR for item in diagnostics):
        resolved, alike = project.plans.of(loaded)
        diagnostics.extend(resolved.diagnostics)
        plan = resolved.plan
    elif loaded.meant is not None:
        diagnostics.extend(_wrong_besides(loaded.meant, [*diagnostics, *project.bases.problems], project.catalog))
    if plan is not None:
        prediction = project.predictions.of(plan, loaded, alike)
        find = partial(_predicted_findings, project, prediction, loaded)
        diagnostics.extend(project.alike_findings.of("prediction", alike, loaded, find))
        prediction = _with_running(project, loaded, prediction, diagnostics)
    return PlannedCluster(loaded=loaded, plan=plan, prediction=prediction, diagnostics=tuple(diagnostics))


def _predicted_findings(
    project: Project, prediction: Prediction, loaded: LoadedCluster, _name: str
) -> Iterator[Diagnostic]:
    yield from predicted_errors(prediction, loaded)
    yield from idle_driver_values(prediction, loaded, project.predictions)
    yield from judge_driver_images(project.driver_images[0], prediction, loaded)


def _wrong_besides(meant: LoadedCluster, known: Sequence[Diagnostic], catalog: Catalog) -> Iterator[Diagnostic]:
    """What is wrong beside the mistakes that are known, once these are mended; nothing that may follow from them."""
    told = {(item.primary.span.path, item.primary.span.start) for item in known}
    for item in resolve_cluster(meant, catalog).diagnostics:
        if item.severity is Severity.ERROR and (item.primary.span.path, item.primary.span.start) not in told:
            yield item


def _with_running(
    project: Project, loaded: LoadedCluster, prediction: Prediction, diagnostics: list[Diagnostic]
) -> Prediction:
    """With what the same profiles produce under the release that an upgrade replaces."""
    stack = prediction.plan.cluster.spec.stack
    if stack.upgrading_from is None or loaded.cluster is None or loaded.file is None:
        return prediction
    spec = replace(loaded.cluster.spec, stack=replace(stack, release=stack.upgrading_from, upgrading_from=None))
    before = replace(loaded, cluster=replace(loaded.cluster, spec=spec))
    resolved = resolve_cluster(before, project.catalog)
    if resolved.plan is None:
        why = next(item.message for item in resolved.diagnostics if item.severity is Severity.ERROR)
        message = f"what {stack.upgrading_from} runs in `{loaded.name}` is unknown: {why}"
        place = loaded.file.locate("/spec/stack/upgradingFrom")
        diagnostics.append(diagnose(RUNNING_RELEASE_UNKNOWN, message, place, subject=loaded.name))
        return prediction
    return replace(prediction, running=project.predictions.of(resolved.plan, before))


def run_cluster(project: Project, files: ClusterFiles) -> ClusterRun:
    """Load, resolve, predict and render. Never touches the output."""
    planned = plan_cluster(project, files)
    tree = content = None
    admission = Admission()
    refused: list[Diagnostic] = []
    if planned.plan is not None and planned.prediction is not None and planned.loaded.file is not None:
        refused = _refused_values(planned.prediction, planned.loaded)
        admission = admission_of(project.policies, planned.prediction, planned.loaded.file)
        tree = render_cluster(planned.plan, project.texts.of(planned.prediction), admission.manifests)
        content = file_bytes(tree)
        release = planned.plan.cluster.spec.stack.release
        inputs = planned.loaded.inputs | admission.inputs | project.catalog.inputs(release)
        content[LOCK] = write_lock(catalog=project.catalog.digest_of(release), inputs=inputs, files=content)
    return ClusterRun(
        loaded=planned.loaded,
        plan=planned.plan,
        tree=tree,
        files=content,
        prediction=planned.prediction,
        diagnostics=(*planned.diagnostics, *refused, *admission.diagnostics),
        admission=admission.manifests,
    )


def predicted_errors(prediction: Prediction, loaded: LoadedCluster) -> list[Diagnostic]:
    """What the chart or the operator would refuse of the plan, and pools that would not get what they need."""
    return _operator_errors(prediction, loaded) or pool_supply(prediction, loaded)


def _refused_values(prediction: Prediction, loaded: LoadedCluster) -> list[Diagnostic]:
    """The user's own values that the API server would refuse in what the chart renders."""
    written, file = prediction.plan.cluster.spec.stack.values, loaded.file
    given = prediction.shared.given
    if file is None or given.chart is None or _only_switches(written):
        return []
    from poolsmith.fleet.operands.chart.chart_projection import HelmRelease  # on demand
    from poolsmith.guard.rules.schema.rendered_values import refused_values  # on demand

    helm = HelmRelease(api_versions=given.api_versions)
    return [
        diagnose(
            REFUSED_BY_DEFINITION,
            item.message,
            file.locate(join(VALUES, *item.place)),
            help=item.help,
            subject=loaded.name,
        )
        for item in refused_values(given.release, given.values, written, helm)
    ]


def _only_switches(values: Any) -> bool:
    """Whether there is nothing but switches, of which the rules for values say all: no schema need be loaded."""
    return all(map(_only_switches, values.values())) if isinstance(values, dict) else isinstance(values, bool)


def _operator_errors(prediction: Prediction, loaded: LoadedCluster) -> list[Diagnostic]:
    file = loaded.file
    if file is None or not prediction.installation.errors:
        return []
    from poolsmith.fleet.operands.chart.chart_projection import HelmRelease  # on demand
    from poolsmith.fleet.operands.chart.judgement import chart_errors  # on demand

    given = prediction.shared.given
    helm = HelmRelease(api_versions=given.api_versions)
    of_values = () if given.chart is None else chart_errors(given.release, given.values, helm)
    placed = [error for error in of_values if error.path and not error.refusal]
    return [
        *(
            diagnose(
                VALUES_DO_NOT_RENDER,
                error.message,
                _written_at(error.path, prediction, file),
                help=mend_of_rendering(error.message),
                subject=loaded.name,
            )
            for error in placed
        ),
        *(
            diagnose(OPERATOR_ERROR, error, file.locate("/spec/stack"), subject=loaded.name)
            for error in prediction.installation.errors
            if not any(error.endswith(other.message) for other in placed)
        ),
    ]


def _written_at(path: str, prediction: Prediction, file: SourceFile) -> Location:
    """Where a value of the chart comes from in the cluster's own file; the stack, where it comes from elsewhere."""
    words = tuple(path.split("."))
    for setting in prediction.plan.values:
        if setting.path == words[: len(setting.path)]:
            for line in profile_inputs(setting.origin):
                if line.path == file.path:
                    below = words[len(setting.path) :]
                    return file.locate(join(line.pointer, *below))
    return file.locate("/spec/stack")
