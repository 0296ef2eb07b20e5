"""What the API server of a cluster is to enforce: the users' policies, and what was granted."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose
from poolsmith.core.diagnostics.codes.policy import POLICY_NOT_SERVED
from poolsmith.core.diagnostics.listing import listed
from poolsmith.core.record import record
from poolsmith.guard.policies.shipped import shipped_policies
from poolsmith.project.output.tree import cluster_header

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.fleet.operands.manifest import Manifest
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.guard.policies.admission_file import AdmissionFile
    from poolsmith.guard.policies.policies import Policies

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
    """With the policy that the grants come to, and the digests of all that it is made of."""
    from poolsmith.guard.policies.privilege_policy.build import privilege_policy  # on demand

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
