"""Pass: dcgm-exporter by its own chart, where the cluster asks for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.suggest import did_you_mean
from poolsmith.fleet.plan.hand_installed.placement import GPU_TOLERATION, pool_affinity, tolerations_over
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import ClusterPlan, HelmChart, UnitPlan, ValueSetting
from poolsmith.fleet.plan.registry import mirrored

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts


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
            help=did_you_mean(wanted.release, data["releases"]),
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
    unit = UnitPlan(
        name="dcgm-exporter",
        folder="units/dcgm-exporter",
        namespace=plan.namespace,
        title=f"dcgm-exporter {wanted.release}",
        values=tuple(setting for setting in settings if chart.default(setting.path) != setting.value),
        chart=HelmChart(
            name=data["chart"],
            version=data["releases"][wanted.release],
            repository=plan.cluster.spec.delivery.chart_repo or data["repository"],
            publisher=data["repository"],
            values_file="units/dcgm-exporter/values/dcgm-exporter.yaml",
        ),
        catalog_release=wanted.release,
    )
    return replace(plan, units=(*plan.units, unit))
