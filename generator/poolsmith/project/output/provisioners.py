"""Labels and taints that a pool's nodes must carry, in the words of each tool that makes nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.yaml_writer import emit
from poolsmith.fleet.operands.manifest import Manifest
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import NFD, PROVISIONER
from poolsmith.gpu.nodes.node_makers import node_makers
from poolsmith.project.output.helm_values import origin_text
from poolsmith.project.output.node_needs import Labels, NodeSettings, Taints, comment_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from poolsmith.fleet.plan.origin import Origin
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.fleet.profiles.node_pool import Taint


_ACCELERATOR = "ACCELERATOR_TYPE"
"""In place of a name that is not known."""
_NOT_PUT_BACK = "AKS restores taints of --node-taints; put temporary taints into the agent pool's template:"


def snippet(tool: str, marks: NodeSettings) -> str:
    """A piece of configuration or a command for one tool; text, to be pasted. Raises KeyError.

    Most tools set taints when a node registers and leave them alone then: startup taints stand beside the others.
    """
    return _TOOLS[tool](marks)


def _pairs(labels: Labels) -> str:
    return ",".join(f"{key}={value}" for key, value in labels.items())


def _taint(taint: Taint) -> str:
    return f"{taint.key}={taint.value}:{taint.effect.value}"


def _listed(taints: Taints) -> str:
    return ",".join(map(_taint, taints))


def _bodies(taints: Taints) -> list[dict[str, str]]:
    return [taint.body for taint in taints]


def _without_empty(body: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if value}


def _command(parts: list[str], about: Iterable[str] = ()) -> str:
    """With comments before it, which a shell leaves out."""
    from shlex import quote  # on demand

    return "".join(f"# {line}\n" for line in about) + " ".join(map(quote, parts)) + "\n"


def keeps_off(tool: str, marks: NodeSettings) -> bool:
    """Whether the cloud of a tool is to install no driver on these nodes. Raises KeyError."""
    return node_makers()[tool].keeps_off(own_driver=marks.own_driver, has_operator=marks.has_operator)


def accelerator_of(marks: NodeSettings) -> str:
    """The cloud's name, or what stands for one that nobody knows: the cloud refuses it."""
    return marks.accelerator or _ACCELERATOR


def _kubelet(marks: NodeSettings) -> str:
    flags = [f"--node-labels={_pairs(marks.labels)}"] if marks.labels else []
    if marks.all_taints:
        flags.append(f"--register-with-taints={_listed(marks.all_taints)}")
    return _command(flags)


def _kubeadm(marks: NodeSettings) -> str:
    arguments = [{"name": "node-labels", "value": _pairs(marks.labels)}] if marks.labels else []
    registration = _without_empty({"kubeletExtraArgs": arguments, "taints": _bodies(marks.all_taints)})
    return emit(
        {
            "apiVersion": "kubeadm.k8s.io/v1beta4",
            "kind": "JoinConfiguration",
            "nodeRegistration": registration,
        }
    )


def _cluster_api(marks: NodeSettings) -> str:
    arguments = {"node-labels": _pairs(marks.labels)} if marks.labels else {}
    registration = _without_empty({"kubeletExtraArgs": arguments, "taints": _bodies(marks.all_taints)})
    return emit(
        {
            "apiVersion": "bootstrap.cluster.x-k8s.io/v1beta1",
            "kind": "KubeadmConfigTemplate",
            "metadata": {"name": marks.pool},
            "spec": {"template": {"spec": {"joinConfiguration": {"nodeRegistration": registration}}}},
        }
    )


def _karpenter(marks: NodeSettings) -> str:
    """Pods need not tolerate startup taints for Karpenter to make a node for them."""
    taints = {"taints": _bodies(marks.taints), "startupTaints": _bodies(marks.startup)}
    template = {"metadata": {"labels": marks.labels} if marks.labels else {}, "spec": _without_empty(taints)}
    return emit(
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": marks.pool},
            "spec": {"template": _without_empty(template)},
        },
        header=tuple(comment_lines("karpenter", marks)),
    )


def _eks(marks: NodeSettings) -> str:
    group = {"name": marks.pool, "labels": marks.labels, "taints": _bodies(marks.all_taints)}
    return emit({"managedNodeGroups": [_without_empty(group)]}, header=tuple(comment_lines("eks", marks)))


def _gke(marks: NodeSettings) -> str:
    """Beside the operator GKE installs no driver by itself: it would bring its own device plugin's folders only.

    Source: NVIDIA/cloud-native-docs@gpu-operator-v26.7-1:gpu-operator/google-gke.rst.
    """
    parts = ["gcloud", "container", "node-pools", "create", marks.pool]
    accelerator = f"type={accelerator_of(marks)},count={marks.gpus}"
    option = node_makers()["gke"].option if keeps_off("gke", marks) else "gpu-driver-version=default"
    parts.append(f"--accelerator={accelerator},{option}")
    if marks.labels:
        parts.append(f"--node-labels={_pairs(marks.labels)}")
    if marks.all_taints:
        parts.append(f"--node-taints={_listed(marks.all_taints)}")
    return _command(parts, comment_lines("gke", marks))


def _aks(marks: NodeSettings) -> str:
    parts = ["az", "aks", "nodepool", "add", "--name", marks.pool]
    if keeps_off("aks", marks):
        parts += node_makers()["aks"].option.split()
    if marks.labels:
        parts += ["--labels", *(f"{key}={value}" for key, value in marks.labels.items())]
    if marks.taints:
        parts += ["--node-taints", _listed(marks.taints)]
    template = {"properties": {"nodeInitializationTaints": [_taint(taint) for taint in marks.startup]}}
    later = emit(template, header=(_NOT_PUT_BACK,)) if marks.startup else ""
    return _command(parts, comment_lines("aks", marks)) + later


def _rancher(marks: NodeSettings) -> str:
    """config.yaml of a k3s or RKE2 agent."""
    return emit(
        _without_empty(
            {
                "node-label": [f"{key}={value}" for key, value in marks.labels.items()],
                "node-taint": [_taint(taint) for taint in marks.all_taints],
            }
        )
    )


def _k0s(marks: NodeSettings) -> str:
    parts = ["k0s", "worker"]
    if marks.labels:
        parts.append(f"--labels={_pairs(marks.labels)}")
    if marks.all_taints:
        parts.append(f"--taints={_listed(marks.all_taints)}")
    return _command(parts)


def _talos(marks: NodeSettings) -> str:
    """By the kubelet's registration: `nodeTaints` of a worker are refused by the admission plugin NodeRestriction."""
    kubelet = {"extraConfig": {"registerWithTaints": _bodies(marks.all_taints)}} if marks.all_taints else {}
    return emit({"machine": _without_empty({"nodeLabels": marks.labels, "kubelet": kubelet})})


_TOOLS: dict[str, Callable[[NodeSettings], str]] = {
    "kubelet": _kubelet,
    "kubeadm": _kubeadm,
    "cluster-api": _cluster_api,
    "karpenter": _karpenter,
    "eks": _eks,
    "gke": _gke,
    "aks": _aks,
    "k3s": _rancher,
    "rke2": _rancher,
    "microk8s": _kubelet,
    "k0s": _k0s,
    "talos": _talos,
}


_FIRST = {True: "the operator finds their GPUs", False: "the device plugin starts there"}
"""What looks at the labels once only, by whether there is an operator."""


def render_node_labels(plan: ClusterPlan, header: tuple[str, ...]) -> list[Manifest]:
    """expected/node-labels/<pool>.yaml, to read and to compare with; never applied."""
    return [
        Manifest(
            path=f"expected/node-labels/{pool.name}.yaml",
            documents=(_expected(plan, pool),),
            header=(
                *header,
                "",
                f"Whoever creates the nodes must set this, before {_FIRST[plan.chart is not None]}.",
            ),
            applied=False,
        )
        for pool in plan.pools
    ]


def _expected(plan: ClusterPlan, pool: PoolPlan) -> dict[str, Any]:
    marks = marks_of(plan, pool)
    provisioner: dict[str, Any] = {"labels": marks.labels, "taints": [taint.body for taint in marks.taints]}
    if marks.startup:
        provisioner["startupTaints"] = [taint.body for taint in marks.startup]
    if pool.profile.spec.kernel.args:
        provisioner["kernelArguments"] = list(pool.profile.spec.kernel.args)
    body: dict[str, Any] = {"cluster": plan.name, "pool": pool.name, "provisioner": provisioner}
    if pool.autoscaler_flags:
        body["clusterAutoscaler"] = {"flags": list(pool.autoscaler_flags)}
    if discovered := _labels(pool, lambda writer: writer == NFD):
        body["nodeFeatureDiscovery"] = {"labels": discovered}
    if with_the_node := _labels(pool, lambda writer: writer not in (PROVISIONER, NFD)):
        body["setWithTheNode"] = {"labels": with_the_node}
    body["because"] = {label.key: _because(label.origin) for label in sorted(pool.labels, key=lambda item: item.key)}
    if marks.labels or marks.all_taints:
        body["snippets"] = {name: snippet(name, marks) for name in plan.provisioners}
    return body


def marks_of(plan: ClusterPlan, pool: PoolPlan) -> NodeSettings:
    """What whoever makes the nodes has to set."""
    return NodeSettings(
        pool=pool.name,
        labels=_labels(pool, lambda writer: writer == PROVISIONER),
        taints=pool.taints,
        startup=pool.profile.spec.nodes.startup_taints,
        own_driver=pool.own_driver,
        has_operator=plan.chart is not None,
        accelerator=pool.accelerator or "",
        gpus=pool.profile.spec.gpu.count,
        product=pool.profile.spec.gpu.product,
        system=f"{pool.profile.spec.os.id} {pool.profile.spec.os.version}",
    )


def _labels(pool: PoolPlan, by: Callable[[str], bool]) -> dict[str, str]:
    return dict(sorted((label.key, label.value) for label in pool.labels if by(label.writer)))


def _because(origin: Origin) -> str:
    return origin.because if isinstance(origin, Derived) else origin_text(origin)
