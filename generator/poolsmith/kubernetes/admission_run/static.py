"""What is wrong with policies as such, at its place in their files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, Severity, diagnose
from poolsmith.core.diagnostics.codes import policy as codes
from poolsmith.core.diagnostics.message_text import cut_inside, did_you_mean, shorten
from poolsmith.core.sources.pointer import dotted_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.admission.policy import Binding, Policy, PolicySet
    from poolsmith.kubernetes.admission.policy_expressions import Issue
    from poolsmith.kubernetes.admission_run.run import PolicyRun

_LONGEST = 300


def static_findings(
    policies: PolicySet, run: PolicyRun, kubernetes: str, *, told_unbound: bool = True, stored: bool = False
) -> tuple[Diagnostic, ...]:
    """Expressions that the API server would refuse, and how the objects fit together.

    Without `told_unbound` only what is wrong in itself: policies may be looked at without their bindings. With
    `stored` the policies may be in a cluster already: what is refused of new ones only is a warning.
    """
    found = list(_of_expressions(policies, run, kubernetes, stored=stored))
    found.extend(_of_bindings(policies))
    if told_unbound:
        found.extend(_of_folder(policies))
    return tuple(found)


def _of_expressions(policies: PolicySet, run: PolicyRun, kubernetes: str, *, stored: bool) -> Iterator[Diagnostic]:
    for policy in policies.policies:
        for issue in run.issues.get(policy.name, ()):
            found = _of_issue(policy, issue, kubernetes)
            yield replace(found, severity=Severity.WARNING) if stored and issue.held_back else found


def _of_issue(policy: Policy, issue: Issue, kubernetes: str) -> Diagnostic:
    subject = _shown(policy)
    field = dotted_pointer(issue.pointer)
    place = policy.placed.inside(issue.pointer, issue.line, issue.column)
    said = cut_inside(" ".join(issue.message.split()), _LONGEST)
    if issue.needs:
        message = f"{subject}: `{field}` needs Kubernetes {issue.needs}, and this is {kubernetes}: {said}"
        return diagnose(codes.EXPRESSION_TOO_NEW, message, place, subject=subject)
    return diagnose(codes.BAD_EXPRESSION, f"{subject}: `{field}`: {said}", place, subject=subject)


def _of_bindings(policies: PolicySet) -> Iterator[Diagnostic]:
    for binding in policies.bindings:
        if binding.placed is None or not binding.policy or binding.policy in policies.names:
            continue
        message = f"{_shown_binding(binding)}: there is no policy `{shorten(binding.policy)}`"
        yield diagnose(
            codes.BINDING_WITHOUT_POLICY,
            message,
            binding.placed.locate("/spec/policyName"),
            help=did_you_mean(binding.policy, sorted(policies.names)),
            subject=_shown_binding(binding),
        )


def _of_folder(policies: PolicySet) -> Iterator[Diagnostic]:
    bound = {binding.policy for binding in policies.bindings}
    kinds = {
        (policy.param_kind.api_version, policy.param_kind.kind) for policy in policies.policies if policy.param_kind
    }
    for policy in policies.policies:
        if policy.name not in bound:
            message = f"{_shown(policy)}: no binding names it, so it does nothing"
            yield diagnose(codes.POLICY_WITHOUT_BINDING, message, policy.placed.locate(), subject=_shown(policy))
        for binding in policies.bindings_of(policy.name):
            yield from _of_params(policy, binding, policies)
    for item in policies.objects:
        if (item.api_version, item.kind) not in kinds and item not in policies.definitions:
            message = f"{shorten(item.shown)} is neither a policy nor a binding, and no policy takes it as a parameter"
            yield diagnose(codes.STRAY_POLICY_OBJECT, message, item.locate("/kind"), subject=shorten(item.shown))


def _of_params(policy: Policy, binding: Binding, policies: PolicySet) -> Iterator[Diagnostic]:
    kind = policy.param_kind
    if binding.placed is None:
        return
    subject = _shown_binding(binding)
    if kind is None:
        if binding.param_ref is not None:
            message = f"{subject}: `spec.paramRef` does nothing: {_shown(policy)} has no `paramKind`"
            place = binding.placed.locate("/spec/paramRef")
            yield diagnose(
                codes.MISSING_PARAMETERS, message, place, subject=subject, help="remove it, or add `paramKind`"
            )
        return
    reference = binding.param_ref
    if reference is None:
        message = (
            f"{subject}: {_shown(policy)} takes {shorten(kind.kind)} as parameter; without `paramRef` `params` is null"
        )
        place = binding.placed.locate("/spec/policyName")
        yield diagnose(codes.MISSING_PARAMETERS, message, place, subject=subject, help="add `spec.paramRef`")
        return
    found = [item for item in policies.objects if (item.api_version, item.kind) == (kind.api_version, kind.kind)]
    if reference.name and not any(item.name == reference.name for item in found):
        what = f"{kind.kind}/{reference.name}"
    elif not reference.name and not found:
        what = f"object of kind {kind.kind}"
    else:
        return
    place = binding.placed.locate("/spec/paramRef")
    message = f"{subject}: there is no {shorten(what)} beside the policies"
    yield diagnose(codes.MISSING_PARAMETERS, message, place, subject=subject)


def _shown(policy: Policy) -> str:
    return f"ValidatingAdmissionPolicy/{shorten(policy.name)}"


def _shown_binding(binding: Binding) -> str:
    return f"ValidatingAdmissionPolicyBinding/{shorten(binding.name)}"
