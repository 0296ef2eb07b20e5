"""Objects that are given as parameters, and that no policy is evaluated with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.printable import shorten
from poolsmith.kubernetes.admission.params import ParamsError, collect_params
from poolsmith.kubernetes.admission.policy import Binding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from poolsmith.kubernetes.admission.placed import PlacedObject
    from poolsmith.kubernetes.admission.policy import Policy, PolicySet
    from poolsmith.kubernetes.admission.request import AdmissionRequest
    from poolsmith.kubernetes.admission.resources import Resources

_FEW = 3


def unused_params(
    given: Iterable[PlacedObject], policies: PolicySet, requests: Sequence[AdmissionRequest], resources: Resources
) -> Iterator[str]:
    """One sentence for each: what would have to be true of it. Policies and definitions are no parameters."""
    others = {id(item) for item in policies.definitions}
    candidates = {id(item) for item in policies.objects} - others
    asked = {request.namespace: request for request in requests}.values()
    used: set[int] = set()
    for policy in policies.policies:
        for binding in _bindings(policy, policies):
            for request in asked if policy.param_kind is not None else ():
                try:
                    chosen = collect_params(policy, binding, request, policies.objects, resources)
                except ParamsError:
                    continue
                used.update(id(item) for item in chosen if item is not None)
    for item in given:
        if id(item) in candidates and id(item) not in used:
            yield f"{shorten(item.shown)}: nothing was evaluated with this parameter, since {_why(item, policies)}"


def _bindings(policy: Policy, policies: PolicySet) -> tuple[Binding, ...]:
    return policies.bindings_of(policy.name) or (Binding(name="", policy=policy.name),)


def _why(item: PlacedObject, policies: PolicySet) -> str:
    """Of the policies that take its kind, which parameters their bindings ask for."""
    taking = [
        policy
        for policy in policies.policies
        if policy.param_kind is not None
        and (policy.param_kind.api_version, policy.param_kind.kind) == (item.api_version, item.kind)
    ]
    if not taking:
        return f"no policy has `paramKind` {shorten(item.api_version)} {shorten(item.kind)}"
    asked = [_asked(binding) for policy in taking for binding in policies.bindings_of(policy.name)]
    few = "; ".join(asked[:_FEW]) + ("; and others" if len(asked) > _FEW else "")
    return few or "another object stands in its place"


def _asked(binding: Binding) -> str:
    name, reference = f"binding `{shorten(binding.name)}`", binding.param_ref
    if reference is None:
        return f"{name} has no `paramRef`"
    where = f" in namespace `{shorten(reference.namespace)}`" if reference.namespace else ""
    if reference.name:
        return f"{name} takes `{shorten(reference.name)}`{where}"
    return f"{name} takes what its selector fits{where}"
