"""Passes for a cluster without the operator: the hand-installed stack."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.diagnostics.codes import compatibility as codes
from poolsmith.diagnostics.suggest import did_you_mean
from poolsmith.drivers.carried import carries_driver
from poolsmith.plan.delivery import SYSTEM_NAMESPACES
from poolsmith.plan.drivers import check_told_version
from poolsmith.plan.facts import map_pools
from poolsmith.plan.origin import Derived, FromCatalog
from poolsmith.plan.plan import (
    ClusterPlan,
    DriverPlan,
    HelmChart,
    KubernetesObject,
    NamespacePlan,
    PoolPlan,
    UnitPlan,
    ValueSetting,
)
from poolsmith.plan.registry import mirrored
from poolsmith.plan.scheduling import missing_tolerations
from poolsmith.profiles.cluster import DriverMode
from poolsmith.profiles.driver import DriverSource
from poolsmith.profiles.node_pool import Workload

if TYPE_CHECKING:
    from poolsmith.plan.facts import Facts

_GPU_TOLERATION: dict[str, Any] = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def check_hand_installed(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Driver and toolkit are on the hosts; everything that only the operator could do is refused."""
    stack = plan.cluster.spec.stack
    if stack.driver_mode is not DriverMode.CLUSTER_POLICY:
        _refuse_stack(facts, "/spec/stack/driverMode", "driverMode belongs to the operator", "remove `driverMode`")
    if stack.values:
        _refuse_stack(facts, "/spec/stack/values", "values belong to the operator's chart", "remove `values`")
    return map_pools(plan, lambda pool: _check_pool(pool, facts))


def _refuse_stack(facts: Facts, pointer: str, what: str, help_text: str) -> None:
    facts.report_cluster(codes.STACK_CONTRADICTION, pointer, f"{what}, and this stack has none", help=help_text)


def _check_pool(pool: PoolPlan, facts: Facts) -> PoolPlan:
    spec = pool.profile.spec
    wanted = (
        ("/spec/workload", spec.workload is not Workload.CONTAINER, f"workload `{spec.workload}`"),
        ("/spec/gpu/mig", spec.gpu.mig is not None, "MIG partitioning"),
        (
            "/spec/sharing",
            spec.sharing.time_slicing is not None or spec.sharing.mps is not None,
            "GPU sharing",
        ),
        (
            "/spec/driver/source",
            spec.driver.source not in (None, DriverSource.PREINSTALLED),
            "a driver container",
        ),
        ("/spec/toolkit/source", spec.toolkit.source not in ("auto", "preinstalled"), "an installed toolkit"),
        ("/spec/driver/upgradePolicy", spec.driver.upgrade_policy is not None, "driver upgrades"),
        ("/spec/driver/vgpu", spec.driver.vgpu is not None, "the licence of a vGPU guest"),
    )
    for pointer, asked, what in wanted:
        if asked:
            facts.report_pool(
                codes.STACK_CONTRADICTION,
                pool,
                pointer,
                f"pool `{pool.name}` asks for {what}; without the operator nothing provides it",
                help="remove it, or write `stack: {kind: operator}`",
            )
    if spec.driver.source is None and not carries_driver(facts.catalog.operating_systems.get(spec.os.id)):
        facts.report_pool(
            codes.DRIVER_SOURCE_MISSING,
            pool,
            "/spec/driver",
            f"pool `{pool.name}` does not say where its driver comes from",
            help="write `driver: {source: preinstalled}`",
        )
    check_told_version(pool, facts)
    origin = facts.at_pool(pool, "/spec/driver/source")
    driver = DriverPlan(
        source=DriverSource.PREINSTALLED.value,
        version=spec.driver.version,
        repository="",
        image="",
        os_tags=(),
        kernel_module_type=None,
        upgrade_policy=None,
        install_dir=spec.driver.install_dir,
        origin=origin,
        version_origin=facts.at_pool(pool, "/spec/driver/version"),
    )
    return replace(pool, driver=driver, toolkit="preinstalled")


def plan_device_plugin(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """The device plugin as a DaemonSet on the pools' nodes."""
    data = facts.catalog.device_plugin["devicePlugin"]
    release = plan.cluster.spec.stack.release
    mirrors = plan.cluster.spec.registry.mirrors
    taints = [taint for pool in plan.pools for taint in pool.taints_of_new_nodes]
    source = FromCatalog(f"device_plugin/{release}", data["source"])
    origin = Derived(
        "device_plugin_stack",
        "the hand-installed device plugin",
        (facts.at_cluster("/spec/stack/kind"), source),
    )
    body = _daemon_set(
        image=f"{mirrored(data['image'], mirrors)}:{release}",
        namespace=plan.namespace,
        folder=data["socketFolder"],
        affinity=_pool_affinity(plan),
        tolerations=[_GPU_TOLERATION, *missing_tolerations(taints, [_GPU_TOLERATION])],
        secrets=list(plan.cluster.spec.registry.pull_secrets),
        runtime_class=host_runtime_class(facts),
    )
    unit = UnitPlan(
        name="device-plugin",
        folder="units/device-plugin",
        namespace=plan.namespace,
        title=f"NVIDIA device plugin {release}",
        objects=(KubernetesObject(file="daemonset.yaml", body=body, origin=origin), *_runtime_class(facts)),
    )
    return replace(plan, units=(*plan.units, unit), notes=(*plan.notes, *_default_runtime(plan, facts)))


def host_runtime_class(facts: Facts) -> str | None:
    """What pods with GPUs ask for under a toolkit of the hosts; None where the runtime's default has to be NVIDIA's."""
    return facts.distribution.runtime_class if facts.distribution is not None else None


def _runtime_class(facts: Facts) -> tuple[KubernetesObject, ...]:
    """The object, where the distribution does not bring it."""
    distribution = facts.distribution
    if distribution is None or distribution.runtime_class is None or distribution.makes_runtime_class:
        return ()
    name = distribution.runtime_class
    body = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": name}
    because = f"{distribution.name} brings the runtime `{name}`, and no class for it"
    origin = Derived("device_plugin_stack", because, (facts.at_cluster("/spec/kubernetes/distribution"),))
    return (KubernetesObject(file="runtime-class.yaml", body=body, origin=origin),)


def _default_runtime(plan: ClusterPlan, facts: Facts) -> tuple[str, ...]:
    if host_runtime_class(facts) is not None:
        return ()
    names = ", ".join(pool.name for pool in plan.pools)
    note = (
        f"The default runtime of the nodes' container runtime must be `nvidia` (pools {names}), as "
        "`nvidia-ctk runtime configure --set-as-default` makes it: neither the device plugin nor pods that ask for "
        "GPUs name a runtime class."
    )
    return (note,)


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
    taints = [taint for pool in plan.pools for taint in pool.taints_of_new_nodes]
    tolerations = [_GPU_TOLERATION, *missing_tolerations(taints, [_GPU_TOLERATION])]
    mirrors = plan.cluster.spec.registry.mirrors
    image = str(chart.default(("image", "repository")))
    settings = [
        ValueSetting(
            ("affinity",),
            _pool_affinity(plan),
            Derived("device_plugin_stack", "runs where GPUs are", (pools,)),
        ),
        ValueSetting(
            ("tolerations",),
            tolerations,
            Derived("device_plugin_stack", "GPU nodes are tainted, as the device plugin expects", (pools,)),
        ),
        ValueSetting(
            ("serviceMonitor", "enabled"),
            wanted.service_monitor,
            facts.at_cluster("/spec/stack/dcgmExporter/serviceMonitor"),
        ),
        ValueSetting(("image", "repository"), mirrored(image, mirrors), facts.at_cluster("/spec/registry/mirrors")),
    ]
    if (runtime_class := host_runtime_class(facts)) is not None:
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


def plan_namespace(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Device plugin and exporter mount host folders, which Pod Security `baseline` refuses."""
    if plan.namespace in SYSTEM_NAMESPACES:
        return plan
    origin = Derived(
        "device_plugin_stack",
        "the device plugin mounts host folders",
        (facts.at_cluster("/spec/stack/namespace"),),
    )
    return replace(plan, namespaces=(NamespacePlan(name=plan.namespace, level="privileged", origin=origin),))


def _pool_affinity(plan: ClusterPlan) -> dict[str, Any]:
    values = sorted(pool.label_value for pool in plan.pools)
    expression = {"key": plan.cluster.spec.pool_label, "operator": "In", "values": values}
    terms = [{"matchExpressions": [expression]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def _daemon_set(
    *,
    image: str,
    namespace: str,
    folder: str,
    affinity: dict[str, Any],
    tolerations: list[dict[str, Any]],
    secrets: list[str],
    runtime_class: str | None,
) -> dict[str, Any]:
    selected = {"name": "nvidia-device-plugin-ds"}  # as in the manifest that people applied by hand: it is immutable
    labels = {"app.kubernetes.io/name": "nvidia-device-plugin", **selected}
    pod: dict[str, Any] = {
        "priorityClassName": "system-node-critical",
        "affinity": affinity,
        "tolerations": tolerations,
        "containers": [
            {
                "name": "nvidia-device-plugin-ctr",
                "image": image,
                "env": [{"name": "FAIL_ON_INIT_ERROR", "value": "false"}],
                "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                "volumeMounts": [{"name": "device-plugin", "mountPath": folder}],
            }
        ],
        "volumes": [{"name": "device-plugin", "hostPath": {"path": folder}}],
    }
    if runtime_class is not None:
        pod["runtimeClassName"] = runtime_class
    if secrets:
        pod["imagePullSecrets"] = [{"name": name} for name in secrets]
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "nvidia-device-plugin-daemonset", "namespace": namespace, "labels": labels},
        "spec": {
            "selector": {"matchLabels": selected},
            "updateStrategy": {"type": "RollingUpdate"},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
