"""Fields of what is applied after an upgrade that the definitions of the release before do not have.

Argo CD compares before it syncs, by a dry run or by the schemas that the server has: with one such field the comparison
fails, and nothing is synced, the chart's definitions neither. Seen on Argo CD 3.2.0 with each of its diffs; read in
argoproj/argo-cd:controller/sync.go (no sync with a comparison error). Flux replaces the definitions first.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from poolsmith.change.drift.delivered import delivered_objects
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.gpu.catalog.projections import read_crds
from poolsmith.kubernetes.server.server_fields import Effect, server_fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.review.seen_cluster import SeenCluster

_FEW = 3


def undeclared_fields(before: SeenCluster, after: SeenCluster) -> tuple[str, ...]:
    """`Kind` and pointer of each, sorted; empty under Flux, and where the catalog has no definitions of one of both."""
    if after.plan.cluster.spec.delivery.engine is not Engine.ARGOCD:
        return ()
    return tuple(sorted(set(_undeclared(before, after))))


def _undeclared(before: SeenCluster, after: SeenCluster) -> Iterator[str]:
    known = read_crds(before.plan.cluster.spec.stack.release)
    for item in delivered_objects(after.plan, after.prediction):
        kind = str(item.body.get("kind"))
        found = known.get(kind)
        if found is not None and found.api_version == item.body.get("apiVersion"):
            fields = server_fields(item.body, found.checks)
            yield from (f"{kind} {field.pointer}" for field in fields if field.effect is Effect.UNDECLARED)


def refusal_words(before: SeenCluster, after: SeenCluster, fields: tuple[str, ...]) -> str:
    """What Argo CD does with them, and the way out. Before the merge, new definitions are drift, and are put back."""
    old, new = (side.plan.cluster.spec.stack.release for side in (before, after))
    return (
        f"Argo CD syncs nothing of it until the definitions of {new} are applied by hand: what {old} defines has no "
        f"{listed(fields, _FEW)}, and the comparison fails (`field not declared in schema`, seen on Argo CD 3.2.0). "
        f"Once it is merged, since Argo CD puts the old ones back before: `{define_command(after)}`"
    )


def define_command(after: SeenCluster) -> str:
    """Applies the definitions of the chart by hand."""
    chart = after.plan.chart
    assert chart is not None, "the operator's chart brings the definitions"
    repository, version = shlex.quote(chart.repository), shlex.quote(chart.version)
    is_registry = chart.repository.startswith("oci://")
    named = f"{repository}/{chart.name}" if is_registry else f"{chart.name} --repo {repository}"
    return f"helm show crds {named} --version {version} | kubectl apply --server-side --force-conflicts -f -"
