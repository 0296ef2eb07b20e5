"""Pass: what the support matrices say, and where they say nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan


def note_support(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """A combination without a row is generated, with a note per pool."""
    release = facts.need_release()
    kubernetes = plan.cluster.spec.kubernetes
    matrix = facts.catalog.support_matrices.get(release.line)
    if matrix is None:
        facts.report_cluster(
            codes.NO_SUPPORT_ROW,
            "/spec/stack/release",
            f"the catalog has no support matrix for {release.tag}; whether the combination is supported is unknown",
            help="nothing to do, if it works for you",
        )
        return plan
    column = facts.distribution.column if facts.distribution else "kubernetes"
    for pool in plan.pools:
        spec = pool.profile.spec
        pointers = {system.version: system.version_pointer for system in spec.systems}
        for version, pointer in pointers.items():
            if matrix.covers(os_id=spec.os.id, os_version=version, column=column, kubernetes=kubernetes.version):
                continue
            facts.report_pool(
                codes.NO_SUPPORT_ROW,
                pool,
                pointer if len(pointers) > 1 else "/spec/os",
                f"the matrix of {release.line} has no row for {spec.os.id} {version} "
                f"with {kubernetes.distribution} {kubernetes.version}",
                help="nothing to do, if it works for you",
            )
    return plan
