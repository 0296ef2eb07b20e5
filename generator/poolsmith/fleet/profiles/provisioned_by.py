"""What makes the nodes of a pool."""

from __future__ import annotations

from enum import StrEnum

from poolsmith.core.record import record
from poolsmith.core.shape.field import OBJECT_NAME, spec


class NodeTool(StrEnum):
    KARPENTER = "karpenter"
    CLUSTER_API = "cluster-api"
    TALOS = "talos"
    EKS = "eks"
    GKE = "gke"
    AKS = "aks"


@record
class ProvisionedBy:
    """The tool that makes the nodes, and what its description of them is called."""

    tool: NodeTool = spec("The tool. `eks`, `gke` and `aks`: the cloud's own node groups, of Terraform for example.")
    name: str | None = spec(
        "Name of the tool's object: NodePool, MachineDeployment, MachinePool, node group. Default: the pool's name.",
        default=None,
        pattern=OBJECT_NAME,
        form="an object's name",
    )
    template: str | None = spec(
        "Cluster API: name of the bootstrap template, such as a KubeadmConfigTemplate. Default: `name`.",
        default=None,
        pattern=OBJECT_NAME,
        form="an object's name",
    )
