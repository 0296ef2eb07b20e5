"""Where the descriptions of nodes of each tool say labels and taints.

Sources: kubernetes-sigs/karpenter:pkg/apis/crds; kubernetes-sigs/cluster-api, definitions of v1beta1 and v1beta2;
Cluster API providers rke2, k3s, aws, azure and gcp; kubeadm's v1beta3 and v1beta4; eksctl.io/v1alpha5;
services.k8s.aws eks; Config Connector; Azure Service Operator; Crossplane provider aws eks.
"""

from __future__ import annotations

from poolsmith.core.record import record

Places = tuple[tuple[str, str], ...]
"""Paths with slashes, and the form of what stands there."""


@record
class TemplateKind:
    """A kind that describes nodes. `startup` is for tools that keep these taints apart.

    `within` are lists of groups of nodes: then paths begin at an item.
    """

    kind: str
    group: str
    tool: str
    labels: Places
    taints: Places = ()
    startup: Places = ()
    within: tuple[str, ...] = ()


_JOIN = "spec/template/spec/joinConfiguration/nodeRegistration"
_OWN_JOIN = "spec/joinConfiguration/nodeRegistration"
_AGENT = "spec/template/spec/agentConfig"
_BOOTSTRAP = "bootstrap.cluster.x-k8s.io"
_INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io"
_CAPACITY = "metadata/annotations/capacity.cluster-autoscaler.kubernetes.io~1"
MACHINES = ("MachineDeployment", "MachinePool", "MachineSet")
"""Of Cluster API: they refer to a bootstrap template, and tell an autoscaler what their nodes will be."""
MACHINES_GROUP = "cluster.x-k8s.io"


def _kubeadm(kind: str, group: str, tool: str, base: str) -> TemplateKind:
    return TemplateKind(
        kind=kind,
        group=group,
        tool=tool,
        labels=((f"{base}/kubeletExtraArgs", "arguments"),),
        taints=((f"{base}/taints", "objects"), (f"{base}/kubeletExtraArgs", "arguments")),
    )


def _agents(kind: str) -> TemplateKind:
    return TemplateKind(
        kind=kind,
        group=_BOOTSTRAP,
        tool="cluster-api",
        labels=((f"{_AGENT}/nodeLabels", "pairs"),),
        taints=((f"{_AGENT}/nodeTaints", "pairs"),),
    )


def _simple(kind: str, group: str, tool: str, labels: str, taints: str, form: str = "objects") -> TemplateKind:
    return TemplateKind(kind=kind, group=group, tool=tool, labels=((labels, "map"),), taints=((taints, form),))


KINDS: tuple[TemplateKind, ...] = (
    TemplateKind(
        kind="NodePool",
        group="karpenter.sh",
        tool="karpenter",
        labels=(("spec/template/metadata/labels", "map"),),
        taints=(("spec/template/spec/taints", "objects"),),
        startup=(("spec/template/spec/startupTaints", "objects"),),
    ),
    TemplateKind(
        kind="Provisioner",
        group="karpenter.sh",
        tool="karpenter",
        labels=(("spec/labels", "map"),),
        taints=(("spec/taints", "objects"),),
        startup=(("spec/startupTaints", "objects"),),
    ),
    _kubeadm("KubeadmConfigTemplate", _BOOTSTRAP, "cluster-api", _JOIN),
    _kubeadm("KubeadmConfig", _BOOTSTRAP, "cluster-api", _OWN_JOIN),
    _kubeadm("JoinConfiguration", "kubeadm.k8s.io", "kubeadm", "nodeRegistration"),
    _agents("RKE2ConfigTemplate"),
    _agents("KThreesConfigTemplate"),
    _simple("AWSManagedMachinePool", _INFRASTRUCTURE, "cluster-api", "spec/labels", "spec/taints"),
    _simple("AzureManagedMachinePool", _INFRASTRUCTURE, "cluster-api", "spec/nodeLabels", "spec/taints"),
    _simple("GCPManagedMachinePool", _INFRASTRUCTURE, "cluster-api", "spec/kubernetesLabels", "spec/kubernetesTaints"),
    TemplateKind(
        kind="ClusterConfig",
        group="eksctl.io",
        tool="eks",
        labels=(("labels", "map"),),
        taints=(("taints", "objects-or-map"),),
        within=("managedNodeGroups", "nodeGroups"),
    ),
    _simple("Nodegroup", "eks.services.k8s.aws", "eks", "spec/labels", "spec/taints"),
    _simple("NodeGroup", "eks.aws.upbound.io", "eks", "spec/forProvider/labels", "spec/forProvider/taint"),
    _simple(
        "ContainerNodePool",
        "container.cnrm.cloud.google.com",
        "gke",
        "spec/nodeConfig/labels",
        "spec/nodeConfig/taint",
    ),
    TemplateKind(
        kind="ManagedClustersAgentPool",
        group="containerservice.azure.com",
        tool="aks",
        labels=(("spec/nodeLabels", "map"),),
        taints=(("spec/nodeTaints", "pairs"),),
        startup=(("spec/nodeInitializationTaints", "pairs"),),
    ),
)

TALOS = TemplateKind(
    kind="",
    group="",
    tool="talos",
    labels=(("machine/nodeLabels", "map"), ("machine/kubelet/extraArgs", "arguments")),
    taints=(
        ("machine/nodeTaints", "map"),
        ("machine/kubelet/extraConfig/registerWithTaints", "objects"),
        ("machine/kubelet/extraArgs", "arguments"),
    ),
)
"""A machine configuration is no Kubernetes object."""
AGENT_FILE = TemplateKind(
    kind="",
    group="",
    tool="rke2 or k3s",
    labels=(("node-label", "pairs"),),
    taints=(("node-taint", "pairs"),),
)
"""config.yaml of an agent of k3s or RKE2."""
CAPACITY = TemplateKind(
    kind="",
    group="",
    tool="cluster-api",
    labels=((f"{_CAPACITY}labels", "flag"),),
    taints=((f"{_CAPACITY}taints", "flag"),),
)
"""Annotations of Cluster API's machines for an autoscaler that has seen no node of them."""
