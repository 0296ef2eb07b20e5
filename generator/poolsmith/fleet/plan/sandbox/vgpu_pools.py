"""Pools whose nodes divide their GPUs into vGPUs for virtual machines.

Source: NVIDIA/cloud-native-docs@gpu-operator-v26.7-1:gpu-operator/gpu-operator-kubevirt.rst;
NVIDIA/gpu-operator@v26.7.0:controllers/object_controls.go, controllers/state_manager.go, internal/state/driver.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes.gpu_use import VGPU_HOST
from poolsmith.core.diagnostics.message_text import joined
from poolsmith.core.facts.versions import at_least
from poolsmith.core.record import replace
from poolsmith.fleet.plan.driver.driver_mode import one_system
from poolsmith.fleet.plan.driver.driver_objects import of_its_pods
from poolsmith.fleet.plan.facts import agreed, map_pools, with_values
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import PROVISIONER, LabelSetting, PoolDriverObject, ValueSetting
from poolsmith.fleet.plan.sandbox.gpu_passthrough import with_kubevirt_note, workload_label
from poolsmith.fleet.plan.sandbox.vgpu_layouts import check_layout, configure_layouts, mediated_devices, resources_of
from poolsmith.fleet.profiles.cluster import DriverMode
from poolsmith.gpu.catalog.container_runtimes import CONTAINERD
from poolsmith.gpu.catalog.node_labels import VGPU_CONFIG
from poolsmith.gpu.catalog.vgpu_hosts import read_vgpu_hosts

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.fleet.profiles.driver import VgpuManager


_WORKLOAD = "/spec/workload"
_MANAGER = "/spec/driver/vgpuManager"
_MODULES = "/spec/driver/kernelModuleConfig"
_LAYOUT = "/spec/gpu/vgpu/layout"
_KIND = "vgpu-host-manager"
_COMPONENT = "vgpuManager"
_MANY = 8


def host_vgpus(plan: ClusterPlan, hosts: list[PoolPlan], facts: Facts) -> ClusterPlan:
    """Labels of the nodes, their layouts, and the driver that divides GPUs: by values, or an object for each pool."""
    fits = [_check(plan, pool, facts) for pool in hosts]
    if not hosts or not all(fits):
        return plan
    plan = map_pools(plan, lambda pool: _label(pool, facts) if pool in hosts else pool)
    hosts = [pool for pool in plan.pools if pool.name in {host.name for host in hosts}]
    plan = configure_layouts(with_kubevirt_note(plan), hosts, facts)
    if plan.driver_mode is DriverMode.NVIDIA_DRIVER:
        return _objects(plan, hosts, facts)
    return _values(plan, hosts, facts)


def _check(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> bool:
    spec, known, tag = pool.profile.spec, read_vgpu_hosts(), facts.need_release().tag
    found: list[tuple[str, str, str]] = []
    if spec.driver.vgpu_manager is None:
        found.append(
            (
                _WORKLOAD,
                f"pool `{pool.name}` does not say where the image of its vGPU manager is, and nobody may publish one",
                "build it, and write `driver: {vgpuManager: {repository: <yours>, version: <of the host driver>}}`",
            )
        )
    if spec.arch not in known.arch:
        found.append(("/spec/arch", f"no vGPU manager can be built for {spec.arch}", "use hosts of amd64"))
    if spec.secure_boot:
        found.append(
            (
                "/spec/secureBoot",
                "the vGPU manager builds its kernel modules on the node, and signs none",
                "turn it off",
            )
        )
    entry = facts.catalog.gpus.find(spec.gpu.product)
    product = entry.product if entry is not None else spec.gpu.product
    if product in known.never or (product in known.boards and facts.need_release().line in known.boards_not):
        found.append(
            (
                "/spec/gpu/product",
                f"{product} is excluded as a vGPU host with {tag}",
                "use another GPU, or pass it through",
            )
        )
    modules = ("kernelModuleConfig", "name")
    if spec.driver.kernel_module_config is not None and not facts.need_chart().accepts((_COMPONENT, *modules)):
        found.append((_MODULES, f"the vGPU manager of {tag} takes no options of kernel modules", "remove it"))
    for pointer, message, advice in found:
        facts.report_pool(VGPU_HOST, pool, pointer, message, help=advice)
    fits = check_layout(plan, pool, facts)
    if not found:
        _note_undocumented(pool, product, facts)
    return fits and not found


def _note_undocumented(pool: PoolPlan, product: str, facts: Facts) -> None:
    spec, known, line = pool.profile.spec, read_vgpu_hosts(), facts.need_release().line
    others = []
    if product not in known.products(line):
        others.append(product)
    systems = known.systems.get(line, {})
    for system in spec.systems:
        if system.version not in systems.get(spec.os.id, ()) and product not in known.later_kernels:
            others.append(f"{spec.os.id} {system.version}")
        if (
            system.kernel is not None
            and product not in known.later_kernels
            and at_least(system.kernel, known.kernel_before)
        ):
            others.append(f"kernel {system.kernel}, which is not before {known.kernel_before}")
    if spec.runtime.name != CONTAINERD:
        others.append(spec.runtime.name)
    if others:
        facts.report_pool(
            codes.NO_SUPPORT_ROW,
            pool,
            _WORKLOAD,
            f"vGPU hosts with {facts.need_release().tag} are not documented for {joined(others, _MANY)}",
            help="nothing to do, if it works for you",
        )


def _label(pool: PoolPlan, facts: Facts) -> PoolPlan:
    labels = [workload_label(pool, "vm-vgpu", facts)]
    layout = pool.profile.spec.gpu.vgpu
    if layout is not None:
        labels.append(LabelSetting(VGPU_CONFIG, layout.layout, PROVISIONER, facts.at_pool(pool, _LAYOUT)))
    return replace(
        pool,
        labels=(*pool.labels, *labels),
        resources=resources_of(pool, facts),
        host_devices=mediated_devices(pool, facts),
    )


def _values(plan: ClusterPlan, hosts: list[PoolPlan], facts: Facts) -> ClusterPlan:
    """One ClusterPolicy has one vGPU manager, whose image is named by the system of any GPU node."""
    for pointer, what, value_of in (
        (_MANAGER, "vGPU manager", lambda pool: pool.profile.spec.driver.vgpu_manager),
        (_MODULES, "options of kernel modules", lambda pool: pool.profile.spec.driver.kernel_module_config),
    ):
        _, first, other = agreed(hosts, value_of)
        if other is not None:
            facts.report_pool(
                codes.DRIVER_DISAGREEMENT,
                other,
                pointer,
                f"pools `{first.name}` and `{other.name}` differ in their {what}, and one ClusterPolicy has one of all",
                help="write `stack: {driverMode: nvidia-driver}` in cluster.yaml for one driver object per pool",
                related=((first, pointer, "the other pool"),),
            )
            return plan
    managed = any(pool.driver is not None and pool.driver.managed for pool in plan.pools)
    if not managed and not one_system(plan, hosts, facts):
        return plan
    because = "the nodes divide their GPUs into vGPUs"
    enabled = Derived("vgpu_hosts", because, tuple(facts.at_pool(pool, _WORKLOAD) for pool in hosts))
    settings = [ValueSetting((_COMPONENT, "enabled"), True, enabled)]
    settings += [
        ValueSetting((_COMPONENT, *path), value, facts.at_pool(hosts[0], pointer))
        for path, value, pointer in _fields(hosts[0])
    ]
    chart = facts.need_chart()
    return with_values(plan, *(item for item in settings if chart.default(item.path) != item.value))


def _fields(pool: PoolPlan) -> list[tuple[tuple[str, ...], Any, str]]:
    driver = pool.profile.spec.driver
    manager = _manager(pool)
    fields: list[tuple[tuple[str, ...], Any, str]] = [
        (("repository",), manager.repository, f"{_MANAGER}/repository"),
        (("image",), manager.image, f"{_MANAGER}/image"),
        (("version",), manager.version, f"{_MANAGER}/version"),
    ]
    if driver.kernel_module_config is not None:
        fields.append((("kernelModuleConfig", "name"), driver.kernel_module_config.name, f"{_MODULES}/name"))
    return fields


def _manager(pool: PoolPlan) -> VgpuManager:
    manager = pool.profile.spec.driver.vgpu_manager
    assert manager is not None, "pools without one were refused"
    return manager


def _objects(plan: ClusterPlan, hosts: list[PoolPlan], facts: Facts) -> ClusterPlan:
    """Under driver objects the operator ignores the values of its vGPU manager."""
    mode = facts.at_cluster("/spec/stack/driverMode")
    if plan.setting("driver", "nvidiaDriverCRD", "enabled") is None:
        because = "every vGPU host pool has a driver object of its own"
        plan = with_values(
            plan,
            ValueSetting(("driver", "nvidiaDriverCRD", "enabled"), True, mode),
            ValueSetting(
                ("driver", "nvidiaDriverCRD", "deployDefaultCR"), False, Derived("vgpu_hosts", because, (mode,))
            ),
        )
        kept = tuple(item for item in plan.values if item.path != ("driver", "enabled"))
        plan = replace(plan, values=kept)
    objects = tuple(_object(plan, pool, facts) for pool in hosts)
    return replace(plan, driver_objects=(*plan.driver_objects, *objects))


def _object(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> PoolDriverObject:
    body: dict[str, Any] = {
        "driverType": _KIND,
        "usePrecompiled": False,
        "nodeSelector": {plan.cluster.spec.pool_label: pool.label_value},
    }
    for path, value, _ in _fields(pool):
        if len(path) == 1:
            body[path[0]] = value
        else:
            body[path[0]] = {path[1]: value}
    body |= of_its_pods(pool, facts.need_chart())
    return PoolDriverObject(
        pool=pool.name, name=f"{pool.object_name}-{_KIND}", spec=body, origin=facts.at_pool(pool, _MANAGER)
    )
