"""Pass: where each toolkit finds the container runtime that it configures.

The operator's toolkit has one set of paths for the whole cluster; a pool with a toolkit of its own has its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.facts.versions import at_least
from poolsmith.core.record import replace
from poolsmith.fleet.plan.facts import agreed, with_values
from poolsmith.fleet.plan.origin import Derived, FromCatalog
from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan, ToolkitOverlay, ValueSetting
from poolsmith.fleet.plan.runtime.device_injection import leaves_configuration, uses_cdi
from poolsmith.fleet.plan.runtime.mixed_runtimes import RUNTIME, operator_runtime
from poolsmith.fleet.plan.runtime.runtime_checks import (
    PATH_FIELDS,
    check_heeded,
    check_paths,
    check_versions,
    pointer_of,
    reads_file,
)
from poolsmith.fleet.profiles.node_pool import ToolkitSource
from poolsmith.gpu.catalog.platforms import fill_paths

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.gpu.catalog.platforms import Distribution, RuntimePaths


_SOURCE_VARIABLE = "RUNTIME_CONFIG_SOURCE"


def choose_runtime(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Paths follow from the distribution, unless the profile gives them."""
    distribution = facts.distribution
    if distribution is None:
        return plan
    known: dict[str, RuntimePaths] = {}
    for pool in plan.pools:
        name = pool.profile.spec.runtime.name
        if name not in known:
            paths = distribution.paths(name, facts.need_release().line)
            if paths is None:
                _report_missing(pool, distribution, facts)
                return plan
            known[name] = paths
        if _is_configured(pool):
            check_paths(plan, pool, known[name], distribution, facts)
            _note_undocumented(plan, pool, known[name], distribution, facts)
        needed = _needed_paths(plan, pool, known[name], facts)
        if needed:
            facts.report_pool(
                codes.PATHS_UNKNOWN,
                pool,
                "/spec/runtime",
                f"where {distribution.name} keeps {name}'s configuration is unknown for {plan.line}",
                help="declare " + " and ".join(f"`runtime.{field}`" for field in needed),
            )
            return plan
    check_versions(plan, known, facts)
    operators = operator_runtime(plan.pools)
    configured = [pool for pool in plan.pools if pool.toolkit == ToolkitSource.OPERATOR]
    if configured:
        plan = _configure_operator(plan, configured, known[operators], facts)
    overlays = tuple(
        _overlay(plan, pool, known[pool.profile.spec.runtime.name], operators, facts)
        for pool in plan.pools
        if pool.toolkit == ToolkitSource.OVERLAY
    )
    return replace(plan, toolkit_overlays=overlays) if overlays else plan


def _is_configured(pool: PoolPlan) -> bool:
    """Whether a toolkit of ours writes the runtime's configuration; elsewhere its paths do not matter."""
    return pool.toolkit in (ToolkitSource.OPERATOR, ToolkitSource.OVERLAY)


def _note_undocumented(
    plan: ClusterPlan, pool: PoolPlan, paths: RuntimePaths, distribution: Distribution, facts: Facts
) -> None:
    """Paths that the operator's code still has, and the distribution's page does not name for this line yet."""
    if paths.is_documented(plan.line):
        return
    facts.report_pool(
        codes.NO_SUPPORT_ROW,
        pool,
        "/spec/runtime",
        f"the page of {distribution.name} names its paths for {listed(paths.documented)}; with {plan.line} they are "
        "taken to be the same",
        help="nothing to do, if it works for you",
    )


def _report_missing(pool: PoolPlan, distribution: Distribution, facts: Facts) -> None:
    facts.report_pool(
        codes.UNKNOWN_RUNTIME,
        pool,
        RUNTIME,
        f"{distribution.name} does not come with {pool.profile.spec.runtime.name}, by the catalog",
        help=f"{distribution.name} runs " + listed(distribution.rules),
    )


def _needed_paths(plan: ClusterPlan, pool: PoolPlan, paths: RuntimePaths, facts: Facts) -> list[str]:
    """What the profile has to say where the catalog does not know: all of it, or nothing."""
    runtime = pool.profile.spec.runtime
    if not paths.unknown or not _is_configured(pool) or leaves_configuration(plan, facts):
        return []
    variables = facts.catalog.runtimes.by_name[runtime.name].variables
    needed = [field for field in PATH_FIELDS[:2] if field in variables]
    return needed if any(getattr(runtime, field) is None for field in needed) else []


def _configure_operator(plan: ClusterPlan, pools: Sequence[PoolPlan], paths: RuntimePaths, facts: Facts) -> ClusterPlan:
    given = {field: _shared(pools, field, facts) for field in PATH_FIELDS}
    env = _environment(plan, pools, given, paths, facts)
    check_heeded(pools[0], env, facts)
    settings = []
    origin = _origin(plan, pools[0], given, facts)
    if env:
        value = [{"name": name, "value": value} for name, value in env.items()]
        settings.append(ValueSetting(("toolkit", "env"), value, origin))
    if paths.device_plugin_env:
        settings.append(
            ValueSetting(("devicePlugin", "env"), _beside_the_charts(paths.device_plugin_env, facts), origin)
        )
    return with_values(plan, *settings)


def _beside_the_charts(env: Sequence[Mapping[str, str]], facts: Facts) -> list[Mapping[str, str]]:
    """With the variables of the chart's own list, which a list of values replaces."""
    default = facts.chart.default(("devicePlugin", "env")) if facts.chart is not None else None
    own = {item["name"] for item in env}
    return [*(item for item in default or () if item["name"] not in own), *env]


def _overlay(plan: ClusterPlan, pool: PoolPlan, paths: RuntimePaths, operators: str, facts: Facts) -> ToolkitOverlay:
    runtime = pool.profile.spec.runtime
    given = {field: getattr(runtime, field) for field in PATH_FIELDS}
    env = _environment(plan, (pool,), given, paths, facts)
    check_heeded(pool, env, facts)
    if not uses_cdi(plan, facts):  # with CDI the operator says the same itself
        env |= dict(facts.catalog.runtimes.by_name[runtime.name].own_toolkit)
    return ToolkitOverlay(
        pool=pool.name,
        called=pool.object_name,
        runtime=runtime.name,
        pool_label=plan.cluster.spec.pool_label,
        label_value=pool.label_value,
        env=tuple(env.items()),
        taints=pool.taints_of_new_nodes,
        origin=Derived(
            "container_runtime",
            f"configures {runtime.name}"
            + (
                ", at other paths than the operator's" if runtime.name == operators else f", the operator's {operators}"
            ),
            (facts.at_pool(pool, RUNTIME), _origin(plan, pool, given, facts)),
        ),
    )


def _environment(
    plan: ClusterPlan,
    pools: Sequence[PoolPlan],
    given: dict[str, str | None],
    paths: RuntimePaths,
    facts: Facts,
) -> dict[str, str]:
    """The toolkit's variables, in order: the distribution's, then paths that profiles give."""
    if leaves_configuration(plan, facts):
        return {}
    entry = facts.catalog.runtimes.by_name[pools[0].profile.spec.runtime.name]
    chosen = {field: given[field] or known for field, known in paths.by_field.items()}
    kubernetes = plan.cluster.spec.kubernetes.version
    env = {
        item["name"]: fill_paths(item["value"], chosen)
        for item in paths.env
        if "fromKubernetes" not in item or at_least(kubernetes, item["fromKubernetes"])
    }
    for field, variable in entry.variables.items():
        if given[field]:
            env.setdefault(variable, given[field] or "")
    if any(reads_file(pool, entry, facts) for pool in pools):
        env.setdefault(_SOURCE_VARIABLE, f"file={chosen['config']}")
    return env


def _origin(plan: ClusterPlan, first: PoolPlan, given: dict[str, str | None], facts: Facts) -> Derived:
    distribution = plan.cluster.spec.kubernetes.distribution
    asked = [facts.at_cluster("/spec/kubernetes/distribution")]
    asked += [facts.at_pool(first, pointer_of(field)) for field in PATH_FIELDS if given[field]]
    source = FromCatalog(f"distributions/{distribution}", facts.distribution.source if facts.distribution else "")
    name = first.profile.spec.runtime.name
    return Derived(
        "container_runtime", f"where {name} of {distribution} is configured in {plan.line}", (*asked, source)
    )


def _shared(pools: Sequence[PoolPlan], field: str, facts: Facts) -> str | None:
    """A path that profiles give: all pools of the operator's toolkit must agree."""
    value, first, other = agreed(pools, lambda pool: getattr(pool.profile.spec.runtime, field))
    if other is not None:
        with_path = first if value is not None else other
        without = other if with_path is first else first
        facts.report_pool(
            codes.SINGLETON_CONFLICT,
            with_path,
            pointer_of(field),
            f"pools `{with_path.name}` and `{without.name}` give different runtime paths; "
            "the operator's toolkit has one for all",
            help="give all pools of the cluster the same path, for example in a base; or give pools with other paths a "
            "toolkit of their own: `toolkit: {source: overlay}`",
            related=((without, "/spec/runtime", "the other pool"),),
        )
    return str(value) if value is not None else None
