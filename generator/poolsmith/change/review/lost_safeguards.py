"""Safeguards of the base that a change of profiles removes: switches, the order of rings, the kind of stack.

A cluster that leaves its ring, or whose ring moves, may get new releases earlier than in the base. A change from one
kind of stack to another is reported, because nobody supports it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from poolsmith.core.diagnostics import diagnose, whole_file
from poolsmith.core.diagnostics.codes import outside as codes
from poolsmith.core.diagnostics.codes.gpu_use import GPU_CLUSTER_CHANGE
from poolsmith.core.diagnostics.codes.outside import SWITCHED_OFF
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.fleet.profiles.cluster import StackKind
from poolsmith.fleet.profiles.fleet import RINGS_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from poolsmith.change.review.seen_cluster import ClusterChange, SeenCluster
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.profiles.rings_and_teams import Rings
    from poolsmith.guard.policies.policy_files import AdmissionFile


_FEW = 4
_NAMESPACE, _POOL_LABEL, _VERSION = "/spec/stack/namespace", "/spec/poolLabel", "/spec/kubernetes/version"
_QUOTED = pattern(r"""(["'])((?:(?!\1).){1,300})\1|([A-Za-z0-9][A-Za-z0-9./_-]{0,300})""")


class Shipped(NamedTuple):
    """Of the base: the policy files that a cluster gets, and the policies that are meant for an object, by its key."""

    files: Callable[[SeenCluster], frozenset[str]]
    met: Callable[[SeenCluster], Mapping[str, frozenset[str]]]


@record(kw_only=False)
class _Loss:
    """A line of a profile, and what it takes away."""

    pointer: str
    message: str


def switched_off(change: ClusterChange, policies: tuple[AdmissionFile, ...], shipped: Shipped) -> Iterator[Diagnostic]:
    """Each loss at its line; `policies` are those of the base. A cluster that is new or gone loses nothing."""
    after = change.after
    if after is None or after.loaded.file is None:
        return
    losses = [*_upgrade(change.before, after)]
    if change.before is not None:
        losses += _files(change.before, after, shipped)
        losses += _names(change.before, after, policies)
        losses += _selectors(change.before, after, shipped)
    for loss in losses:
        place = after.loaded.file.locate(loss.pointer)
        yield diagnose(codes.SWITCHED_OFF, loss.message, place, subject=change.name)


def _upgrade(before: SeenCluster | None, after: SeenCluster) -> Iterator[_Loss]:
    """The release that a cluster still runs is the one that it had."""
    stack = after.plan.cluster.spec.stack
    had = before.plan.cluster.spec.stack if before is not None else None
    known = (had.release, had.upgrading_from) if had is not None else ()
    if stack.upgrading_from is not None and stack.upgrading_from not in known:
        told = f"in the base it has {had.release}" if had is not None else "the base has no such cluster"
        yield _Loss(
            "/spec/stack/upgradingFrom",
            f"pods of {stack.upgrading_from} would be accepted in `{after.plan.name}`, which does not run it: {told}",
        )


def _files(before: SeenCluster, after: SeenCluster, shipped: Shipped) -> Iterator[_Loss]:
    """Policies that the cluster gets in the base: of people, and the one that the grants come to."""
    lost = sorted(shipped.files(before) - shipped.files(after))
    if not lost:
        return
    versions = [seen.plan.cluster.spec.kubernetes.version for seen in (before, after)]
    if versions[0] != versions[1]:
        pointer, why = _VERSION, f"Kubernetes {versions[1]}, and not {versions[0]}"
    elif before.plan.namespace != after.plan.namespace:
        pointer, why = _NAMESPACE, f"namespace {after.plan.namespace}, and not {before.plan.namespace}"
    else:
        pointer, why = "/metadata/name", "what its profiles say now"
    names = listed((path.rpartition("/")[2] for path in lost), _FEW)
    yield _Loss(pointer, f"`{after.plan.name}` would no longer get the admission policies of {names}, for {why}")


def _names(before: SeenCluster, after: SeenCluster, policies: tuple[AdmissionFile, ...]) -> Iterator[_Loss]:
    """Names by which policies tell objects apart, in selectors or in expressions, and that objects no longer have."""
    pools = {pool.name: pool.label_value for pool in after.plan.pools}
    renamed = [
        (_NAMESPACE, "namespace", before.plan.namespace, after.plan.namespace),
        (_POOL_LABEL, "pool label", before.plan.cluster.spec.pool_label, after.plan.cluster.spec.pool_label),
        *(
            (_POOL_LABEL, f"label of pool {pool.name}", pool.label_value, pools[pool.name])
            for pool in before.plan.pools
            if pool.name in pools
        ),
    ]
    for pointer, what, old, new in renamed:
        naming = [file.name for file in policies if old in _words(file.text)] if old != new else []
        if naming:
            message = f"the {what} of `{after.plan.name}` would be {new}, and the policies of {listed(naming, _FEW)} "
            yield _Loss(pointer, f"{message}select objects by {old}")


def _words(text: str) -> frozenset[str]:
    """What stands in quotes or bare in YAML or in an expression, and the words of it."""
    words: set[str] = set()
    for found in _QUOTED.finditer(text):
        whole = found[2] or found[3]
        words.add(whole)
        words.update(re.findall(r"[A-Za-z0-9][A-Za-z0-9./_-]*", whole))
    return frozenset(words)


def _selectors(before: SeenCluster, after: SeenCluster, shipped: Shipped) -> Iterator[_Loss]:
    """Objects that a policy is meant for in the base, and that it would miss for where they are or how they are named.

    An object is the same under another namespace.
    """
    if _placement(before) == _placement(after):
        return
    then, now = shipped.met(before), shipped.met(after)
    still: dict[str, set[str]] = {}
    for key, met in now.items():
        still.setdefault(_without_namespace(key), set()).update(met)
    missed: dict[str, list[str]] = {}
    for key, met in then.items():
        name = _without_namespace(key)
        for policy in sorted(met - still[name]) if name in still else ():
            missed.setdefault(policy, []).append(name)
    pointer = _NAMESPACE if before.plan.namespace != after.plan.namespace else _POOL_LABEL
    for policy, names in sorted(missed.items()):
        yield _Loss(pointer, f"policy {policy} would no longer be asked about {listed(dict.fromkeys(names), _FEW)}")


def _placement(seen: SeenCluster) -> tuple[object, ...]:
    spec = seen.plan.cluster.spec
    namespaces = tuple((item.name, item.level) for item in seen.plan.namespaces)
    return seen.plan.namespace, namespaces, spec.pool_label, spec.smoke_test.namespace


def _without_namespace(key: str) -> str:
    return key.partition("/")[2]


def reordered_rings(before: Rings | None, after: Rings | None) -> Iterator[Diagnostic]:
    """Whether rings that both sides have stand in another order, or the order is gone. New rings change nothing."""
    if before is None or before.order is None:
        return
    if after is None or after.order is None:
        if after is None:
            message = "the order of rings that the base has would be gone, and with it what holds later rings back"
            yield diagnose(SWITCHED_OFF, message, whole_file(RINGS_FILE))
        return
    had, has = before.order.order, after.order.order
    if [ring for ring in had if ring in has] != [ring for ring in has if ring in had] and after.file is not None:
        message = f"the rings would be in another order than in the base, which has {' → '.join(had)}"
        yield diagnose(SWITCHED_OFF, message, after.file.locate("/spec/order"))


def left_ring(change: ClusterChange, rings: Rings | None) -> Iterator[Diagnostic]:
    """A cluster that leaves its ring, or goes to an earlier one; `rings` are those of the base."""
    before, after = change.before, change.after
    if before is None or after is None or after.loaded.file is None or rings is None or rings.order is None:
        return
    order = rings.order.order
    had, has = before.plan.cluster.spec.ring, after.plan.cluster.spec.ring
    if had not in order or had == has or (has in order and order.index(has) > order.index(had)):
        return
    told = "would be outside of the rings" if has is None else f"would get what is new in ring `{has}`"
    message = f"`{change.name}` {told}; in the base it is in ring `{had}`"
    place = after.loaded.file.locate("/spec/ring" if has is not None else "/spec")
    yield diagnose(SWITCHED_OFF, message, place, subject=change.name)


_KIND = "/spec/stack/kind"
_NAMES = {StackKind.OPERATOR: "a ClusterPolicy", StackKind.GPU_CLUSTER: "a GPUCluster"}


def changed_kind(change: ClusterChange) -> Iterator[Diagnostic]:
    """From a ClusterPolicy to a GPUCluster, or back."""
    before, after = change.before, change.after
    if before is None or after is None or after.loaded.file is None:
        return
    had, has = (side.plan.cluster.spec.stack.kind for side in (before, after))
    if had is has or not {had, has} <= _NAMES.keys():
        return
    yield diagnose(
        GPU_CLUSTER_CHANGE,
        f"`{change.name}` has {_NAMES[had]} in the base, and would get {_NAMES[has]}: no migration is supported, and "
        "the operator serves neither while both exist",
        after.loaded.file.locate(_KIND if after.loaded.file.has(_KIND) else "/spec/stack"),
        help="make a new cluster for it, as docs/dra.md says",
        subject=change.name,
    )
