"""What admission policies of a change would read that those of the base do not: secrets, and parameters of any kind.

A policy reads each object that it is asked about, whole. What it makes of that ends in audit logs and in messages, also
where it never refuses anything, and also where it has no binding that denies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.review.widened_grants import Widening
from poolsmith.core.diagnostics.message_text import listed, shorten
from poolsmith.kubernetes.admission.selector import labels_of, selects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.admission.policy import Binding, ParamKind, ParamRef, Policy, PolicySet
    from poolsmith.kubernetes.objects_file import PlacedObject

_ANY = "*"
_FEW = 4
_SECRET = ("", "secrets", "Secret")
_SECRET_RESOURCES: tuple[tuple[str, str], ...] = (
    _SECRET[:2],
    ("", "serviceaccounts/token"),
    ("authentication.k8s.io", "tokenreviews"),
    ("certificates.k8s.io", "certificatesigningrequests"),
)
"""Group and resource of what has secrets or tokens in its requests."""
_KNOWN_KINDS = frozenset((("v1", "ConfigMap"),))
"""Kinds of parameters that keep no secrets. Others need an approval, for nobody can tell."""


def newly_read(old: PolicySet, new: PolicySet) -> Iterator[Widening]:
    """Policy by policy; one that says the same as in the base reads nothing new."""
    before = {item.name: item for item in old.policies}
    for policy in new.policies:
        known = before.get(policy.name)
        yield from _secrets(policy, known)
        yield from _parameter_kind(policy, known, old)
    known_bindings = {item.name: item for item in old.bindings}
    for binding in new.bindings:
        then = known_bindings.get(binding.name)
        if then is None or (then.policy, then.param_ref) != (binding.policy, binding.param_ref):
            yield from _parameter(binding, new)


def _secrets(policy: Policy, known: Policy | None) -> Iterator[Widening]:
    met = _met(policy)
    if known is not None and _says(policy) == _says(known):
        met = [resource for resource in met if resource not in _met(known)]
    if not met or (known is not None and not _can_tell(policy)):
        return
    told = (
        "its audit annotations and messages can write them down" if _can_tell(policy) else "its verdicts depend on them"
    )
    word = "is new and would read" if known is None else "would read, newly or otherwise,"
    what = f"policy `{shorten(policy.name)}` {word} requests for {listed(met, _FEW)}: {told}"
    yield Widening(what, policy.placed.locate(), policy.name)


def _met(policy: Policy) -> list[str]:
    """Resources with secrets that it is asked about."""
    return [
        resource
        for group, resource in _SECRET_RESOURCES
        if any(
            (_ANY in rule.api_groups or group in rule.api_groups)
            and any(_covers(wide, resource) for wide in rule.resources)
            for rule in policy.match.rules
        )
    ]


def _covers(wide: str, resource: str) -> bool:
    """`*` has no subresources, `*/*` has all, `pods/*` those of pods, `*/exec` those of that name."""
    if wide in (resource, "*/*"):
        return True
    plural, slash, part = wide.partition("/")
    of, has_part, of_part = resource.partition("/")
    return plural in (_ANY, of) and bool(slash) == bool(has_part) and part in (of_part, *([_ANY] if has_part else ()))


def _can_tell(policy: Policy) -> bool:
    return bool(policy.audit_annotations) or any(item.message_expression is not None for item in policy.validations)


def _says(policy: Policy) -> tuple[str, ...]:
    return tuple(item.source for item in policy.expressions)


def _parameter_kind(policy: Policy, known: Policy | None, old: PolicySet) -> Iterator[Widening]:
    kind = policy.param_kind
    if kind is None or (known is not None and known.param_kind == kind):
        return
    own = {(item.api_version, item.kind) for item in (*old.objects, *old.definitions)}
    if (kind.api_version, kind.kind) in _KNOWN_KINDS | own and kind.kind != _SECRET[2]:
        return
    what = f"policy `{shorten(policy.name)}` would read objects of {shorten(kind.api_version)} {shorten(kind.kind)}"
    yield Widening(
        f"{what} as parameters, and its messages and verdicts can reveal their content",
        policy.placed.locate(),
        policy.name,
    )


def _parameter(binding: Binding, new: PolicySet) -> Iterator[Widening]:
    """A parameter that does not come with the policies is one that clusters have for somebody else."""
    reference = binding.param_ref
    kinds = [policy.param_kind for policy in new.policies if policy.name == binding.policy]
    if reference is None or binding.placed is None or not kinds or kinds[0] is None:
        return
    if any(_takes(reference, kinds[0], item) for item in new.objects):
        return
    name = f"`{shorten(reference.name)}`" if reference.name else "each that its selector fits"
    where = f" in namespace `{shorten(reference.namespace)}`" if reference.namespace else ""
    what = (
        f"binding `{shorten(binding.name)}` would read {shorten(kinds[0].kind)} {name}{where}, which is not delivered"
    )
    yield Widening(
        f"{what} with the policies: the policies can reveal its content", binding.placed.locate(), binding.name
    )


def _takes(reference: ParamRef, kind: ParamKind, item: PlacedObject) -> bool:
    if (kind.api_version, kind.kind) != (item.api_version, item.kind):
        return False
    if reference.namespace and reference.namespace != item.namespace:
        return False
    return reference.name == item.name or (
        not reference.name and selects(reference.selector, labels_of(item.body)) is True
    )
