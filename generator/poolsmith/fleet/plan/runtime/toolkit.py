"""Pass: one container toolkit per pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.record import replace
from poolsmith.fleet.plan.facts import map_pools, with_values
from poolsmith.fleet.plan.origin import Derived, FromCatalog
from poolsmith.fleet.plan.plan import ClusterPlan, LabelSetting, PoolPlan, ValueSetting
from poolsmith.fleet.plan.runtime.device_injection import CDI, asked_cdi, needing_cdi, uses_cdi, uses_nri
from poolsmith.fleet.plan.runtime.mixed_runtimes import RUNTIME, operator_runtime
from poolsmith.fleet.profiles.driver import DriverSource
from poolsmith.fleet.profiles.node_pool import ToolkitSource, Workload
from poolsmith.gpu.catalog.node_labels import DEPLOY_TOOLKIT
from poolsmith.gpu.drivers.driver_support import carries_toolkit, carries_toolkit_with_driver

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts


SOURCE = "/spec/toolkit/source"
_DRIVER = "/spec/driver/source"
_RUNTIME_CLASS = ("operator", "runtimeClass")


def choose_toolkits(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Explicit and contradicted is an error; `auto` follows from operating system, workload and container runtime."""
    operators = operator_runtime(plan.pools)
    plan = map_pools(plan, lambda pool: replace(pool, toolkit=_choose(pool, operators, facts)))
    _check_overlays(plan, operators, facts)
    plan = _ask_for_the_platforms_class(plan, facts)
    users = [pool for pool in plan.pools if pool.toolkit != "none"]
    outside = [pool for pool in users if pool.toolkit == ToolkitSource.PREINSTALLED]
    if outside and len(outside) == len(users):
        because = "every pool that runs containers has its toolkit already"
        origins = tuple(facts.at_pool(pool, SOURCE) for pool in outside)
        return with_values(plan, ValueSetting(("toolkit", "enabled"), False, Derived("toolkit", because, origins)))
    if outside and uses_cdi(plan, facts):
        ours = next(pool for pool in users if pool.toolkit != ToolkitSource.PREINSTALLED)
        plan = _without_cdi(plan, outside[0], ours, facts)
    return map_pools(plan, lambda pool: _opt_out(pool, DEPLOY_TOOLKIT, operators, facts))


def _without_cdi(plan: ClusterPlan, outside: PoolPlan, ours: PoolPlan, facts: Facts) -> ClusterPlan:
    """Under CDI the device plugin names a hook of the operator's toolkit, which other nodes don't have.

    Source: NVIDIA/gpu-operator:controllers/object_controls.go, NVIDIA_CDI_HOOK_PATH.
    """
    needing = needing_cdi(plan, facts)
    if needing:
        facts.report_pool(
            codes.TOOLKIT_CONTRADICTION,
            outside,
            SOURCE,
            f"pool `{outside.name}` has its own toolkit, pool `{ours.name}` the operator's, which can't have CDI then; "
            f"pool `{needing[0].name}` runs {needing[0].profile.spec.os.id}, and needs CDI",
            help="move one of the pools to a cluster of its own",
            related=((needing[0], "/spec/os/id", "needs CDI"),),
        )
        return plan
    if asked_cdi(plan) is None and not uses_nri(plan):
        why = "a pool has a toolkit of its own, and CDI would look for the operator's there"
        origins = tuple(facts.at_pool(pool, SOURCE) for pool in (outside, ours))
        return with_values(plan, ValueSetting(CDI, False, Derived("toolkit", why, origins)))
    asked = "cdi.nriPluginEnabled" if uses_nri(plan) else "cdi.enabled"
    facts.report_pool(
        codes.TOOLKIT_CONTRADICTION,
        outside,
        SOURCE,
        f"pool `{outside.name}` has its own toolkit, pool `{ours.name}` the operator's; with `{asked}: true` in "
        "stack.values the device plugin looks for the operator's on all nodes",
        help=f"remove `{asked}` from stack.values: CDI is then off in this cluster, and both toolkits work",
        related=((ours, SOURCE, "the operator's toolkit"),),
    )
    return plan


def _ask_for_the_platforms_class(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """The operator's pods ask for one runtime class, which a toolkit of the platform may call otherwise.

    The operator's own toolkit goes by that name too.
    """
    distribution = facts.distribution
    own = [pool for pool in plan.pools if pool.toolkit == ToolkitSource.PREINSTALLED]
    if distribution is None or distribution.toolkit_runtime_class is None or not own:
        return plan
    because = f"the toolkit of {distribution.name} has its runtime under this name"
    origins = (
        facts.at_cluster("/spec/kubernetes/distribution"),
        *(facts.at_pool(pool, _why_preinstalled(pool)) for pool in own),
        FromCatalog(f"distributions/{distribution.name}", distribution.source),
    )
    return with_values(
        plan, ValueSetting(_RUNTIME_CLASS, distribution.toolkit_runtime_class, Derived("toolkit", because, origins))
    )


def _why_preinstalled(pool: PoolPlan) -> str:
    """The line that a toolkit of the node's own follows from."""
    return SOURCE if pool.profile.spec.toolkit.source is ToolkitSource.PREINSTALLED else _DRIVER


def _opt_out(pool: PoolPlan, key: str, operators: str, facts: Facts) -> PoolPlan:
    if pool.toolkit == ToolkitSource.PREINSTALLED:
        because = Derived(
            "toolkit", "keeps the operator's toolkit off nodes that have one", (facts.at_pool(pool, SOURCE),)
        )
    elif pool.toolkit == ToolkitSource.OVERLAY:
        because = Derived(
            "toolkit",
            f"keeps the operator's toolkit, which configures {operators}, off nodes that get one of their own",
            (facts.at_pool(pool, RUNTIME),),
        )
    else:
        return pool
    return replace(pool, labels=(*pool.labels, LabelSetting(key, "false", "provisioner", because)))


def _choose(pool: PoolPlan, operators: str, facts: Facts) -> str:
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
    entry = facts.catalog.operating_systems.get(spec.os.id)
    brought = all(carries_toolkit(entry, system.version) for system in spec.systems)
    beside_driver = carries_toolkit_with_driver(entry) and spec.driver.source is DriverSource.PREINSTALLED
    if brought and source in (ToolkitSource.OPERATOR, ToolkitSource.OVERLAY):
        facts.report_pool(
            codes.TOOLKIT_CONTRADICTION,
            pool,
            SOURCE,
            f"{spec.os.id} contains its toolkit; a second one would write the same configuration",
            help="write `source: auto`",
        )
    beside_driver = beside_driver or _platform_brings(pool, facts)
    if source is ToolkitSource.PREINSTALLED or ((brought or beside_driver) and source is ToolkitSource.AUTO):
        return ToolkitSource.PREINSTALLED.value
    foreign = spec.runtime.name != operators
    if foreign and source is ToolkitSource.OPERATOR:
        facts.report_pool(
            codes.TOOLKIT_CONTRADICTION,
            pool,
            SOURCE,
            f"the operator's toolkit configures {operators} in this cluster, and pool `{pool.name}` runs "
            f"{spec.runtime.name}",
            help="write `source: auto`; the pool then gets a toolkit of its own",
        )
    if foreign or source is ToolkitSource.OVERLAY:
        return ToolkitSource.OVERLAY.value
    return ToolkitSource.OPERATOR.value


def _platform_brings(pool: PoolPlan, facts: Facts) -> bool:
    """Whether the platform's image has a toolkit, because it has a driver."""
    with_driver = pool.profile.spec.driver.source is DriverSource.PREINSTALLED
    return with_driver and facts.distribution is not None and facts.distribution.driver_brings_toolkit


def _check_overlays(plan: ClusterPlan, operators: str, facts: Facts) -> None:
    """A second toolkit for the runtime that the operator configures anyway is needed for other paths only."""
    served = {_paths(pool) for pool in plan.pools if pool.toolkit == ToolkitSource.OPERATOR}
    for pool in plan.pools:
        asked = pool.toolkit == ToolkitSource.OVERLAY and pool.profile.spec.runtime.name == operators
        if asked and (not served or _paths(pool) in served):
            facts.report_pool(
                codes.TOOLKIT_CONTRADICTION,
                pool,
                SOURCE,
                f"nothing needs a toolkit of its own on pool `{pool.name}`: the operator's configures {operators}, "
                "at the same paths",
                help="write `source: auto`",
            )


def _paths(pool: PoolPlan) -> tuple[str | None, ...]:
    runtime = pool.profile.spec.runtime
    return runtime.config, runtime.socket, runtime.drop_in
