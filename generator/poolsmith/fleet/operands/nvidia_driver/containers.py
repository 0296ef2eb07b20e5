"""The containers of a driver pod: images, arguments, variables, resources, probes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.kube import containers_of, find, init_containers_of, must_find, remove
from poolsmith.fleet.operands.nvidia_driver.names import plain
from poolsmith.fleet.operands.requirements import canonical
from poolsmith.gpu.catalog.nvidia_drivers import DRIVER_DIGEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.fleet.operands.kube import Container, Pod
    from poolsmith.fleet.operands.nvidia_driver.driver_resource import NvidiaDriver
    from poolsmith.fleet.operands.nvidia_driver.images import Images

_MAIN = "nvidia-driver-ctr"
_MANAGER = "k8s-driver-manager"
_PEER_MEMORY = "nvidia-peermem-ctr"
_MODULES = {"rdma": _PEER_MEMORY, "gds": "nvidia-fs-ctr", "gdrcopy": "nvidia-gdrcopy-ctr"}
_PROBE = ("initialDelaySeconds", "failureThreshold", "successThreshold", "periodSeconds", "timeoutSeconds")
_PRECOMPILED_DELAY = 5


def set_containers(pod: Pod, driver: NvidiaDriver, images: Images, behaviour: Mapping[str, Any]) -> None:
    """Fill in those that the resource asks for, and drop the others. Raises NotModelled."""
    containers = containers_of(pod)
    for module, name in _MODULES.items():
        if not driver.flag(module, "enabled"):
            remove(containers, name)
    main = must_find(containers, _MAIN)
    manager = must_find(init_containers_of(pod), _MANAGER)
    _set_image(main, images.driver, driver.spec)
    _set_image(manager, images.manager, driver.at("manager"))
    main["args"] += [plain(word) for word in driver.spec.get("args") or ()]
    _set_variables(main, manager, driver, behaviour)
    _set_probe(main, driver)
    _set_modules(containers, driver, images)
    if behaviour["secretEnv"] and (secret := driver.text("secretEnv")):
        for container in containers:
            if container["name"] != _PEER_MEMORY:
                container["envFrom"] = [{"secretRef": {"name": plain(secret)}}]
    if driver.spec.get("resources") is not None:
        for container in (*containers, manager):
            if container["name"] in behaviour["withResources"]:
                container["resources"] = _resources(driver.spec["resources"])


def _set_modules(containers: list[Container], driver: NvidiaDriver, images: Images) -> None:
    peer_memory = find(containers, _PEER_MEMORY)
    if peer_memory is not None:
        _set_image(peer_memory, images.driver, driver.spec)
        if driver.flag("rdma", "useHostMofed"):
            peer_memory["env"].append({"name": "USE_HOST_MOFED", "value": "true"})
    for module, image in (("gds", images.gds), ("gdrcopy", images.gdrcopy)):
        container = find(containers, _MODULES[module])
        if container is None:
            continue
        spec = driver.at(module)
        _set_image(container, image, spec if module == "gdrcopy" else {})
        if spec.get("env"):
            container["env"] = _own(spec["env"])


def _set_image(container: Container, image: str, spec: Mapping[str, Any]) -> None:
    container["image"] = plain(image)
    if spec.get("imagePullPolicy"):
        container["imagePullPolicy"] = plain(spec["imagePullPolicy"])


def _set_variables(main: Container, manager: Container, driver: NvidiaDriver, behaviour: Mapping[str, Any]) -> None:
    """In the operator's order; the same name may stand twice."""
    digest = [{"name": DRIVER_DIGEST}] if behaviour["configDigest"] else []
    rdma = _rdma(driver)
    features = _features(driver) if behaviour["featureVariables"] else []
    modules = _kernel_modules(driver, behaviour["kernelModule"])
    main["env"] += [*digest, *modules, *features, *_own(driver.spec.get("env") or ()), *rdma]
    manager["env"] += [*digest, *rdma, *_own(driver.at("manager").get("env") or ())]


def _kernel_modules(driver: NvidiaDriver, field: str) -> list[dict[str, str]]:
    is_open = {"name": "OPEN_KERNEL_MODULES_ENABLED", "value": "true"}
    if field == "useOpenKernelModules":
        return [is_open] if driver.flag(field) else []
    kind = driver.text(field)
    if not kind:
        return []
    return [{"name": "KERNEL_MODULE_TYPE", "value": kind}, *([is_open] if kind == "open" else [])]


def _features(driver: NvidiaDriver) -> list[dict[str, str]]:
    return [
        {"name": variable, "value": "true"}
        for module, variable in (("gds", "GDS_ENABLED"), ("gdrcopy", "GDRCOPY_ENABLED"))
        if driver.flag(module, "enabled")
    ]


def _rdma(driver: NvidiaDriver) -> list[dict[str, str]]:
    if not driver.flag("rdma", "enabled"):
        return []
    variables = [{"name": "GPU_DIRECT_RDMA_ENABLED", "value": "true"}]
    if driver.flag("rdma", "useHostMofed"):
        variables.append({"name": "USE_HOST_MOFED", "value": "true"})
    return variables


def _own(variables: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    return [{"name": plain(item["name"]), "value": item.get("value") or ""} for item in variables]


def _set_probe(main: Container, driver: NvidiaDriver) -> None:
    """Numbers of one's own replace all of the operator's."""
    if "startupProbe" not in main:
        return
    own = driver.spec.get("startupProbe")
    if own is not None:
        main["startupProbe"] |= {field: own.get(field) or 0 for field in _PROBE}
    elif driver.precompiled:
        main["startupProbe"]["initialDelaySeconds"] = _PRECOMPILED_DELAY


def _resources(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: {name: canonical(amount) for name, amount in spec[key].items()}
        for key in ("limits", "requests")
        if spec.get(key)
    }
