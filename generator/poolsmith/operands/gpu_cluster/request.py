"""What the operands of one GPUCluster are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from poolsmith.catalog.gpu_clusters import GpuClusterEntry, ObjectPlacement
from poolsmith.operands.gpu_cluster.served_version import served_version
from poolsmith.operands.image_path import image_path
from poolsmith.operands.kube import OperatorError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from poolsmith.operands.context import Context
    from poolsmith.operands.gpu_cluster.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
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
