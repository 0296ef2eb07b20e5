"""Which parameters a policy is evaluated with.

Rules: kubernetes/apiserver:pkg/admission/plugin/policy/generic, CollectParams.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.admission.selector import labels_of, selects

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.kubernetes.admission.placed import PlacedObject
    from poolsmith.kubernetes.admission.policy import Binding, ParamKind, ParamRef, Policy
    from poolsmith.kubernetes.admission.request import AdmissionRequest
    from poolsmith.kubernetes.admission.resources import Resources

Params = tuple["PlacedObject | None", ...]
"""One evaluation for each; None stands for `params` being null."""


class ParamsError(Exception):
    """A binding that can't be followed, in the words of the API server."""


def collect_params(
    policy: Policy,
    binding: Binding,
    request: AdmissionRequest,
    objects: Iterable[PlacedObject],
    resources: Resources,
) -> Params:
    """Empty: there are none, and the binding allows that. Raises ParamsError.

    With an implied binding, each object of the policy's paramKind. An object that names no namespace counts as lying
    in the one that is asked for.
    """
    kind = policy.param_kind
    if kind is None:
        return (None,)
    found = sorted(
        (item for item in objects if (item.api_version, item.kind) == (kind.api_version, kind.kind)),
        key=lambda item: (item.namespace, item.name),
    )
    if binding.is_implied:
        return tuple(found) or (None,)
    reference = binding.param_ref
    if reference is None:
        return (None,)
    chosen = _chosen(reference, _within(reference, kind, found, request, resources))
    if not chosen and reference.deny_when_missing:
        raise ParamsError("no params found for policy binding with `Deny` parameterNotFoundAction")
    return chosen


def _within(
    reference: ParamRef, kind: ParamKind, found: list[PlacedObject], request: AdmissionRequest, resources: Resources
) -> list[PlacedObject]:
    """Those in the namespace that the binding looks in."""
    namespaced = resources.of(kind.api_version, kind.kind).namespaced
    if namespaced is None:
        namespaced = bool(reference.namespace) or any(item.namespace for item in found)
    if not namespaced:
        if reference.namespace:
            raise ParamsError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
        return found
    namespace = reference.namespace or request.namespace
    if not namespace:
        raise ParamsError("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
    return [item for item in found if item.namespace in ("", namespace)]


def _chosen(reference: ParamRef, found: list[PlacedObject]) -> Params:
    if reference.name:
        return tuple(item for item in found if item.name == reference.name)[:1]
    return tuple(item for item in found if selects(reference.selector, labels_of(item.body)))
