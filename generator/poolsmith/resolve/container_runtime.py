"""Pass: the one container runtime of the cluster, and the toolkit's way to it. Floor: resolve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.catalog.versions import at_least
from poolsmith.diagnostics.codes import compatibility as codes
from poolsmith.diagnostics.suggest import listed
from poolsmith.model.node_pool import ToolkitSource
from poolsmith.model.origin import Derived, FromCatalog
from poolsmith.model.plan import ClusterPlan, PoolPlan, ValueSetting
from poolsmith.resolve.facts import agreed, with_singleton, with_values

if TYPE_CHECKING:
    from poolsmith.catalog.platforms import RuntimePaths
    from poolsmith.resolve.facts import Facts

_PATH_FIELDS = ("config", "socket", "drop_in")
_CONTAINERD_ENV = (
    ("CONTAINERD_CONFIG", "config"),
    ("CONTAINERD_SOCKET", "socket"),
    ("RUNTIME_DROP_IN_CONFIG", "drop_in"),
)


def choose_runtime(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """The operator configures one runtime on all nodes; its paths follow from the distribution."""
    name, first, other = agreed(plan.pools, lambda pool: pool.profile.spec.runtime.name)
    if other is not None:
        facts.report_pool(
            codes.MIXED_RUNTIMES,
            other,
            "/spec/runtime/name",
            f"pool `{other.name}` runs {other.profile.spec.runtime.name}, pool `{first.name}` runs {name}; "
            "the operator configures one runtime for all",
            help="give all pools of a cluster one runtime, or move the pool to a cluster of its own",
            related=((first, "/spec/runtime/name", f"{name} here"),),
        )
        return plan
    plan = with_singleton(plan, "container runtime", name, plan.pools, "the operator configures one on all nodes")
    paths = _paths(plan, name, facts)
    if paths is None:
        return plan
    for pool in plan.pools:
        _check_version(pool, name, paths, facts)
    configured = _configured(plan)
    return _toolkit_environment(plan, configured, name, paths, facts) if configured else plan


def _configured(plan: ClusterPlan) -> list[PoolPlan]:
    """The pools whose runtime the operator's toolkit configures; elsewhere its paths do not matter."""
    return [pool for pool in plan.pools if pool.toolkit == ToolkitSource.OPERATOR]


def _paths(plan: ClusterPlan, name: str, facts: Facts) -> RuntimePaths | None:
    distribution = facts.distribution
    if distribution is None:
        return None
    paths = distribution.paths(name, facts.need_release().line)
    if paths is None:
        facts.report_pool(
            codes.UNKNOWN_RUNTIME,
            plan.pools[0],
            "/spec/runtime/name",
            f"{distribution.name} does not come with {name}, as far as the catalog knows",
            help=f"{distribution.name} runs " + listed(distribution.rules),
        )
        return None
    if paths.unknown:
        for pool in _configured(plan):
            runtime = pool.profile.spec.runtime
            if runtime.config is None or runtime.socket is None:
                facts.report_pool(
                    codes.PATHS_UNKNOWN,
                    pool,
                    "/spec/runtime",
                    f"where {distribution.name} keeps {name}'s configuration is unknown for {plan.line}",
                    help="declare `runtime.config` and `runtime.socket`",
                )
                return None
    return paths


def _check_version(pool: PoolPlan, name: str, paths: RuntimePaths, facts: Facts) -> None:
    version = pool.profile.spec.runtime.version
    release = facts.need_release()
    minima = [paths.minimum] if paths.minimum else []
    if release.cdi_default:
        minima.append(facts.catalog.cdi_minimum[name])
    for minimum in minima:
        if version is not None and not at_least(version, minimum):
            facts.report_pool(
                codes.RUNTIME_TOO_OLD,
                pool,
                "/spec/runtime/version",
                f"{name} {version} is older than {minimum}, which {release.tag} needs here",
                help=f"upgrade {name} to {minimum} or later, or pin an older release",
            )
            return


def _toolkit_environment(
    plan: ClusterPlan, pools: list[PoolPlan], name: str, paths: RuntimePaths, facts: Facts
) -> ClusterPlan:
    first = pools[0]
    given = {field: _given(pools, field, facts) for field in _PATH_FIELDS}
    if given["drop_in"] and not facts.need_release().drop_in:
        facts.report_pool(
            codes.FIELD_WITHOUT_EFFECT,
            first,
            "/spec/runtime/dropIn",
            f"the toolkit of {facts.need_release().tag} knows no drop-in file; it edits the configuration itself",
            help="remove `runtime.dropIn`",
        )
    catalog_values = {"config": paths.config, "socket": paths.socket, "drop_in": paths.drop_in}
    chosen = {field: given[field] or catalog_values[field] for field in _PATH_FIELDS}
    if name != "containerd" and any(given.values()):
        facts.report_pool(
            codes.NOT_GENERATED_YET,
            first,
            "/spec/runtime",
            f"paths of {name} can't be changed yet; the operator's own are used",
            help="remove runtime.config, runtime.socket and runtime.dropIn",
        )
        return plan
    kubernetes = plan.cluster.spec.kubernetes.version
    env = []
    for entry in paths.env:
        if "fromKubernetes" in entry and not at_least(kubernetes, entry["fromKubernetes"]):
            continue
        env.append({"name": entry["name"], "value": _fill(entry["value"], chosen)})
    named = {entry["name"] for entry in env}
    for variable, field in _CONTAINERD_ENV:
        if given[field] and variable not in named:
            env.append({"name": variable, "value": chosen[field] or ""})
    distribution = plan.cluster.spec.kubernetes.distribution
    asked = [facts.at_cluster("/spec/kubernetes/distribution")]
    asked += [facts.at_pool(first, f"/spec/runtime/{_yaml_name(field)}") for field in _PATH_FIELDS if given[field]]
    source = FromCatalog(f"distributions/{distribution}", facts.distribution.source if facts.distribution else "")
    origin = Derived(
        "container_runtime", f"where {name} of {distribution} is configured in {plan.line}", (*asked, source)
    )
    settings = []
    if env:
        settings.append(ValueSetting(("toolkit", "env"), env, origin))
    if paths.device_plugin_env:
        settings.append(ValueSetting(("devicePlugin", "env"), list(paths.device_plugin_env), origin))
    return with_values(plan, *settings)


def _given(pools: list[PoolPlan], field: str, facts: Facts) -> str | None:
    """A path that profiles give: cluster-wide, so all pools must agree."""
    value, first, other = agreed(pools, lambda pool: getattr(pool.profile.spec.runtime, field))
    if other is not None:
        pointer = f"/spec/runtime/{_yaml_name(field)}"
        with_path = first if value is not None else other
        without = other if with_path is first else first
        facts.report_pool(
            codes.SINGLETON_CONFLICT,
            with_path,
            pointer,
            f"pools `{with_path.name}` and `{without.name}` give different runtime paths; the toolkit has one for all",
            help="give all pools of the cluster the same path, for example in a base",
            related=((without, "/spec/runtime", "the other pool"),),
        )
    return str(value) if value is not None else None


def _yaml_name(field: str) -> str:
    return "dropIn" if field == "drop_in" else field


def _fill(template: str, paths: dict[str, str | None]) -> str:
    for placeholder, field in (("{config}", "config"), ("{socket}", "socket"), ("{dropIn}", "drop_in")):
        template = template.replace(placeholder, paths[field] or "")
    return template
