"""The rules over privileges and grants, listed by hand, and their run over what a cluster's profiles produce."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import joined, plural
from poolsmith.core.diagnostics.outcome import Skipped
from poolsmith.core.diagnostics.rule_engine import run_rules
from poolsmith.core.record import replace
from poolsmith.core.sources.pod_template import account_of, pod_template_of
from poolsmith.guard.ledger.ledger_view import PrivilegeView, SeenWorkload
from poolsmith.guard.ledger.rules import (
    expired_grant,
    expiring_grant,
    grant_without_reason,
    host_network,
    no_grants,
    node_agent_patches_nodes,
    privileged_child_pod,
    reads_secrets,
    ungranted_privilege,
    unused_grant,
    wide_grant,
    workload_without_business,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.core.diagnostics.rule_engine import Rule
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.guard.ledger.grants.grant_use import GrantReview, UngrantedView
    from poolsmith.guard.ledger.ledger import LineOrigins
    from poolsmith.guard.ledger.prediction import Prediction


PRIVILEGE_RULES: tuple[Rule[PrivilegeView, Location], ...] = (
    workload_without_business,
    privileged_child_pod,
    host_network,
    node_agent_patches_nodes,
    reads_secrets,
)
CLUSTER_GRANT_RULES: tuple[Rule[UngrantedView, Location], ...] = (ungranted_privilege,)
"""Over what one cluster holds."""
FLEET_GRANT_RULES: tuple[Rule[GrantReview, Location], ...] = (
    unused_grant,
    expired_grant,
    expiring_grant,
    wide_grant,
    grant_without_reason,
    no_grants,
)
"""Over all grants, once all clusters have been looked at."""
GRANT_RULE_INFOS = (
    *(rule.RULE for rule in CLUSTER_GRANT_RULES),
    *(rule.RULE for rule in FLEET_GRANT_RULES),
)


_FEW = 3


def judge_privileges(view: PrivilegeView, cluster: str = "") -> tuple[Diagnostic, ...]:
    """`cluster` is what findings call it, where that is not its name."""
    cluster = cluster or view.cluster
    return run_rules(PRIVILEGE_RULES, replace(view, cluster=cluster), cluster)


def privilege_view(prediction: Prediction, loaded: LoadedCluster) -> PrivilegeView:
    origins = prediction.origins

    def reasons(workload: SeenWorkload, pool: str) -> LineOrigins:
        key = f"{workload.namespace}/{workload.workload}"
        return (*origins.of_pool(key, pool), *origins.of_workload(key))

    if prediction.shared.seen is None:
        prediction.shared.seen = tuple(_seen(prediction))
    return PrivilegeView(
        plan=prediction.plan,
        workloads=prediction.shared.seen,
        files=loaded.files,
        reasons=reasons,
        cluster=prediction.plan.name,
    )


def _seen(prediction: Prediction) -> Iterator[SeenWorkload]:
    """By namespace, kind and name."""
    for key, found in groupby(prediction.ledger.holders, attrgetter("key")):
        holders = list(found)
        pools = tuple(sorted({pool for holder in holders for pool in holder.pools}))
        first = next(holder for holder in holders if pools[0] in holder.pools)
        item = prediction.shared.made[key]
        yield SeenWorkload(
            namespace=first.namespace,
            workload=first.workload,
            account=account_of(pod_template_of(item.body)),
            maker=item.maker.value,
            through=item.through,
            pools=pools,
            lines=tuple(first.lines_on(pools[0])),
        )


def not_expanded(unknown: Mapping[str, tuple[str, ...]]) -> tuple[Skipped, ...]:
    """What the predictions of clusters leave unknown; clusters that lack the same stand together."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for cluster in sorted(unknown):
        if unknown[cluster]:
            alike.setdefault(unknown[cluster], []).append(cluster)
    return tuple(
        Skipped(
            f"operand expansion of {plural(len(clusters), 'cluster')} {joined(clusters, _FEW)}",
            f"not known: {joined(items, _FEW, '; ')}",
        )
        for items, clusters in alike.items()
    )
