"""Whether a cluster serves dynamic resource allocation, and in which version.

Source: NVIDIA/gpu-operator@v26.7.0:internal/state/gpucluster.go, controllers/clusterinfo/clusterinfo.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.operands.kube import NotModelled, OperatorError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_GROUP = "resource.k8s.io/"
_KIND = "/DeviceClass"
_MISSING = (
    "the resource.k8s.io DeviceClass API is not served by the cluster; "
    "ensure Dynamic Resource Allocation is enabled on the API server and kubelet"
)


def served_version(api_versions: Collection[str], preferred: Sequence[str]) -> str:
    """The version of resource.k8s.io that the operator uses, of those in `api_versions` (`<group>/<version>/<kind>`).

    Raises OperatorError where none is served, NotModelled where only others are.
    """
    served = {
        text.removeprefix(_GROUP).removesuffix(_KIND)
        for text in api_versions
        if text.startswith(_GROUP) and text.endswith(_KIND)
    }
    if not served:
        raise OperatorError(_MISSING)
    for version in preferred:
        if version in served:
            return version
    raise NotModelled(f"a cluster that serves DeviceClass only as {', '.join(sorted(served))}")
