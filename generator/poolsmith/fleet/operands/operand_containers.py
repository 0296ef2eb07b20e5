"""An operand's containers: requests and limits, the image by repository, image and version, the operator's variables.

The variables are those that the operator itself runs with, as the kubelet sets them: of two with one name, the last.

Source: NVIDIA/gpu-operator:api/nvidia/v1 and internal/image.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import mappings
from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.operands.kube import NotModelled, OperatorError
from poolsmith.gpu.drivers.driver_image import DIGEST
from poolsmith.kubernetes.quantity import QuantityError, canonical_quantity, quantity_amount

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from decimal import Decimal

    from poolsmith.fleet.operands.expansion import KubernetesObject


_KINDS = ("limits", "requests")
_LARGEST = 2**63 - 1


def requirements(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Limits and requests of a custom resource, where it has any, as the operator writes them."""
    return {
        kind: {name: canonical(value) for name, value in amounts.items()}
        for kind in _KINDS
        if (amounts := wanted.get(kind))
    }


def largest(each: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """For a container that must fit beside any of several: the most that one of them asks for.

    A limit grows with the largest request; where nobody has a limit, none is made up.
    """
    result: dict[str, dict[str, str]] = {}
    for wanted in each:
        for kind, amounts in requirements(wanted).items():
            merged = result.setdefault(kind, {})
            for name, value in amounts.items():
                if name not in merged or _amount(value) > _amount(merged[name]):
                    merged[name] = value
    limits = result.get("limits", {})
    for name, value in result.get("requests", {}).items():
        if name in limits and _amount(value) > _amount(limits[name]):
            limits[name] = value
    return result


def canonical(value: Any) -> str:
    """`0.5` is 500m, `1024Mi` is 1Gi. Raises NotModelled for what is none, or beyond 63 bits."""
    if abs(_amount(value)) >= _LARGEST:
        raise _none(value)
    try:
        return canonical_quantity(str(value))
    except QuantityError:
        raise _none(value) from None


def _amount(value: Any) -> Decimal:
    try:
        return quantity_amount(str(value))
    except QuantityError:
        raise _none(value) from None


def _none(value: Any) -> NotModelled:
    return NotModelled(f"a quantity that cannot be read: {str(value)[:40]}")


def image_path(
    spec: Mapping[str, Any], variable: str, *, partly: str = "joined", kind: str = "ClusterPolicy CR"
) -> str:
    """`repository/image:version`, or `@` before a digest; an image alone is the whole reference.

    `variable` is the operator's own environment variable that would step in; it is empty in a chart's installation.
    `partly` says what a release does with a reference of which parts are missing: `joined` or `refused`.
    Raises OperatorError.
    """
    repository, image, version = (str(spec.get(key) or "") for key in ("repository", "image", "version"))
    if not repository and not version:
        if image:
            return image
        raise OperatorError(f"empty image path provided through both {kind} and ENV {variable}")
    if partly == "refused" and not (repository and image and version):
        raise OperatorError(_incomplete(repository, image, version))
    return f"{repository}/{image}{'@' if version.startswith(DIGEST) else ':'}{version}"


def _incomplete(repository: str, image: str, version: str) -> str:
    return (
        "invalid image specification: repository, image and version must all be set "
        f"(repository={repository}, image={image}, version={version})"
    )


_CONTAINERS = ("spec", "template", "spec", "containers")


def operator_variable(deployment: KubernetesObject, name: str) -> str:
    """Empty where the operator's Deployment does not set it. Raises NotModelled where it comes from elsewhere."""
    found: dict[str, Any] = {}
    for container in mappings(value_at(deployment, _CONTAINERS)):
        for variable in mappings(container.get("env")):
            if variable.get("name") == name:
                found = dict(variable)
    if found.get("valueFrom"):
        raise NotModelled(f"the operator's variable {name}, which comes from elsewhere")
    return str(found.get("value") or "")
