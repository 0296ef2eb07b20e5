"""Patches for Cluster API: bootstrap templates, the machine pools of clouds, and what an autoscaler is told.

Labels of a MachineDeployment's machines reach nodes only in a few domains of Cluster API's own, so that labels stand
in the kubelet's registration. Source: kubernetes-sigs/cluster-api, book, metadata propagation; RKE2ConfigTemplate and
KThreesConfigTemplate of the providers rke2 and k3s; *ManagedMachinePool of the providers aws, azure and gcp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.project.output.node_patch import NodePatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.plan import PoolPlan
    from poolsmith.fleet.profiles.node_pool import Taint
    from poolsmith.fleet.profiles.provisioned_by import ProvisionedBy
    from poolsmith.project.output.provisioners import NodeMarks

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
    distribution: str, pool: PoolPlan, marks: NodeMarks, given: ProvisionedBy
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


def _registration(arguments: Any, marks: NodeMarks) -> dict[str, Any]:
    body: dict[str, Any] = {"kubeletExtraArgs": arguments} if marks.labels else {}
    if marks.all_taints:
        body["taints"] = [taint.body for taint in marks.all_taints]
    return body


def _first_kubeadm(template: str, marks: NodeMarks) -> NodePatch:
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


def _kubeadm(template: str, marks: NodeMarks) -> NodePatch:
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


def _agents(kind: str, template: str, marks: NodeMarks) -> NodePatch:
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


def _managed(distribution: str, name: str, marks: NodeMarks) -> NodePatch:
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
        about=("Taints replace those of the object.",),
        target=_target(_INFRASTRUCTURE, kind, name),
    )


def _capacity(pool: PoolPlan, name: str, marks: NodeMarks) -> NodePatch:
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
