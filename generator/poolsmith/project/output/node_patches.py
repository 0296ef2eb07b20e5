"""provisioners/: what a pool's nodes must carry, as patches for the tool that makes them.

A pool's folder is a Component of kustomize where the tool has Kubernetes objects, so that a kustomization of one's own
takes it in; the same files are merge patches for `kubectl patch`. Nothing here is applied by itself.

Cluster API: labels of a MachineDeployment's machines reach nodes only in a few domains of Cluster API's own, so that
labels stand in the kubelet's registration.

Sources: kubernetes-sigs/karpenter:pkg/apis/crds; kubernetes-sigs/cluster-api, bootstrap/kubeadm/config/crd;
kubernetes/autoscaler:cluster-autoscaler/cloudprovider/clusterapi/README.md; Talos v1.13, machine configuration;
AWS CLI, eks update-nodegroup-config; Terraform providers aws, google and azurerm.

Source: kubernetes-sigs/cluster-api, book, metadata propagation; RKE2ConfigTemplate and
KThreesConfigTemplate of the providers rke2 and k3s; *ManagedMachinePool of the providers aws, azure and gcp.

Source: Azure/azure-service-operator:docs, containerservice ManagedClustersAgentPool; cloud.google.com/config-connector,
ContainerNodePool.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.fleet.operands.manifest import Manifest
from poolsmith.fleet.profiles.node_pool import NodeTool
from poolsmith.gpu.nodes.node_makers import node_makers
from poolsmith.project.output.node_needs import comment_lines, unsaid
from poolsmith.project.output.provisioners import accelerator_of, keeps_off, marks_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.fleet.profiles.node_pool import ProvisionedBy, Taint
    from poolsmith.project.output.node_needs import NodeSettings


@record
class NodePatch:
    """`body` is a merge patch, or a list of operations of JSON Patch. `about` are lines for whoever uses it.

    `target` says which objects kustomize patches; None: the one that the patch names, which must be there.
    `is_object`: it is for Kubernetes objects.
    """

    file: str
    body: Any
    about: tuple[str, ...]
    target: dict[str, str] | None = None
    is_object: bool = True


_BOOTSTRAP = "bootstrap.cluster.x-k8s.io"
_INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io"
_CAPACITY = "capacity.cluster-autoscaler.kubernetes.io/"
_AGENTS = {"rke2": "RKE2ConfigTemplate", "k3s": "KThreesConfigTemplate"}
_MANAGED = {
    "eks": ("AWSManagedMachinePool", "labels", "taints"),
    "aks": ("AzureManagedMachinePool", "nodeLabels", "taints"),
    "gke": ("GCPManagedMachinePool", "kubernetesLabels", "kubernetesTaints"),
}
"""By distribution: the kind, and its fields for labels and taints."""
_AWS_EFFECTS = {"NoSchedule": "no-schedule", "PreferNoSchedule": "prefer-no-schedule", "NoExecute": "no-execute"}


def cluster_api_patches(
    distribution: str, pool: PoolPlan, marks: NodeSettings, given: ProvisionedBy
) -> Iterator[NodePatch]:
    """Templates by `template`, machines by `name`. What is not among the user's objects is not patched."""
    name = given.name or pool.name
    template = given.template or name
    if distribution in _MANAGED:
        yield _managed(distribution, template, marks)
    elif distribution in _AGENTS:
        yield _agents(_AGENTS[distribution], template, marks)
    else:
        yield _first_kubeadm(template, marks)
        yield _kubeadm(template, marks)
    if pool.profile.spec.nodes.autoscaled:
        yield _capacity(pool, name, marks)


def _pairs(labels: dict[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in labels.items())


def _texts(taints: tuple[Taint, ...]) -> list[str]:
    return [f"{taint.key}={taint.value}:{taint.effect.value}" for taint in taints]


def _registration(arguments: Any, marks: NodeSettings) -> dict[str, Any]:
    body: dict[str, Any] = {"kubeletExtraArgs": arguments} if marks.labels else {}
    if marks.all_taints:
        body["taints"] = [taint.body for taint in marks.all_taints]
    return body


def _first_kubeadm(template: str, marks: NodeSettings) -> NodePatch:
    registration = _registration({"node-labels": _pairs(marks.labels)}, marks)
    spec = {"joinConfiguration": {"nodeRegistration": registration}}
    return NodePatch(
        file="kubeadm-config-template-v1beta1.yaml",
        body={
            "apiVersion": f"{_BOOTSTRAP}/v1beta1",
            "kind": "KubeadmConfigTemplate",
            "metadata": {"name": template},
            "spec": {"template": {"spec": spec}},
        },
        about=(
            "For templates of v1beta1. The argument node-labels is one text: labels of your own that stand there are",
            "replaced; set those in another way, or put both into the template and leave this patch out.",
        ),
        target=_target(_BOOTSTRAP, "KubeadmConfigTemplate", template, version="v1beta1"),
    )


def _kubeadm(template: str, marks: NodeSettings) -> NodePatch:
    """A merge would replace all arguments of the kubelet, so that operations add to them."""
    path = "/spec/template/spec/joinConfiguration/nodeRegistration"
    operations: list[dict[str, Any]] = []
    if marks.labels:
        argument = {"name": "node-labels", "value": _pairs(marks.labels)}
        operations.append({"op": "add", "path": f"{path}/kubeletExtraArgs/-", "value": argument})
    if marks.all_taints:
        bodies = [taint.body for taint in marks.all_taints]
        operations.append({"op": "add", "path": f"{path}/taints", "value": bodies})
    return NodePatch(
        file="kubeadm-config-template-v1beta2.yaml",
        body=operations,
        about=(
            "For templates of v1beta2, which must have kubeletExtraArgs: write `kubeletExtraArgs: []` if they lack it.",
        ),
        target=_target(_BOOTSTRAP, "KubeadmConfigTemplate", template, version="v1beta2"),
    )


def _agents(kind: str, template: str, marks: NodeSettings) -> NodePatch:
    agent: dict[str, Any] = {"nodeLabels": [f"{key}={value}" for key, value in marks.labels.items()]}
    agent["nodeTaints"] = _texts(marks.all_taints)
    return NodePatch(
        file="agent-config.yaml",
        body={
            "kind": kind,
            "metadata": {"name": template},
            "spec": {"template": {"spec": {"agentConfig": {key: value for key, value in agent.items() if value}}}},
        },
        about=("Its lists replace those of the template.",),
        target=_target(_BOOTSTRAP, kind, template),
    )


def _managed(distribution: str, name: str, marks: NodeSettings) -> NodePatch:
    kind, labels, taints = _MANAGED[distribution]
    effects = _AWS_EFFECTS if distribution == "eks" else {}
    bodies = [
        {**taint.body, "effect": effects.get(taint.effect.value, taint.effect.value)} for taint in marks.all_taints
    ]
    if distribution == "eks":
        bodies = [{"value": "", **body} for body in bodies]
    return NodePatch(
        file="managed-machine-pool.yaml",
        body={"kind": kind, "metadata": {"name": name}, "spec": {labels: marks.labels, taints: bodies}},
        about=(
            "Taints replace those of the object.",
            *comment_lines(f"managed-{distribution}", marks),
        ),
        target=_target(_INFRASTRUCTURE, kind, name),
    )


def _capacity(pool: PoolPlan, name: str, marks: NodeSettings) -> NodePatch:
    """What an autoscaler takes a node for that it has never seen. Labels that appear later can't be told here."""
    annotations = {f"{_CAPACITY}labels": _pairs(marks.labels)} if marks.labels else {}
    if marks.all_taints:
        annotations[f"{_CAPACITY}taints"] = ",".join(_texts(marks.all_taints))
    about: tuple[str, ...] = ("For an autoscaler that starts from zero nodes.",)
    spec = pool.profile.spec
    is_whole = spec.gpu.mig is None or spec.gpu.mig.layout == "all-disabled"
    if pool.resources == ("nvidia.com/gpu",) and is_whole and not _is_shared(pool):
        annotations[f"{_CAPACITY}gpu-type"] = "nvidia.com/gpu"
        annotations[f"{_CAPACITY}gpu-count"] = str(marks.gpus)
    else:
        about = (*about, f"How many of {', '.join(pool.resources) or 'its resources'} a node offers, it can't say.")
    return NodePatch(
        file="capacity.yaml",
        body={"kind": "MachineDeployment", "metadata": {"name": name, "annotations": annotations}},
        about=about,
        target=_target("cluster.x-k8s.io", "MachineDeployment|MachinePool", name),
    )


def _is_shared(pool: PoolPlan) -> bool:
    sharing = pool.profile.spec.sharing
    return sharing != type(sharing)()


def _target(group: str, kind: str, name: str, *, version: str = "") -> dict[str, str]:
    """Names and kinds are regular expressions there."""
    escaped = name.replace(".", r"\.")
    return {"group": group, **({"version": version} if version else {}), "kind": kind, "name": escaped}


FOLDER = "provisioners"
VARIABLES = "gpu_node_pools"
_CLOUDS = (NodeTool.EKS, NodeTool.GKE, NodeTool.AKS)
_OBJECTS = {
    NodeTool.AKS: ("containerservice.azure.com", "ManagedClustersAgentPool", "Azure Service Operator"),
    NodeTool.GKE: ("container.cnrm.cloud.google.com", "ContainerNodePool", "Config Connector"),
}
"""Objects that make node groups of a cloud: group, kind, and whose they are."""
_UPPER = {"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}
"""Effects as the clouds write them."""


def render_node_patches(plan: ClusterPlan, header: tuple[str, ...]) -> list[Manifest]:
    """Of pools that say what makes their nodes."""
    manifests: list[Manifest] = []
    variables: dict[str, Any] = {}
    for pool in plan.pools:
        given = pool.profile.spec.nodes.provisioned_by
        if given is None:
            continue
        marks = marks_of(plan, pool)
        manifests += _files(f"{FOLDER}/{pool.name}", list(_patches(plan, pool, marks, given)), header)
        if given.tool in _CLOUDS:
            variables[given.name or pool.name] = _variables(given.tool, marks)
        if given.tool is NodeTool.EKS:
            manifests.append(_file(f"{FOLDER}/{pool.name}/update-nodegroup-config.json", _json(_eks_update(marks))))
    if variables:
        manifests.append(_file(f"{FOLDER}/terraform.tfvars.json", _json({VARIABLES: variables})))
    return manifests


def _patches(plan: ClusterPlan, pool: PoolPlan, marks: NodeSettings, given: ProvisionedBy) -> Iterator[NodePatch]:
    if given.tool is NodeTool.KARPENTER:
        yield _karpenter(marks, given.name or pool.name)
    elif given.tool is NodeTool.TALOS:
        yield _talos(marks)
    elif given.tool in _OBJECTS:
        yield _object(given.tool, given.name or pool.name, marks)
    elif given.tool is NodeTool.CLUSTER_API:
        yield from cluster_api_patches(plan.cluster.spec.kubernetes.distribution, pool, marks, given)


def _files(folder: str, patches: list[NodePatch], header: tuple[str, ...]) -> Iterator[Manifest]:
    component = [_in_component(patch) for patch in patches if patch.is_object]
    if component:
        body = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "patches": component}
        usage = "Take it in with `components:`, in a kustomization that has the objects to patch."
        yield _file(f"{folder}/kustomization.yaml", emit(body, header=(*header, "", usage)))
    for patch in patches:
        yield _file(f"{folder}/{patch.file}", emit(patch.body, header=(*header, "", *patch.about)))


def _in_component(patch: NodePatch) -> dict[str, Any]:
    return {"path": patch.file, **({"target": patch.target} if patch.target else {})}


def _file(path: str, text: str) -> Manifest:
    """As text: parts of objects are no objects, and no rule for objects is to judge them."""
    return Manifest(path=path, text=text, applied=False)


def _json(body: dict[str, Any]) -> str:
    return json.dumps(body, indent=2) + "\n"


def _bodies(taints: tuple[Taint, ...]) -> list[dict[str, str]]:
    return [taint.body for taint in taints]


def _karpenter(marks: NodeSettings, name: str) -> NodePatch:
    """Lists of taints replace those of the NodePool: both sides have the same ones, or `check` says so."""
    template: dict[str, Any] = {}
    if marks.labels:
        template["metadata"] = {"labels": marks.labels}
    template["spec"] = {"taints": _bodies(marks.taints), "startupTaints": _bodies(marks.startup)}
    return NodePatch(
        file="node-pool.yaml",
        body={
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": name},
            "spec": {"template": template},
        },
        about=(
            f"For Karpenter, or: kubectl patch nodepool {name} --type merge --patch-file node-pool.yaml",
            *comment_lines("karpenter", marks, "Its requirements and its node class are yours. The profile needs:"),
        ),
    )


def _talos(marks: NodeSettings) -> NodePatch:
    """By the kubelet's registration: the API server refuses `nodeTaints` of a worker."""
    machine: dict[str, Any] = {"nodeLabels": marks.labels} if marks.labels else {}
    if marks.all_taints:
        machine["kubelet"] = {"extraConfig": {"registerWithTaints": _bodies(marks.all_taints)}}
    return NodePatch(
        file="machine-config.yaml",
        body={"machine": machine},
        about=("For a worker: talosctl machineconfig patch worker.yaml --patch @machine-config.yaml",),
        is_object=False,
    )


def _object(tool: NodeTool, name: str, marks: NodeSettings) -> NodePatch:
    """For pools that are objects: of Azure Service Operator, and of Config Connector."""
    group, kind, owner = _OBJECTS[tool]
    spec = _agent_pool(marks) if tool is NodeTool.AKS else {"nodeConfig": _node_config(marks)}
    return NodePatch(
        file="pool-object.yaml",
        body={"kind": kind, "metadata": {"name": name}, "spec": spec},
        about=(
            f"For {owner}. Its lists replace those of the object.",
            *comment_lines(f"object-{tool.value}", marks),
        ),
        target=_target(group, kind, name),
    )


def _agent_pool(marks: NodeSettings) -> dict[str, Any]:
    taints = {"nodeTaints": marks.taints, "nodeInitializationTaints": marks.startup}
    spec: dict[str, Any] = {
        "nodeLabels": marks.labels,
        **{key: _texts(found) for key, found in taints.items() if found},
    }
    return {**spec, "gpuProfile": {"driver": "None"}} if keeps_off("aks", marks) else spec


def _node_config(marks: NodeSettings) -> dict[str, Any]:
    off = {"gpuDriverInstallationConfig": {"gpuDriverVersion": "INSTALLATION_DISABLED"}}
    accelerator = {"type": accelerator_of(marks), "count": marks.gpus, **(off if keeps_off("gke", marks) else {})}
    taints = {"taint": _cloud_taints(marks.all_taints)} if marks.all_taints else {}
    return {"labels": marks.labels, **taints, "guestAccelerator": [accelerator]}


def _eks_update(marks: NodeSettings) -> dict[str, Any]:
    """aws eks update-nodegroup-config --cluster-name ... --nodegroup-name ... --cli-input-json file://..."""
    body: dict[str, Any] = {}
    if marks.labels:
        body["labels"] = {"addOrUpdateLabels": marks.labels}
    if marks.all_taints:
        body["taints"] = {"addOrUpdateTaints": _cloud_taints(marks.all_taints)}
    return body


def _cloud_taints(taints: tuple[Taint, ...]) -> list[dict[str, str]]:
    return [{"key": taint.key, "value": taint.value, "effect": _UPPER[taint.effect.value]} for taint in taints]


def _variables(tool: NodeTool, marks: NodeSettings) -> dict[str, Any]:
    """In the words of aws_eks_node_group, google_container_node_pool and azurerm_kubernetes_cluster_node_pool.

    `needs` is what depends on fields that are the user's own choice."""
    off = node_makers()[tool.value].variables if keeps_off(tool.value, marks) else {}
    needs = {"needs": list(unsaid(f"terraform-{tool.value}", marks))}
    if tool is NodeTool.AKS:
        return {
            "node_labels": marks.labels,
            "node_taints": _texts(marks.taints),
            "node_initialization_taints": _texts(marks.startup),
            **off,
            **needs,
        }
    found: dict[str, Any] = {"labels": marks.labels, "taint": _cloud_taints(marks.all_taints)}
    if tool is NodeTool.GKE:
        found["guest_accelerator"] = {"type": accelerator_of(marks), "count": marks.gpus, **off}
    return {**found, **needs}
