"""The images of a driver pod.

Source: NVIDIA/gpu-operator:api/nvidia/v1alpha1/nvidiadriver_types.go, internal/image, internal/state/driver.go.
References are parsed as regclient/regclient:types/ref does it, the separators written so that none is empty.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.nested import value_at
from poolsmith.fleet.operands.image_path import image_path
from poolsmith.fleet.operands.kube import NotModelled, OperatorError
from poolsmith.fleet.operands.operator_environment import OPERATOR, operator_variable
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.drivers.image_tag import DIGEST, built_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.fleet.operands.nvidia_driver.driver_resource import NvidiaDriver
    from poolsmith.fleet.operands.nvidia_driver.node_pools import DriverPool
    from poolsmith.fleet.operands.nvidia_driver.request import DriverRequest

_MANAGER = "DRIVER_MANAGER_IMAGE"
_CHART = "gpu-operator"


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
    except OperatorError as error:
        raise OperatorError(f"failed to construct {what}: {error}") from None
    return Images(driver=own, manager=manager, gds=gds, gdrcopy=gdrcopy)


def _driver_image(driver: NvidiaDriver, pool: DriverPool, partly: str) -> str:
    if not driver.precompiled:
        return _for_system(driver.spec, pool.os_tag, partly)
    image = _stated(driver.spec, partly)
    if DIGEST in image:
        raise OperatorError("specifying image digest is not supported when precompiled is enabled")
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
    except OperatorError as error:
        raise OperatorError(f"failed to get image path from crd: {error}") from None


def _checked(image: str) -> str:
    try:
        check_reference(image)
    except OperatorError as error:
        raise OperatorError(f"failed to parse driver image path: {error}") from None
    return image


def _manager_image(driver: NvidiaDriver, request: DriverRequest, partly: str) -> str:
    """That of the resource, else the one that the operator was installed with."""
    spec = driver.at("manager")
    if any(spec.get(key) for key in ("repository", "image", "version")):
        return image_path(spec, _MANAGER, partly=partly, kind="CR")
    return _installed_image(request)


def _installed_image(request: DriverRequest) -> str:
    """Told, or in the operator's Deployment; else in the ClusterPolicy, which the chart makes from the same values."""
    context = request.context
    if request.environment is not None:
        return request.environment.get(_MANAGER) or image_path({}, _MANAGER, kind="CR")
    operator = context.existing("Deployment", OPERATOR)
    if operator is not None:
        return _variable_of(operator)
    spec = {} if context.policy is None else context.policy.at("driver", "manager")
    if all(spec.get(key) for key in ("repository", "image", "version")):
        return image_path(spec, _MANAGER)
    chart = read_chart(_CHART, context.entry.release)
    default = None if chart is None else value_at(chart.defaults, ("driver", "manager"), None)
    if not isinstance(default, dict):
        raise NotModelled("the driver manager's image that the operator was installed with")
    return image_path(default, _MANAGER)


def _variable_of(operator: dict[str, Any]) -> str:
    image = operator_variable(operator, _MANAGER)
    if not image:
        raise NotModelled(f"an operator without {_MANAGER}")
    return image


_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_PORT = rf"{_LABEL}(?:\.{_LABEL})*\.?:[0-9]+"
_DOMAIN = rf"{_LABEL}(?:(?:\.{_LABEL})+\.?|\.)"
_UPPER = r"(?:[a-zA-Z0-9]*[A-Z][a-zA-Z0-9-]*[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[A-Z][a-zA-Z0-9]*)"
_REGISTRY = rf"(?:{_DOMAIN}|{_PORT}|{_UPPER}|localhost(?::[0-9]+))"
_PART = r"[a-z0-9]+(?:(?:[_.]|__|-+)[a-z0-9]+)*"
_TAG = r"[\w][\w.-]{0,127}"
_DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_REFERENCE = re.compile(rf"(?:{_REGISTRY}/)?{_PART}(?:/{_PART})*(?::{_TAG})?(?:@{_DIGEST})?", re.ASCII)
_SCHEME = re.compile(r"[a-z]+://")


def check_reference(image: str) -> None:
    """Whether an image can be pulled by that name at all. Raises OperatorError, NotModelled for a URL."""
    if _SCHEME.match(image):
        raise NotModelled(f"an image with a scheme: {image}")
    if _REFERENCE.fullmatch(image):
        return
    ending = ", repo must be lowercase" if _REFERENCE.fullmatch(image.lower()) else ""
    raise OperatorError(f'invalid reference "{image}"{ending}')
