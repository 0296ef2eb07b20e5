"""Passes for Node Feature Discovery and dcgm-exporter beside a device plugin that is installed without the operator.

GPU feature discovery labels nodes through Node Feature Discovery, which is a unit of its own or is installed by
somebody else. dcgm-exporter is installed by its own chart, where the cluster asks for it.

Source: NVIDIA/k8s-device-plugin:deployments/helm/nvidia-device-plugin/{Chart.yaml,values.yaml}, whose own copy is off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.core.record import replace
from poolsmith.fleet.plan.delivery.image_mirrors import mirrored
from poolsmith.fleet.plan.hand_installed.device_plugin_install import CHART as PLUGIN
from poolsmith.fleet.plan.hand_installed.device_plugin_install import GPU_TOLERATION, pool_affinity, tolerations_over
from poolsmith.fleet.plan.origin import Derived, FromCatalog
from poolsmith.fleet.plan.plan import ClusterPlan, HelmChart, UnitPlan, ValueSetting
from poolsmith.fleet.plan.sharing.gpu_sharing import exporter_variables
from poolsmith.fleet.plan.taints import all_tolerations
from poolsmith.fleet.profiles.cluster import NfdProvider
from poolsmith.fleet.profiles.toleration import shown_taint
from poolsmith.gpu.catalog.chart_workloads import (
    chart_releases,
    chart_versions,
    read_chart_workloads,
    version_of_release,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from poolsmith.fleet.plan.facts import Facts


_WANTED = "/spec/stack/gpuFeatureDiscovery"
_STEP = "hand_installed"


def plan_discovery(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Nothing without GPU feature discovery: the device plugin finds its GPUs itself."""
    if not plan.cluster.spec.stack.gpu_feature_discovery:
        return plan
    if plan.cluster.spec.nfd.provider is NfdProvider.EXTERNAL:
        return replace(plan, notes=(*plan.notes, *_notes(plan)))
    return replace(plan, units=(*plan.units, _unit(plan, facts)))


def _notes(plan: ClusterPlan) -> Iterator[str]:
    yield (
        "Node Feature Discovery is installed by others, once. GPU feature discovery leaves its labels in "
        "/etc/kubernetes/node-feature-discovery/features.d of each node, or in a NodeFeature: its workers must read "
        "that folder, and its master must not deny the label namespace nvidia.com."
    )
    if tolerations := all_tolerations(taint for pool in plan.pools for taint in pool.taints_of_new_nodes):
        shown = ", ".join(map(shown_taint, tolerations))
        yield f"Its workers must tolerate the taints of the pools, or these nodes are never labelled: {shown}."


def _unit(plan: ClusterPlan, facts: Facts) -> UnitPlan:
    data = facts.catalog.device_plugin["nodeFeatureDiscovery"]
    chart, spec = data["chart"], plan.cluster.spec
    plugin = read_chart_workloads(PLUGIN, spec.stack.release)
    assert plugin is not None, "look_up knows the release"
    brought = plugin.facts["nodeFeatureDiscovery"]
    version = brought if brought in chart_versions(chart) else data["otherwise"]
    entry = read_chart_workloads(chart, version)
    assert entry is not None, "the catalog has it"
    return UnitPlan(
        name=chart,
        folder=f"units/{chart}",
        namespace=plan.namespace,
        title=f"Node Feature Discovery {version}",
        values=tuple(_values(plan, facts, entry.defaults or {})),
        chart=HelmChart(
            name=chart,
            version=version,
            repository=spec.delivery.chart_repo or data["repository"],
            publisher=data["repository"],
            values_file=f"units/{chart}/values/{chart}.yaml",
        ),
        catalog_release=version,
    )


def _values(plan: ClusterPlan, facts: Facts, defaults: dict[str, Any]) -> Iterator[ValueSetting]:
    registry, needs = plan.cluster.spec.registry, facts.catalog.scheduling.external_discovery
    wanted = facts.at_cluster(_WANTED)
    source = FromCatalog("scheduling/externalDiscovery", needs.source)
    labels = Derived(_STEP, "GPU feature discovery writes labels of this namespace", (wanted, source))
    yield ValueSetting(("master", "config"), {"extraLabelNs": list(needs.label_namespaces)}, labels)
    pci = {"deviceClassWhitelist": list(needs.pci_classes), "deviceLabelFields": list(needs.pci_fields)}
    because = "GPUs are labelled by their vendor alone"
    yield ValueSetting(("worker", "config"), {"sources": {"pci": pci}}, Derived(_STEP, because, (wanted, source)))
    if tolerations := all_tolerations(taint for pool in plan.pools for taint in pool.taints_of_new_nodes):
        origins = tuple(facts.at_pool(pool, "/spec/nodes/taints") for pool in plan.pools if pool.taints_of_new_nodes)
        yield ValueSetting(
            ("worker", "tolerations"), tolerations, Derived(_STEP, "nodes of tainted pools need it", origins)
        )
    image = str(defaults["image"]["repository"])
    if (other := mirrored(image, registry.mirrors)) != image:
        yield ValueSetting(("image", "repository"), other, facts.at_cluster("/spec/registry/mirrors"))
    if registry.pull_secrets:
        secrets = [{"name": name} for name in registry.pull_secrets]
        yield ValueSetting(("imagePullSecrets",), secrets, facts.at_cluster("/spec/registry/pullSecrets"))


def plan_dcgm_exporter(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """dcgm-exporter by its own chart, where the cluster asks for it."""
    wanted = plan.cluster.spec.stack.dcgm_exporter
    if wanted is None:
        return plan
    data = facts.catalog.device_plugin["dcgmExporter"]
    pointer = "/spec/stack/dcgmExporter/release"
    chart = facts.catalog.chart(data["chart"], wanted.release)
    if chart is None:
        facts.report_cluster(
            codes.UNKNOWN_RELEASE,
            pointer,
            f"the catalog does not know release `{wanted.release}` of dcgm-exporter",
            help=did_you_mean(wanted.release, chart_releases(data["chart"])),
        )
        return plan
    pools = facts.at_cluster("/spec/poolLabel")
    tolerations = tolerations_over(plan, [GPU_TOLERATION])
    mirrors = plan.cluster.spec.registry.mirrors
    image = str(chart.default(("image", "repository")))
    settings = [
        ValueSetting(
            ("affinity",),
            pool_affinity(plan),
            Derived("hand_installed", "runs where GPUs are", (pools,)),
        ),
        ValueSetting(
            ("tolerations",),
            tolerations,
            Derived("hand_installed", "GPU nodes are tainted, as the device plugin expects", (pools,)),
        ),
        ValueSetting(
            ("serviceMonitor", "enabled"),
            wanted.service_monitor,
            facts.at_cluster("/spec/stack/dcgmExporter/serviceMonitor"),
        ),
        ValueSetting(("image", "repository"), mirrored(image, mirrors), facts.at_cluster("/spec/registry/mirrors")),
    ]
    if (runtime_class := facts.host_runtime_class) is not None:
        settings.append(
            ValueSetting(("runtimeClassName",), runtime_class, facts.at_cluster("/spec/kubernetes/distribution"))
        )
    if plan.cluster.spec.registry.pull_secrets:
        secrets = [{"name": name} for name in plan.cluster.spec.registry.pull_secrets]
        settings.append(ValueSetting(("imagePullSecrets",), secrets, facts.at_cluster("/spec/registry/pullSecrets")))
    settings += [ValueSetting(("extraEnv",), own, origin) for own, origin in exporter_variables(plan, facts)]
    unit = UnitPlan(
        name="dcgm-exporter",
        folder="units/dcgm-exporter",
        namespace=plan.namespace,
        title=f"dcgm-exporter {wanted.release}",
        values=tuple(setting for setting in settings if chart.default(setting.path) != setting.value),
        chart=HelmChart(
            name=data["chart"],
            version=version_of_release(data["chart"], wanted.release),
            repository=plan.cluster.spec.delivery.chart_repo or data["repository"],
            publisher=data["repository"],
            values_file="units/dcgm-exporter/values/dcgm-exporter.yaml",
        ),
        catalog_release=wanted.release,
    )
    return replace(plan, units=(*plan.units, unit))
