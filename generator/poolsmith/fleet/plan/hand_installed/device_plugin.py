"""Pass: the device plugin, by its own chart where something needs more than the plain DaemonSet does.

docs/decisions.md says why there are two forms.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.sources.nested import value_at
from poolsmith.fleet.plan.hand_installed.daemon_set import plain_daemon_set
from poolsmith.fleet.plan.hand_installed.hosts import host_notes, kubelet_root, runtime_class
from poolsmith.fleet.plan.hand_installed.placement import GPU_TOLERATION, pool_affinity, tolerations_over
from poolsmith.fleet.plan.mig import MIG_STRATEGY
from poolsmith.fleet.plan.origin import Derived, FromCatalog
from poolsmith.fleet.plan.plan import ClusterPlan, HelmChart, KubernetesObject, UnitPlan, ValueSetting
from poolsmith.fleet.plan.registry import mirrored
from poolsmith.gpu.catalog.chart_workloads import chart_releases, read_chart_workloads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.origin import Origin
    from poolsmith.gpu.catalog.chart_workloads import ChartEntry

CHART = "nvidia-device-plugin"
_UNIT = "device-plugin"
_CONFIG = ("devicePlugin", "config")
"""Where the operator's chart has what this one has at `config`."""
_NO_STRATEGY = "none"
_BY_ENVIRONMENT = "envvar"
_STEP = "hand_installed"


def plan_device_plugin(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """One unit, whichever form it has."""
    asking = _asks_for_chart(plan, facts)
    unit = _chart(plan, facts, asking) if asking else _plain(plan, facts)
    config = tuple(setting for setting in plan.values if setting.path[:2] == _CONFIG)
    kept = tuple(setting for setting in plan.values if setting not in config)
    return replace(plan, values=kept, units=(*plan.units, unit), notes=(*plan.notes, *host_notes(plan, facts)))


def known_plugin_releases() -> tuple[str, ...]:
    """Release tags of the device plugin whose chart the catalog has, oldest first."""
    return chart_releases(CHART)


def _asks_for_chart(plan: ClusterPlan, facts: Facts) -> tuple[Origin, ...]:
    """What the plain DaemonSet can't do: it reads no configuration, and advertises whole GPUs."""
    found = [facts.at_pool(pool, "/spec/sharing") for pool in plan.pools if pool.device_plugin_config is not None]
    found += [facts.at_pool(pool, "/spec/gpu/mig") for pool in plan.pools if pool.mig_strategy is not None]
    if plan.cluster.spec.stack.gpu_feature_discovery:
        found.append(facts.at_cluster("/spec/stack/gpuFeatureDiscovery"))
    return tuple(found)


def _plain(plan: ClusterPlan, facts: Facts) -> UnitPlan:
    data = facts.catalog.device_plugin["devicePlugin"]
    release = plan.cluster.spec.stack.release
    source = FromCatalog(f"device_plugin/{release}", data["source"])
    origin = Derived(_STEP, "the hand-installed device plugin", (facts.at_cluster("/spec/stack/kind"), source))
    body = plain_daemon_set(
        image=f"{mirrored(data['image'], plan.cluster.spec.registry.mirrors)}:{release}",
        namespace=plan.namespace,
        folder=f"{kubelet_root(facts)}/device-plugins",
        affinity=pool_affinity(plan),
        tolerations=tolerations_over(plan, [GPU_TOLERATION]),
        secrets=list(plan.cluster.spec.registry.pull_secrets),
        runtime_class=facts.host_runtime_class,
    )
    return UnitPlan(
        name=_UNIT,
        folder=f"units/{_UNIT}",
        namespace=plan.namespace,
        title=f"NVIDIA device plugin {release}",
        objects=(KubernetesObject(file="daemonset.yaml", body=body, origin=origin), *runtime_class(facts)),
    )


def _chart(plan: ClusterPlan, facts: Facts, asking: tuple[Origin, ...]) -> UnitPlan:
    data = facts.catalog.device_plugin["devicePlugin"]
    release = plan.cluster.spec.stack.release
    entry = read_chart_workloads(CHART, release)
    assert entry is not None, "look_up knows the release"
    if facts.distribution is not None and facts.distribution.kubelet_root is not None:
        facts.report_cluster(
            codes.STACK_CONTRADICTION,
            "/spec/kubernetes/distribution",
            f"the kubelet of {facts.distribution.name} keeps its files in {facts.distribution.kubelet_root}, and the "
            "chart of the device plugin has no value for that: sharing, MIG and GPU feature discovery need the chart",
            help="remove these from the cluster, or write `stack: {kind: operator}`",
        )
    settings = tuple(_values(plan, facts, entry, asking))
    defaults = entry.defaults or {}
    return UnitPlan(
        name=_UNIT,
        folder=f"units/{_UNIT}",
        namespace=plan.namespace,
        title=f"NVIDIA device plugin {release}",
        objects=runtime_class(facts),
        values=tuple(setting for setting in settings if value_at(defaults, setting.path) != setting.value),
        chart=HelmChart(
            name=CHART,
            version=entry.version,
            repository=plan.cluster.spec.delivery.chart_repo or data["repository"],
            publisher=data["repository"],
            values_file=f"units/{_UNIT}/values/{CHART}.yaml",
        ),
        catalog_release=release,
    )


def _values(plan: ClusterPlan, facts: Facts, entry: ChartEntry, asking: tuple[Origin, ...]) -> Iterator[ValueSetting]:
    spec, defaults = plan.cluster.spec, entry.defaults or {}
    pools = facts.at_cluster("/spec/poolLabel")
    yield ValueSetting(("affinity",), pool_affinity(plan), Derived(_STEP, "runs where GPUs are", (pools,)))
    because = "nodes of tainted pools need it; the list replaces the chart's, so it starts with those entries"
    tolerations = tolerations_over(plan, list(defaults["tolerations"]))
    yield ValueSetting(("tolerations",), tolerations, Derived(_STEP, because, (pools,)))
    yield from _strategy(plan, facts, asking)
    if (name := facts.host_runtime_class) is not None:
        yield ValueSetting(("runtimeClassName",), name, facts.at_cluster("/spec/kubernetes/distribution"))
    if spec.stack.gpu_feature_discovery:
        wanted = facts.at_cluster("/spec/stack/gpuFeatureDiscovery")
        yield ValueSetting(("gfd", "enabled"), True, wanted)
        own = Derived(_STEP, "Node Feature Discovery is a unit of its own, or somebody else's", (wanted,))
        yield ValueSetting(("nfd", "enabled"), False, own)
    image = str(defaults["image"]["repository"])
    yield ValueSetting(
        ("image", "repository"), mirrored(image, spec.registry.mirrors), facts.at_cluster("/spec/registry/mirrors")
    )
    if spec.registry.pull_secrets:
        secrets = [{"name": name} for name in spec.registry.pull_secrets]
        yield ValueSetting(("imagePullSecrets",), secrets, facts.at_cluster("/spec/registry/pullSecrets"))
    if plan.namespace == "default":
        yield ValueSetting(("allowDefaultNamespace",), True, facts.at_cluster("/spec/stack/namespace"))


def _strategy(plan: ClusterPlan, facts: Facts, asking: tuple[Origin, ...]) -> Iterator[ValueSetting]:
    """What of MIG there is to see. Where it is not said, the chart gives SYS_ADMIN, for there might be any."""
    found = next((item.value for item in plan.singletons if item.name == MIG_STRATEGY), _NO_STRATEGY)
    because = "one for the cluster; where nothing is said, the chart gives the capability to see partitions"
    partitioned = tuple(facts.at_pool(pool, "/spec/gpu/mig") for pool in plan.pools if pool.mig_strategy is not None)
    yield ValueSetting(("migStrategy",), found, Derived(_STEP, because, partitioned or asking))
    config = [setting for setting in plan.values if setting.path[:2] == _CONFIG]
    for setting in config:
        yield ValueSetting(setting.path[1:], setting.value, setting.origin)
    if config and found == _NO_STRATEGY:
        because = "the plugin's own default; where nothing is said, the chart gives the capability to mount"
        yield ValueSetting(("deviceListStrategy",), _BY_ENVIRONMENT, Derived(_STEP, because, asking))
