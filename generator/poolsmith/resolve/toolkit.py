"""Pass: one container toolkit per pool. Floor: resolve."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.diagnostics.codes import compatibility as codes
from poolsmith.model.node_pool import ToolkitSource, Workload
from poolsmith.model.origin import Derived
from poolsmith.model.plan import ClusterPlan, LabelSetting, PoolPlan, ValueSetting
from poolsmith.resolve.facts import map_pools, with_values

if TYPE_CHECKING:
    from poolsmith.resolve.facts import Facts

SOURCE = "/spec/toolkit/source"


def choose_toolkits(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Explicit and contradicted is an error; `auto` follows from operating system and workload."""
    plan = map_pools(plan, lambda pool: replace(pool, toolkit=_choose(pool, facts)))
    users = [pool for pool in plan.pools if pool.toolkit != "none"]
    outside = [pool for pool in users if pool.toolkit == ToolkitSource.PREINSTALLED]
    if not outside:
        return plan
    origins = tuple(facts.at_pool(pool, SOURCE) for pool in outside)
    if len(outside) == len(users):
        because = "every pool that runs containers has its toolkit already"
        return with_values(plan, ValueSetting(("toolkit", "enabled"), False, Derived("toolkit", because, origins)))
    operator = next(pool for pool in users if pool.toolkit == ToolkitSource.OPERATOR)
    if facts.need_release().cdi_default:
        facts.report_pool(
            codes.TOOLKIT_CONTRADICTION,
            outside[0],
            SOURCE,
            f"pool `{outside[0].name}` has its own toolkit, pool `{operator.name}` the operator's; "
            f"under CDI ({plan.cluster.spec.stack.release}) that does not work",
            help="use one toolkit source for all pools of the cluster",
            related=((operator, SOURCE, "the operator's toolkit"),),
        )
        return plan
    key = facts.catalog.releases.labels.deploy_toolkit
    return map_pools(plan, lambda pool: _opt_out(pool, key, facts) if pool in outside else pool)


def _opt_out(pool: PoolPlan, key: str, facts: Facts) -> PoolPlan:
    because = Derived("toolkit", "keeps the operator's toolkit off nodes that have one", (facts.at_pool(pool, SOURCE),))
    return replace(pool, labels=(*pool.labels, LabelSetting(key, "false", "provisioner", because)))


def _choose(pool: PoolPlan, facts: Facts) -> str:
    spec = pool.profile.spec
    source = spec.toolkit.source
    if spec.workload is not Workload.CONTAINER:
        if source is not ToolkitSource.AUTO:
            facts.report_pool(
                codes.TOOLKIT_CONTRADICTION,
                pool,
                SOURCE,
                f"a pool of workload `{spec.workload}` runs no GPU containers on the host and has no toolkit",
                help="remove `toolkit.source`",
            )
        return "none"
    if source is ToolkitSource.OVERLAY:
        facts.report_pool(
            codes.NOT_GENERATED_YET,
            pool,
            SOURCE,
            "toolkit overlays, for a second container runtime in one cluster, are not generated yet",
            help="write `source: auto`, and keep one container runtime per cluster",
        )
    entry = facts.catalog.operating_systems.get(spec.os.id)
    brought = entry is not None and entry.toolkit == "os"
    if brought and source is ToolkitSource.OPERATOR:
        facts.report_pool(
            codes.TOOLKIT_CONTRADICTION,
            pool,
            SOURCE,
            f"{spec.os.id} carries its toolkit itself; a second one would write the same configuration",
            help="write `source: auto`",
        )
    if source is ToolkitSource.PREINSTALLED or (brought and source is ToolkitSource.AUTO):
        return ToolkitSource.PREINSTALLED.value
    return ToolkitSource.OPERATOR.value
