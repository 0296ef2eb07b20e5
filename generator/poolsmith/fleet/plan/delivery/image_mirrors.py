"""Pass: images from mirrors, and the secrets to pull them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes.node_software import PACKAGE_SOURCE_UNSTATED
from poolsmith.core.record import replace
from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.plan.facts import with_values
from poolsmith.fleet.plan.origin import Derived, FromCatalog, Origin
from poolsmith.fleet.plan.plan import ClusterPlan, KubernetesObject, PoolDriverObject, ValueSetting
from poolsmith.fleet.profiles.cluster import NfdProvider
from poolsmith.fleet.profiles.driver import DriverSource
from poolsmith.gpu.catalog.charts import SUBCHART

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.gpu.catalog.chart_workloads import ChartEntry


PACKAGE_SOURCE = "package-source"
"""Acknowledged of a cluster or pool: driver containers reach the packages that they are compiled with."""
MIRRORS = "/spec/registry/mirrors"
SECRETS = "/spec/registry/pullSecrets"


def mirror_images(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """The host of every image reference is replaced, the rest is kept."""
    registry = plan.cluster.spec.registry
    if registry.mirrors:
        plan = _mirror(plan, registry.mirrors, facts)
        _report_packages(plan, facts)
    if registry.pull_secrets:
        plan = _add_secrets(plan, list(registry.pull_secrets), facts)
    return plan


def mirrored(reference: str, mirrors: dict[str, str]) -> str:
    """`nvcr.io/nvidia/driver` as `registry.example.com/nvcr/nvidia/driver`."""
    host, separator, rest = reference.partition("/")
    return f"{mirrors[host]}/{rest}" if separator and host in mirrors else reference


def _mirror(plan: ClusterPlan, mirrors: dict[str, str], facts: Facts) -> ClusterPlan:
    chart = facts.need_chart()
    taken = {setting.path: setting for setting in plan.values}
    settings = []
    for path, value in _leaves(chart.defaults, "repository"):
        current = taken[path].value if path in taken else value
        replaced = mirrored(str(current), mirrors)
        if replaced != current:
            origin = Derived(
                "registry", "pulled from the mirror of its host", (_at(str(current), facts), _known(facts))
            )
            settings.append(ValueSetting(path, replaced, origin))
    settings += _mirror_discovery(plan, mirrors, facts)
    changed = {setting.path for setting in settings}
    plan = replace(plan, values=tuple(setting for setting in plan.values if setting.path not in changed))
    plan = with_values(plan, *settings)
    plan = replace(
        plan,
        driver_objects=tuple(_mirror_driver(item, mirrors) for item in plan.driver_objects),
        units=tuple(
            replace(unit, objects=tuple(_mirror_object(item, mirrors) for item in unit.objects)) for unit in plan.units
        ),
    )
    _report_unreached(plan, mirrors, facts)
    return plan


def _mirror_discovery(plan: ClusterPlan, mirrors: dict[str, str], facts: Facts) -> Iterator[ValueSetting]:
    """The image of Node Feature Discovery, which the chart brings as a chart of its own."""
    path = (SUBCHART, "image", "repository")
    if plan.cluster.spec.nfd.provider is not NfdProvider.OPERATOR:
        return
    if value_at(plan.cluster.spec.stack.values, path) is not None:
        return
    entry = _discovery(facts)
    if entry is None:
        facts.report_cluster(
            codes.MIRROR_INCOMPLETE,
            MIRRORS,
            f"which image {SUBCHART} has in {facts.need_release().tag} is unknown",
            help=f"set `{'.'.join(path)}` in stack.values, to what your mirror has",
        )
        return
    current = str(value_at(entry.defaults, path[1:], ""))
    if (replaced := mirrored(current, mirrors)) != current:
        known = FromCatalog(f"chart_workloads/{SUBCHART}/{entry.version}", entry.source)
        origin = Derived("registry", "pulled from the mirror of its host", (_at(current, facts), known))
        yield ValueSetting(path, replaced, origin)


def _discovery(facts: Facts) -> ChartEntry | None:
    """What is known of that chart, as the release brings it."""
    from poolsmith.gpu.catalog.chart_workloads import read_chart_workloads  # on demand

    chart = read_chart_workloads(facts.catalog.releases.chart_name, facts.need_release().tag)
    version = chart.facts.get("nodeFeatureDiscovery") if chart is not None else None
    return read_chart_workloads(SUBCHART, version) if version is not None else None


def _report_unreached(plan: ClusterPlan, mirrors: dict[str, str], facts: Facts) -> None:
    """Images that are pulled from a mirrored host all the same, because nothing generated names them."""
    for source in (unit.source for unit in plan.units if unit.source is not None):
        for host in source.image_hosts:
            if host in mirrors:
                facts.report_cluster(
                    codes.MIRROR_INCOMPLETE,
                    f"{MIRRORS}/{host}",
                    f"manifests are taken from {source.repository}, and name images of {host}",
                    help="mirror that repository as well, or let the nodes' runtime know the mirror",
                )


def _report_packages(plan: ClusterPlan, facts: Facts) -> None:
    """Drivers that are compiled from packages which no mirror of images has."""
    everywhere = any(item.fact == PACKAGE_SOURCE for item in plan.cluster.spec.acknowledge)
    for pool in plan.pools:
        spec = pool.profile.spec
        if pool.driver is None or pool.driver.source != DriverSource.CONTAINER or spec.driver.repo_config is not None:
            continue
        if everywhere or any(item.fact == PACKAGE_SOURCE for item in spec.acknowledge):
            continue
        facts.report_pool(
            PACKAGE_SOURCE_UNSTATED,
            pool,
            "/spec/driver/source",
            f"the driver of `{pool.name}` is compiled on the nodes, from packages that no mirror of images has",
            help="name your repositories in `driver.repoConfig`; or, if the nodes reach the packages, write in "
            f"{plan.cluster.path}: `acknowledge: [{{fact: {PACKAGE_SOURCE}, by: <who>, date: <year-month-day>}}]`",
        )


def _at(reference: str, facts: Facts) -> Origin:
    return facts.at_cluster(f"{MIRRORS}/{reference.partition('/')[0]}")


def _known(facts: Facts) -> FromCatalog:
    return FromCatalog(f"charts/gpu-operator/{facts.need_release().tag}", facts.need_chart().source)


def _mirror_driver(item: PoolDriverObject, mirrors: dict[str, str]) -> PoolDriverObject:
    spec = dict(item.spec)
    spec["repository"] = mirrored(spec["repository"], mirrors)
    for part in ("gds", "gdrcopy"):
        if part in spec:
            spec[part] = {**spec[part], "repository": mirrored(spec[part]["repository"], mirrors)}
    return replace(item, spec=spec)


def _mirror_object(item: KubernetesObject, mirrors: dict[str, str]) -> KubernetesObject:
    def walk(node: Any, key: str = "") -> Any:
        if isinstance(node, dict):
            return {name: walk(value, name) for name, value in node.items()}
        if isinstance(node, list):
            return [walk(value) for value in node]
        return mirrored(node, mirrors) if key in ("image", "payloadImage") and isinstance(node, str) else node

    return replace(item, body=walk(item.body))


def _add_secrets(plan: ClusterPlan, secrets: list[str], facts: Facts) -> ClusterPlan:
    origin = facts.at_cluster(SECRETS)
    read = [tuple(path.split(".")) for path in facts.need_chart().paths]
    paths = [path for path in read if path[-1] == "imagePullSecrets" and path[0] != SUBCHART]
    settings = [ValueSetting(path, secrets, origin) for path in paths]
    own = (SUBCHART, "imagePullSecrets")
    if plan.cluster.spec.nfd.provider is NfdProvider.OPERATOR and not value_at(plan.cluster.spec.stack.values, own):
        settings.append(ValueSetting(own, [{"name": name} for name in secrets], origin))
    objects = tuple(replace(item, spec={**item.spec, "imagePullSecrets": secrets}) for item in plan.driver_objects)
    return replace(with_values(plan, *settings), driver_objects=objects)


def _leaves(tree: dict[str, Any], name: str, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value called `name` in the chart's defaults, the subchart left out."""
    for key, value in tree.items():
        if not path and key == SUBCHART:
            continue
        if key == name:
            yield (*path, key), value
        elif isinstance(value, dict):
            yield from _leaves(value, name, (*path, key))
