"""The variables that the operator itself runs with, as the kubelet sets them: of two of a name, the last one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.nested import value_at
from poolsmith.core.sources.pod_template import mappings
from poolsmith.fleet.operands.kube import NotModelled

if TYPE_CHECKING:
    from poolsmith.fleet.operands.expansion import KubernetesObject

OPERATOR = "gpu-operator"
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
