"""Names that are linked: what is told of those that nothing supplies, beside harmless ones that are much alike."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics import Severity
from poolsmith.guard.rules.names.spelling import Spelling
from poolsmith.interface.app import check_paths

IMAGE = f"registry.example.net/team/app@sha256:{'3' * 64}"
OPERATOR = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: gpu-operator, namespace: argocd}
spec:
  project: default
  destination: {server: https://kubernetes.default.svc, namespace: gpu-operator}
  syncPolicy: {syncOptions: [CreateNamespace=true]}
  source:
    repoURL: https://helm.ngc.nvidia.com/nvidia
    chart: gpu-operator
    targetRevision: v26.3.3
    helm: {valuesObject: {driver: {enabled: false}, toolkit: {enabled: false}VALUES}}
"""
SHARED = """, devicePlugin: {config: {create: true, name: s, default: any, data: {any: "{version: v1, sharing: {timeSlicing:
      {renameByDefault: true, resources: [{name: nvidia.com/gpu, replicas: 4}]}}}"}}}"""
NAMED = SHARED.replace("renameByDefault: true, ", "").replace("replicas", "rename: a100-shared, replicas")
POD = "apiVersion: v1\nkind: Pod\nmetadata: {{name: serve, namespace: team}}\nspec:\n  {0}\n  containers:\n"
POD += f"    - {{{{name: main, image: '{IMAGE}', resources: {{{{limits: {{{{{{1}}: 1}}}}}}}}}}}}\n"
NODES = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: g5}}\nspec:\n  template:\n"
NODES += "    metadata: {{labels: {{{0}}}}}\n    spec: {{requirements: [{1}]}}\n"
CLAIM = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {0}, namespace: team}}\nspec: {{}}\n"
QUEUE = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {{name: gpus}}\n"
QUEUE += "spec: {{resourceGroups: [{{coveredResources: [{1}], flavors: [{{name: {0}}}]}}]}}\n"
FLAVOR = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {{name: {0}}}\nspec: {{}}\n"
SET = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: pg, namespace: team}}\nspec:\n  serviceName: pg\n"
SET += (
    "  selector: {{matchLabels: {{a: b}}}}\n  template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: []}}}}\n"
)
SET += "  volumeClaimTemplates: [{{metadata: {{name: {0}}}, spec: {{}}}}]\n"
OLM = "apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\nmetadata: {{name: sso, namespace: team}}\n"
OLM += "spec: {{channel: fast, name: sso, source: {0}, sourceNamespace: {1}}}\n"
WITH_CLASS = POD.format("runtimeClassName: nvidia", "nvidia.com/gpu")
WORKER = "version: v1alpha1\nmachine: {{type: worker, nodeLabels: {{{0}}}}}\n"


def pod(spec="", resource="nvidia.com/gpu"):
    return POD.format(spec or "restartPolicy: Never", resource)


def volume(name):
    return pod(f"volumes: [{{name: a, persistentVolumeClaim: {{claimName: {name}}}}}]")


def selecting(label):
    return pod(f"nodeSelector: {{{label}}}")


def queued(name):
    return pod().replace("namespace: team", f"namespace: team, labels: {{kueue.x-k8s.io/queue-name: {name}}}")


LOCAL = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {{name: {0}, namespace: {1}}}\n"
LOCAL += "spec: {{clusterQueue: gpus}}\n"
SERVED = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: a, namespace: team}\n"
SERVED += "spec: {predictor: {model: {modelFormat: {name: vllm}, runtime: vllm-cuda}}}\n"
RUNTIME = "apiVersion: serving.kserve.io/v1alpha1\nkind: {0}\nmetadata: {{name: {1}}}\nspec: {{}}\n"
ANY = "{key: team, operator: Exists}"
TOLD = {
    "a resource that was renamed": ("PSM757", [pod()], SHARED),
    "a name of one's own": ("PSM757", [pod(resource="nvidia.com/a100-shared")], NAMED),
    "a queue for what is not given out": ("PSM757", [QUEUE.format("a", "nvidia.com/gpu"), FLAVOR.format("a")], SHARED),
    "a label of the operator": ("PSM775", [selecting("nvidia.com/gpu.deploy.device-plugn: 'true'")], ""),
    "a label of a later release": ("PSM775", [selecting("nvidia.com/gpu.deploy.client: 'true'")], ""),
    "a label that no machine has": ("PSM775", [selecting("workload: a"), NODES.format("workload-class: a", "")], ""),
    "a value that no machine has": ("PSM775", [selecting("pool: b"), NODES.format("pool: a", "")], ""),
    "a value that Talos does not give": ("PSM775", [selecting("pool: b"), WORKER.format("pool: a")], ""),
    "a class on OpenShift": (
        "PSM946",
        [WITH_CLASS, OLM.format("redhat-operators", "openshift-marketplace")],
        ", cdi: {enabled: false}",
    ),
    "a family in capitals": ("PSM775", [selecting("nvidia.com/gpu.family: Ampere")], ""),
    "memory with a unit": ("PSM775", [selecting("nvidia.com/gpu.memory: 80GB")], ""),
    "a strategy that is none": ("PSM775", [selecting("nvidia.com/gpu.sharing-strategy: timeslicing")], ""),
    "a flavor whose name goes on": ("PSM773", [QUEUE.format("spot", "cpu"), FLAVOR.format("spot-flavor")], ""),
    "a volume whose name goes on": ("PSM773", [volume("model-cache"), CLAIM.format("model-cache-pvc")], ""),
    "a queue of another namespace": ("PSM773", [queued("users"), LOCAL.format("users", "other")], ""),
    "a queue that is misspelt": ("PSM773", [queued("user"), LOCAL.format("users", "team")], ""),
    "a runtime that is misspelt": ("PSM773", [SERVED, RUNTIME.format("ClusterServingRuntime", "vllm-cudda")], ""),
    "a class of priority that is reserved": ("PSM773", [pod("priorityClassName: system-gpu-critical")], ""),
    "a volume of another set": ("PSM773", [volume("dta-pg-0"), SET.format("data")], ""),
}
SILENT = {
    "the renamed resource": ("PSM757", [pod(resource="nvidia.com/gpu.shared")], SHARED),
    "a resource that keeps its name": ("PSM757", [pod(resource="nvidia.com/gpu")], NAMED),
    "a queue that covers it too": ("PSM757", [QUEUE.format("a", "cpu, nvidia.com/gpu.shared")], SHARED),
    "a resource of another plugin": ("PSM757", [pod(resource="nvidia.com/gpumem")], SHARED),
    "a label that Karpenter gives as it is asked": ("PSM775", [selecting("team: a"), NODES.format("", ANY)], ""),
    "a label of an instance": (
        "PSM775",
        [selecting("karpenter.k8s.aws/instance-family: g5"), NODES.format("", "")],
        "",
    ),
    "a label of a zone": ("PSM775", [selecting("topology.kubernetes.io/zone: a"), NODES.format("", "")], ""),
    "a value of one of two groups": (
        "PSM775",
        [selecting("pool: b"), NODES.format("pool: a", ""), NODES.format("pool: b", "")],
        "",
    ),
    "a label by a variable": ("PSM775", [selecting("pool: ${POOL}"), NODES.format("pool: a", "")], ""),
    "a short name that another one begins with": ("PSM773", [volume("data"), CLAIM.format("data-postgres")], ""),
    "a volume of a set": ("PSM773", [volume("data-pg-0"), SET.format("data")], ""),
    "a queue of its namespace": ("PSM773", [queued("users"), LOCAL.format("users", "team")], ""),
    "a queue from elsewhere": ("PSM773", [queued("gpu-large"), LOCAL.format("users", "team")], ""),
    "a runtime of the cluster": ("PSM773", [SERVED, RUNTIME.format("ClusterServingRuntime", "vllm-cuda")], ""),
    "a class of priority of Kubernetes": ("PSM773", [pod("priorityClassName: system-node-critical")], ""),
    "a class of priority from elsewhere": ("PSM773", [pod("priorityClassName: gpu-critical")], ""),
    "a class beside OLM": ("PSM946", [WITH_CLASS, OLM.format("hub", "olm")], ", cdi: {enabled: false}"),
    "a family": ("PSM775", [selecting("nvidia.com/gpu.family: ada-lovelace")], ""),
    "memory": ("PSM775", [selecting("nvidia.com/gpu.memory: '81920'")], ""),
    "a value that machines have": (
        "PSM775",
        [selecting("nvidia.com/gpu.family: Ampere"), NODES.format("nvidia.com/gpu.family: Ampere", "")],
        "",
    ),
    "flavors from elsewhere": ("PSM773", [QUEUE.format("default-flavor", "cpu")], ""),
}


def found(folder, texts, values):
    files = {"op.yaml": OPERATOR.replace("VALUES", values), **{f"f{n}.yaml": text for n, text in enumerate(texts)}}
    objects = [name for name, text in files.items() if "apiVersion:" in text]
    files["kustomization.yaml"] = (
        f"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [{', '.join(objects)}]\n"
    )
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return check_paths(folder, [folder]).diagnostics


@pytest.mark.parametrize("what", TOLD)
def test_what_nothing_supplies_is_told(tmp_path, what):
    code, texts, values = TOLD[what]

    assert [
        item.code
        for item in found(tmp_path, texts, values)
        if item.severity is not Severity.NOTE and (item.code.startswith("PSM77") or item.code == code)
    ] == [code]


@pytest.mark.parametrize("what", SILENT)
def test_what_is_supplied_or_may_be_is_left_alone(tmp_path, what):
    code, texts, values = SILENT[what]

    told = [item for item in found(tmp_path, texts, values) if item.code == code and item.severity is not Severity.NOTE]
    assert told == []


NAMED_AS_A_LABEL = "nvidia.com/gpu: 'true'"
HOSTS = "talosVersion: v1.11.0\nnodes: [{{hostname: a, nodeLabels: {{{0}}}}}]\n"
BY_HAND = {
    "nobody": ([selecting(NAMED_AS_A_LABEL)], "", 1),
    "talhelper, another one": ([selecting(NAMED_AS_A_LABEL), HOSTS.format("gpu.example.com/kind: a")], "", 1),
    "talhelper": ([selecting(NAMED_AS_A_LABEL), HOSTS.format(NAMED_AS_A_LABEL)], "", 0),
    "kubespray": ([selecting(NAMED_AS_A_LABEL), f"node_labels: {{{NAMED_AS_A_LABEL}}}\n"], "", 0),
    "nobody, and no chart reads it": ([], f", nodeSelector: {{{NAMED_AS_A_LABEL}}}", 0),
}


@pytest.mark.parametrize("who", BY_HAND)
def test_a_resource_as_a_label_is_a_note_where_nobody_gives_it_by_hand(tmp_path, who):
    texts, values, count = BY_HAND[who]

    assert [item.code for item in found(tmp_path, texts, values)].count("PSM775") == count


NAMES = ["gpu-sharing", "model-cache-pvc", "train-data", "a", "x" * 300]


@pytest.mark.parametrize(
    ("word", "near", "longer"),
    [
        ("gpu-sharng", "gpu-sharing", None),
        ("gpu-shairng", "gpu-sharing", None),
        ("gpu_sharing", "gpu-sharing", None),
        ("gpu-sharing-old", None, "gpu-sharing"),
        ("model-cache", None, "model-cache-pvc"),
        ("data", None, "train-data"),
        ("cache", None, None),
        ("x" * 299, None, None),
        ("", None, None),
    ],
)
def test_a_name_is_sought_among_others_by_what_it_may_be_taken_for(word, near, longer):
    spelling = Spelling(NAMES)

    assert spelling.nearest(word) == near
    assert spelling.longer(word) == longer


def test_names_of_strangers_take_no_room():
    spelling = Spelling(["-" * 100_000, *(f"{'a-' * 100}{index}" for index in range(100))])

    assert spelling.nearest("-" * 99_999) in (None, "-" * 100_000)
    assert spelling.longer("-" * 99_999) is None
    assert Spelling(map(str, range(10_000))).nearest("99990") is None
