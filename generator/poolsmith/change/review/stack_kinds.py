"""A cluster whose kind of stack a change turns into another one, where nobody supports that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes.claims import GPU_CLUSTER_CHANGE
from poolsmith.fleet.profiles.cluster import StackKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.review.change import ClusterChange
    from poolsmith.core.diagnostics import Diagnostic

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
