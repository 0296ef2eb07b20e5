"""The grants of a cluster as its admission policy, and what that policy can't hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes import privilege_policy as codes
from poolsmith.core.diagnostics.listing import listed
from poolsmith.core.diagnostics.printable import printable
from poolsmith.core.facts.versions import minor_key
from poolsmith.core.record import record
from poolsmith.guard.ledger.claims.cost import COST_LIMIT
from poolsmith.guard.ledger.claims.granted import granted_claims
from poolsmith.guard.policies.admission_file import FIRST_SERVED
from poolsmith.guard.policies.enforcement import DEFAULT_ENFORCEMENT
from poolsmith.guard.policies.privilege_policy.objects import (
    LONGEST_DATA,
    LONGEST_EXPRESSION,
    data_size,
    is_too_large,
    render_privilege_policy,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Diagnostic, RuleInfo
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.fleet.operands.manifest import Manifest
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.guard.ledger.claims.table import ClaimTable
    from poolsmith.guard.ledger.grants.matching import GrantBook
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.guard.policies.enforcement import EnforcementSpec

SHARED_NAMESPACES = frozenset(("default", "kube-node-lease", "kube-public", "kube-system"))
"""What else runs there, no prediction knows: the policy would refuse it."""
_FEW = 4
_PRIVILEGED = "privileged"


@record
class PrivilegePolicy:
    """Manifests below platform/, and what has to be said. `enforced` is false where there is no policy."""

    manifests: tuple[Manifest, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    enforced: bool = False


def privilege_policy(
    prediction: Prediction,
    book: GrantBook,
    file: SourceFile,
    header: tuple[str, ...],
    enforcement: EnforcementSpec = DEFAULT_ENFORCEMENT,
) -> PrivilegePolicy:
    """Of one cluster, whose profile is `file`; while an upgrade rolls out, of both releases."""
    plan = prediction.plan
    if minor_key(plan.cluster.spec.kubernetes.version) < FIRST_SERVED:
        message = f"Kubernetes {plan.cluster.spec.kubernetes.version} of `{plan.name}` does not enforce the grants"
        place = file.locate("/spec/kubernetes/version")
        return PrivilegePolicy(diagnostics=(diagnose(codes.GRANTS_NOT_ENFORCED, message, place, subject=plan.name),))
    table = granted_claims(prediction, book, enforcement.scripts)
    if prediction.running is not None:
        table |= granted_claims(prediction.running, book, enforcement.scripts)
    problems = tuple(_problems(prediction, table, file))
    if any(item.code == codes.PRIVILEGE_POLICY_TOO_LARGE.code for item in problems):
        return PrivilegePolicy(diagnostics=problems)
    held = table.holding(tuple(name for name in table.namespaces if name not in SHARED_NAMESPACES))
    manifests = render_privilege_policy(held, "platform", map(str, enforcement.actions_for(plan.name)), header)
    return PrivilegePolicy(manifests=tuple(manifests), diagnostics=problems, enforced=bool(manifests))


def _unpredicted(plan: ClusterPlan, table: ClaimTable) -> list[str]:
    """Privileged namespaces of units that somebody else's manifests fill."""
    wanted = {item.name for item in plan.namespaces if item.level == _PRIVILEGED}
    wanted |= {unit.namespace for unit in plan.units if unit.source is not None and unit.source.level == _PRIVILEGED}
    return sorted(wanted.difference(table.namespaces))


def _problems(prediction: Prediction, table: ClaimTable, file: SourceFile) -> Iterator[Diagnostic]:
    name = prediction.plan.name

    def finding(rule: RuleInfo, message: str) -> Diagnostic:
        return diagnose(rule, message, file.locate("/spec"), subject=name)

    if is_too_large(table):
        message = (
            f"the privilege policy of `{name}` would have {data_size(table):,} letters of data; "
            f"the limit is {LONGEST_DATA:,}, and {LONGEST_EXPRESSION:,} in one expression"
        )
        yield finding(codes.PRIVILEGE_POLICY_TOO_LARGE, message)
    if table.costly:
        message = (
            f"the API server of `{name}` may be unable to judge the pods of "
            f"{listed(map(printable, table.costly), _FEW)}: more than {COST_LIMIT:,} units for the privilege policy"
        )
        yield finding(codes.POD_TOO_COSTLY, message)
    if table.unknown:
        shown = listed(
            (f"{printable(container)} of {printable(workload)}" for workload, container in table.unknown), _FEW
        )
        message = f"the privilege policy of `{name}` refuses containers whose script is not known: {shown}"
        yield finding(codes.SCRIPT_NOT_KNOWN, message)
    if shared := sorted(SHARED_NAMESPACES.intersection(table.namespaces)):
        message = f"the privilege policy of `{name}` leaves out namespaces that others share: {', '.join(shared)}"
        yield finding(codes.NAMESPACE_NOT_HELD, message)
    if unpredicted := _unpredicted(prediction.plan, table):
        message = (
            f"the privilege policy of `{name}` leaves out namespaces whose workloads are not predicted: "
            f"{', '.join(unpredicted)}"
        )
        yield finding(codes.NAMESPACE_NOT_HELD, message)
    if prediction.unknown:
        message = f"the prediction for `{name}` is not complete; the privilege policy refuses what is not predicted"
        yield finding(codes.INCOMPLETE_PRIVILEGE_POLICY, message)
