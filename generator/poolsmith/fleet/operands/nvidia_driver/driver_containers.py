"""The containers of an NVIDIADriver's pod: images, arguments, variables, resources, probes.

Source: NVIDIA/gpu-operator:api/nvidia/v1alpha1/nvidiadriver_types.go, internal/image, internal/state/driver.go.
References are parsed as regclient/regclient:types/ref does it, the separators written so that none is empty.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.operands import kube
from poolsmith.fleet.operands.nvidia_driver.node_pools import plain
from poolsmith.fleet.operands.operand_containers import canonical, image_path, operator_variable
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.operands import DRIVER_DIGEST
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART, OPERATOR_NAME
from poolsmith.gpu.drivers.driver_image import DIGEST, built_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.fleet.operands.custom_resources import NvidiaDriver
    from poolsmith.fleet.operands.kube import Container, Pod
    from poolsmith.fleet.operands.nvidia_driver.node_pools import DriverPool, DriverRequest


_MAIN = "nvidia-driver-ctr"
_MANAGER = "k8s-driver-manager"
_PEER_MEMORY = "nvidia-peermem-ctr"
_MODULES = {"rdma": _PEER_MEMORY, "gds": "nvidia-fs-ctr", "gdrcopy": "nvidia-gdrcopy-ctr"}
_PROBE = ("initialDelaySeconds", "failureThreshold", "successThreshold", "periodSeconds", "timeoutSeconds")
_PRECOMPILED_DELAY = 5


def set_containers(pod: Pod, driver: NvidiaDriver, images: Images, behaviour: Mapping[str, Any]) -> None:
    """Fill in those that the resource asks for, and drop the others. Raises NotModelled."""
    containers = kube.containers_of(pod)
    for module, name in _MODULES.items():
        if not driver.flag(module, "enabled"):
            kube.remove(containers, name)
    main = kube.must_find(containers, _MAIN)
    manager = kube.must_find(kube.init_containers_of(pod), _MANAGER)
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
    peer_memory = kube.find(containers, _PEER_MEMORY)
    if peer_memory is not None:
        _set_image(peer_memory, images.driver, driver.spec)
        if driver.flag("rdma", "useHostMofed"):
            peer_memory["env"].append({"name": "USE_HOST_MOFED", "value": "true"})
    for module, image in (("gds", images.gds), ("gdrcopy", images.gdrcopy)):
        container = kube.find(containers, _MODULES[module])
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


_MANAGER_IMAGE = "DRIVER_MANAGER_IMAGE"


@record
class Images:
    """Those of modules are empty where the module is off."""

    driver: str
    manager: str
    gds: str = ""
    gdrcopy: str = ""


def images_of(driver: NvidiaDriver, pool: DriverPool, request: DriverRequest) -> Images:
    """Raises OperatorError, with what the operator was about to construct."""
    partly = request.behaviour["partialImages"]
    what = "driver spec: failed to get driver image path"
    try:
        own = _driver_image(driver, pool, partly)
        what = "driver spec: failed to construct image path for driver manager"
        manager = _manager_image(driver, request, partly)
        what = "GDS spec"
        gds = _module_image(driver, "gds", pool, partly)
        what = "GDRCopy spec"
        gdrcopy = _module_image(driver, "gdrcopy", pool, partly)
    except kube.OperatorError as error:
        raise kube.OperatorError(f"failed to construct {what}: {error}") from None
    return Images(driver=own, manager=manager, gds=gds, gdrcopy=gdrcopy)


def _driver_image(driver: NvidiaDriver, pool: DriverPool, partly: str) -> str:
    if not driver.precompiled:
        return _for_system(driver.spec, pool.os_tag, partly)
    image = _stated(driver.spec, partly)
    if DIGEST in image:
        raise kube.OperatorError("specifying image digest is not supported when precompiled is enabled")
    return _checked(built_for(image, pool.os_tag, pool.kernel))


def _module_image(driver: NvidiaDriver, module: str, pool: DriverPool, partly: str) -> str:
    if not driver.flag(module, "enabled"):
        return ""
    return _for_system(driver.at(module), pool.os_tag, partly)


def _for_system(spec: Mapping[str, Any], os_tag: str, partly: str) -> str:
    return _checked(built_for(_stated(spec, partly), os_tag))


def _stated(spec: Mapping[str, Any], partly: str) -> str:
    try:
        return image_path(spec, "", partly=partly, kind="CR")
    except kube.OperatorError as error:
        raise kube.OperatorError(f"failed to get image path from crd: {error}") from None


def _checked(image: str) -> str:
    try:
        check_reference(image)
    except kube.OperatorError as error:
        raise kube.OperatorError(f"failed to parse driver image path: {error}") from None
    return image


def _manager_image(driver: NvidiaDriver, request: DriverRequest, partly: str) -> str:
    """That of the resource, else the one that the operator was installed with."""
    spec = driver.at("manager")
    if any(spec.get(key) for key in ("repository", "image", "version")):
        return image_path(spec, _MANAGER_IMAGE, partly=partly, kind="CR")
    return _installed_image(request)


def _installed_image(request: DriverRequest) -> str:
    """Told, or in the operator's Deployment; else in the ClusterPolicy, which the chart makes from the same values."""
    context = request.context
    if request.environment is not None:
        return request.environment.get(_MANAGER_IMAGE) or image_path({}, _MANAGER_IMAGE, kind="CR")
    operator = context.existing("Deployment", OPERATOR_NAME)
    if operator is not None:
        return _variable_of(operator)
    spec = {} if context.policy is None else context.policy.at("driver", "manager")
    if all(spec.get(key) for key in ("repository", "image", "version")):
        return image_path(spec, _MANAGER_IMAGE)
    chart = read_chart(OPERATOR_CHART, context.entry.release)
    default = None if chart is None else value_at(chart.defaults, ("driver", "manager"), None)
    if not isinstance(default, dict):
        raise kube.NotModelled("the driver manager's image that the operator was installed with")
    return image_path(default, _MANAGER_IMAGE)


def _variable_of(operator: dict[str, Any]) -> str:
    image = operator_variable(operator, _MANAGER_IMAGE)
    if not image:
        raise kube.NotModelled(f"an operator without {_MANAGER_IMAGE}")
    return image


_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_PORT = rf"{_LABEL}(?:\.{_LABEL})*\.?:[0-9]+"
_DOMAIN = rf"{_LABEL}(?:(?:\.{_LABEL})+\.?|\.)"
_UPPER = r"(?:[a-zA-Z0-9]*[A-Z][a-zA-Z0-9-]*[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[A-Z][a-zA-Z0-9]*)"
_REGISTRY = rf"(?:{_DOMAIN}|{_PORT}|{_UPPER}|localhost(?::[0-9]+))"
_PART = r"[a-z0-9]+(?:(?:[_.]|__|-+)[a-z0-9]+)*"
_TAG = r"[\w][\w.-]{0,127}"
_DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_REFERENCE = pattern(rf"(?:{_REGISTRY}/)?{_PART}(?:/{_PART})*(?::{_TAG})?(?:@{_DIGEST})?", re.ASCII)
_SCHEME = pattern(r"[a-z]+://")
_LONGEST_REFERENCE = 600
"""A repository has at most 255 characters, a tag 128, a digest fewer."""


def check_reference(image: str) -> None:
    """Whether an image can be pulled by that name at all. Raises OperatorError, NotModelled for a URL."""
    if _SCHEME.match(image):
        raise kube.NotModelled(f"an image with a scheme: {image}")
    if len(image) > _LONGEST_REFERENCE:
        raise kube.OperatorError(f'invalid reference "{image[:_LONGEST_REFERENCE]}"')
    if _REFERENCE.fullmatch(image):
        return
    ending = ", repo must be lowercase" if _REFERENCE.fullmatch(image.lower()) else ""
    raise kube.OperatorError(f'invalid reference "{image}"{ending}')
