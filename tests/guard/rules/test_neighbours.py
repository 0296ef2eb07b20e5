"""Descriptions of nodes against profiles: what agrees is silent in each tool's words, and each difference is told."""

from __future__ import annotations

import copy

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from poolsmith.fleet.operands.expansion import Node
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.nodes.machine_gpus import gpu_claims
from poolsmith.guard.rules.beside.label_after_start import is_late
from poolsmith.guard.rules.beside.nic_cluster_policy import advertised, selects, tolerations_of
from poolsmith.kubernetes.repository.manifest_files import CheckedTree, parse_documents
from poolsmith.kubernetes.repository.node_template_marks import MACHINES, template_kinds
from poolsmith.kubernetes.repository.node_templates import node_templates
from poolsmith.project.run.neighbours import judge_neighbours_of

LABEL = "poolsmith.dev/pool"
TAINTS = (("nvidia.com/gpu", "", "NoSchedule"), ("team", "ml", "NoExecute"))
STARTUP = (("readiness.k8s.io/gpu", "", "NoSchedule"),)
NODES = (
    "{autoscaled: true, taints: [{key: nvidia.com/gpu, effect: NoSchedule}, {key: team, value: ml, effect: NoExecute}], "
    "startupTaints: [{key: readiness.k8s.io/gpu, effect: NoSchedule}]}"
)
LABELS = {LABEL: "a"}


def objects(taints, effect=lambda effect: effect):
    return [{"key": key, "value": value, "effect": effect(what)} for key, value, what in taints]


def texts(taints):
    return [f"{key}={value}:{effect}" for key, value, effect in taints]


def upper(effect):
    return {"NoSchedule": "NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}[effect]


def dashed(effect):
    return {"NoSchedule": "no-schedule", "NoExecute": "no-execute"}[effect]


def nested(path, value):
    for key in reversed(path.split("/")):
        value = {key: value}
    return value


def merged(*parts):
    found = {}
    for part in parts:
        for key, value in part.items():
            found[key] = merged(found[key], value) if isinstance(found.get(key), dict) else value
    return found


def thing(version, kind, *parts, name="x"):
    return merged({"apiVersion": version, "kind": kind, "metadata": {"name": name}}, *parts)


def pairs(labels):
    return [f"{key}={value}" for key, value in labels.items()]


def flag(labels):
    return ",".join(pairs(labels))


def join(arguments, labels, taints):
    body = {"kubeletExtraArgs": arguments(flag(labels)), "taints": objects(taints)}
    return nested("spec/template/spec/joinConfiguration/nodeRegistration", body)


BOOT, INFRA = "bootstrap.cluster.x-k8s.io/", "infrastructure.cluster.x-k8s.io/v1beta2"
WRITTEN = {
    "karpenter": lambda labels, taints, startup: thing(
        "karpenter.sh/v1",
        "NodePool",
        nested("spec/template/metadata/labels", labels),
        nested("spec/template/spec", {"taints": objects(taints), "startupTaints": objects(startup)}),
    ),
    "provisioner": lambda labels, taints, startup: thing(
        "karpenter.sh/v1alpha5",
        "Provisioner",
        {"spec": {"labels": labels, "taints": objects(taints), "startupTaints": objects(startup)}},
    ),
    "kubeadm v1beta1": lambda labels, taints, startup: thing(
        f"{BOOT}v1beta1",
        "KubeadmConfigTemplate",
        join(lambda text: {"node-labels": text}, labels, (*taints, *startup)),
    ),
    "kubeadm v1beta2": lambda labels, taints, startup: thing(
        f"{BOOT}v1beta2",
        "KubeadmConfigTemplate",
        join(lambda text: [{"name": "node-labels", "value": text}], labels, (*taints, *startup)),
    ),
    "rke2": lambda labels, taints, startup: thing(
        f"{BOOT}v1beta1",
        "RKE2ConfigTemplate",
        nested(
            "spec/template/spec/agentConfig", {"nodeLabels": pairs(labels), "nodeTaints": texts((*taints, *startup))}
        ),
    ),
    "aws": lambda labels, taints, startup: thing(
        INFRA, "AWSManagedMachinePool", {"spec": {"labels": labels, "taints": objects((*taints, *startup), dashed)}}
    ),
    "azure": lambda labels, taints, startup: thing(
        INFRA,
        "AzureManagedMachinePool",
        {
            "spec": {
                "nodeLabels": labels,
                "taints": objects((*taints, *startup)),
                "asoManagedClustersAgentPoolPatches": ['{"spec": {"gpuProfile": {"driver": "None"}}}'],
            }
        },
    ),
    "gcp": lambda labels, taints, startup: thing(
        INFRA,
        "GCPManagedMachinePool",
        {"spec": {"kubernetesLabels": labels, "kubernetesTaints": objects((*taints, *startup))}},
    ),
    "eksctl": lambda labels, taints, startup: thing(
        "eksctl.io/v1alpha5",
        "ClusterConfig",
        {"managedNodeGroups": [{"name": "x", "labels": labels, "taints": objects((*taints, *startup))}]},
    ),
    "config connector": lambda labels, taints, startup: thing(
        "container.cnrm.cloud.google.com/v1beta1",
        "ContainerNodePool",
        nested(
            "spec/nodeConfig",
            {
                "labels": labels,
                "taint": objects((*taints, *startup), upper),
                "guestAccelerator": [{"gpuDriverInstallationConfig": {"gpuDriverVersion": "INSTALLATION_DISABLED"}}],
            },
        ),
    ),
    "crossplane gke": lambda labels, taints, startup: thing(
        "container.gcp.upbound.io/v1beta1",
        "NodePool",
        nested(
            "spec/forProvider",
            {"nodeConfig": [{"labels": labels, "taint": objects((*taints, *startup), upper)}]},
        ),
    ),
    "crossplane aks": lambda labels, taints, startup: thing(
        "containerservice.azure.upbound.io/v1beta1",
        "KubernetesClusterNodePool",
        nested(
            "spec/forProvider",
            {"gpuDriver": "None", "nodeLabels": labels, "nodeTaints": texts((*taints, *startup))},
        ),
    ),
    "service operator": lambda labels, taints, startup: thing(
        "containerservice.azure.com/v1api20240901",
        "ManagedClustersAgentPool",
        {
            "spec": {
                "gpuProfile": {"driver": "None"},
                "nodeLabels": labels,
                "nodeTaints": texts(taints),
                "nodeInitializationTaints": texts(startup),
            }
        },
    ),
    "talos": lambda labels, taints, startup: {
        "version": "v1alpha1",
        "machine": {
            "type": "worker",
            "nodeLabels": labels,
            "kubelet": {"extraConfig": {"registerWithTaints": objects((*taints, *startup))}},
        },
    },
    "rke2 file": lambda labels, taints, startup: {
        "node-label": pairs(labels),
        "node-taint": texts((*taints, *startup)),
    },
}
DIFFERENT = {
    "label with another value": ({LABEL: "b"}, TAINTS, STARTUP, ["node-template-of-no-pool"]),
    "one taint less": (LABELS, TAINTS[1:], STARTUP, ["node-template-taints"]),
    "no startup taint": (LABELS, TAINTS, (), ["node-template-taints"]),
    "another value": (LABELS, (TAINTS[0], ("team", "web", "NoExecute")), STARTUP, ["node-template-taints"]),
    "one taint more": (LABELS, (*TAINTS, ("x", "", "NoSchedule")), STARTUP, ["node-template-taints"]),
    "a label that steers": (
        {**LABELS, "nvidia.com/gpu.deploy.driver": "false"},
        TAINTS,
        STARTUP,
        ["node-template-labels"],
    ),
}


@pytest.fixture
def findings(resolve):
    """What is said of documents beside one pool `a`."""
    outcome = resolve({}, {"a": {"nodes": NODES, "gpu": "{product: NVIDIA-L4, count: 2}"}})

    def judged(*documents):
        found, problem = parse_documents("infra/x.yaml", yaml.safe_dump_all(documents).encode())
        assert problem is None
        tree = CheckedTree(tuple(found), frozenset(("infra/x.yaml",)))
        return judge_neighbours_of(tree, outcome.plan, outcome.loaded, Catalog()).diagnostics

    return judged


@pytest.mark.parametrize("tool", WRITTEN)
def test_the_same_in_the_words_of_each_tool_is_silent(findings, tool):
    assert findings(WRITTEN[tool](LABELS, TAINTS, STARTUP)) == ()


@pytest.mark.rows(31, "each tool and each difference")
@pytest.mark.parametrize("tool", WRITTEN)
@pytest.mark.parametrize("change", DIFFERENT)
def test_each_difference_is_told_at_a_line_of_the_file(findings, tool, change):
    labels, taints, startup, names = DIFFERENT[change]
    found = findings(WRITTEN[tool](labels, taints, startup))

    assert [item.name for item in found] == names
    assert all(item.primary.span.path == "infra/x.yaml" and item.primary.span.start for item in found)


@pytest.mark.parametrize("tool", WRITTEN)
def test_a_template_of_the_pools_name_without_its_label_is_told(findings, tool):
    body = copy.deepcopy(WRITTEN[tool]({"team": "ml"}, TAINTS, STARTUP))
    if "metadata" in body:
        body["metadata"]["name"] = "a"
    for group in body.get("managedNodeGroups", ()):
        group["name"] = "a"
    found = [item.name for item in findings(body)]

    assert found == (["node-template-labels"] if "metadata" in body else []), "files without names match by label alone"


def test_machines_give_their_template_a_name(findings):
    template = WRITTEN["kubeadm v1beta2"]({"team": "ml"}, TAINTS, STARTUP)
    reference = {"configRef": {"kind": "KubeadmConfigTemplate", "name": "x"}}
    machines = thing(
        "cluster.x-k8s.io/v1beta2", "MachineDeployment", nested("spec/template/spec/bootstrap", reference), name="a"
    )

    assert [item.name for item in findings(template, machines)] == ["node-template-labels"]


def test_taints_of_machines_count_for_their_template(findings):
    template = WRITTEN["kubeadm v1beta2"](LABELS, TAINTS, ())
    spec = {
        "bootstrap": {"configRef": {"kind": "KubeadmConfigTemplate", "name": "x"}},
        "taints": [{"key": "readiness.k8s.io/gpu", "effect": "NoSchedule", "propagation": "OnInitialization"}],
    }
    machines = thing("cluster.x-k8s.io/v1beta2", "MachineDeployment", nested("spec/template/spec", spec))

    assert findings(template, machines) == ()


def pods(selector):
    spec = {"nodeSelector": selector, "tolerations": [{"operator": "Exists"}], "containers": [{"name": "a"}]}
    return thing("apps/v1", "Deployment", nested("spec/template/spec", spec))


LATE = {"nvidia.com/gpu.product": "NVIDIA-L4"}


@pytest.mark.parametrize("selector", [LATE, {**LATE, LABEL: "a"}, {"nvidia.com/gpu.present": "true"}])
def test_pods_that_wait_for_labels_of_running_nodes_are_told(findings, selector):
    assert [(item.name, item.severity) for item in findings(pods(selector))] == [("label-after-start", "warning")]


def test_a_template_that_has_the_label_is_enough(findings):
    template = WRITTEN["karpenter"]({**LABELS, **LATE}, TAINTS, STARTUP)

    assert findings(template, pods(LATE)) == ()


def test_pods_that_another_pool_may_take_are_told_in_a_note(resolve):
    pools = {"a": {"nodes": NODES, "gpu": "{product: NVIDIA-L4, count: 2}"}, "b": {}}
    outcome = resolve({}, pools)
    found, _ = parse_documents("x.yaml", yaml.safe_dump(pods({"nvidia.com/gpu.present": "true"})).encode())
    tree = CheckedTree(tuple(found), frozenset(("x.yaml",)))
    (only,) = judge_neighbours_of(tree, outcome.plan, outcome.loaded, Catalog()).diagnostics

    assert only.severity == "note"


def test_nobody_is_asked_to_make_nodes_with_labels_that_come_later(repository):
    catalog = Catalog()
    asked = {
        key
        for path in (*repository.glob("output/clusters/*/expected/node-labels/*.yaml"),)
        for key in yaml.safe_load(path.read_text("utf-8"))["provisioner"]["labels"]
    }

    assert len(asked) > 2
    assert not [key for key in asked if is_late(key, catalog)]


YAML_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["a=b:NoSchedule", "${X}", LABEL]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_stands_in_the_fields_is_read_without_an_error(data):
    kind = data.draw(st.sampled_from(template_kinds()))
    fields = [path for path, _ in (*kind.labels, *kind.taints, *kind.startup)]
    extra = ["spec/template/spec/requirements", "spec/instanceTypes", "spec/nodeConfig/guestAccelerator", "items"]
    path = data.draw(st.sampled_from([*fields, *extra]))
    steps = path.replace("~1", "%").split("/")
    cut = data.draw(st.integers(1, len(steps)))
    body = nested("/".join(steps[:cut]), data.draw(YAML_VALUES))
    body = {field: [body] for field in kind.within} or body
    whole = merged({"apiVersion": f"{kind.group}/v1", "kind": kind.kind, "metadata": {"name": "x"}}, body)
    machines = {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": data.draw(st.sampled_from(MACHINES)), **body}
    documents = parse_documents("x.yaml", yaml.safe_dump_all([whole, machines]).encode())[0]

    for template in node_templates(CheckedTree(tuple(documents), frozenset(("x.yaml",)))):
        list(gpu_claims(template, {}))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_a_network_policy_says_is_read_without_an_error(data):
    term = st.lists(st.fixed_dictionaries({}, optional={"matchExpressions": YAML_VALUES}) | YAML_VALUES, max_size=2)
    required = st.fixed_dictionaries({"nodeSelectorTerms": term}) | YAML_VALUES
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": data.draw(required)}
    config = data.draw(st.sampled_from(['{"configList": [{"resourceName": 1}]}', "{", "[]"]) | st.text(max_size=9))
    spec = {
        "ofedDriver": data.draw(YAML_VALUES),
        "nodeSelector": data.draw(YAML_VALUES),
        "nodeAffinity": affinity,
        "tolerations": data.draw(YAML_VALUES),
        "rdmaSharedDevicePlugin": {"config": config},
    }
    body = thing("mellanox.com/v1alpha1", "NicClusterPolicy", {"spec": spec})
    (policy,) = parse_documents("x.yaml", yaml.safe_dump(body).encode())[0]

    tolerations_of(policy)
    advertised(policy)
    selects(policy, Node(name="a", labels={LABEL: "a"}), frozenset((LABEL,)))
