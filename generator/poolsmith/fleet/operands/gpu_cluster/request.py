"""What the operands of one GPUCluster are made from, and which version of resource allocation the cluster serves.

Source: NVIDIA/gpu-operator@v26.7.0:internal/state/gpucluster.go, controllers/clusterinfo/clusterinfo.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.fleet.operands.image_path import image_path
from poolsmith.fleet.operands.kube import NotModelled, OperatorError
from poolsmith.gpu.catalog.gpu_clusters import GpuClusterEntry, ObjectPlacement

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from poolsmith.fleet.operands.context import Context
    from poolsmith.fleet.operands.gpu_cluster.settings import Settings


@record
class GpuClusterRequest:
    """`environment` is the operator's own, which names images that no resource does."""

    settings: Settings
    entry: GpuClusterEntry
    context: Context
    api_versions: Collection[str]
    environment: Mapping[str, str]

    def placement(self) -> ObjectPlacement:
        """Raises OperatorError without dynamic resource allocation."""
        versions = self.entry.behaviour["draVersions"]
        try:
            version = served_version(self.api_versions, versions["preferred"])
        except OperatorError as error:
            raise OperatorError(f"failed to get DRA resource apiVersion: {error}") from error
        flat = version == versions["flatRequests"]
        return ObjectPlacement(namespace=self.context.namespace, dra_version=version, flat=flat)

    def image(self, variable: str, *component: str) -> str:
        """The image of a component, or the one of the operator's environment. Raises OperatorError."""
        spec = self.settings.at(*component) if component else {}
        named = any(spec.get(key) for key in ("repository", "image", "version"))
        if not named and self.environment.get(variable):
            return self.environment[variable]
        return image_path(spec, variable, partly=self.context.behaviour["partialImages"], kind="CR")


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
