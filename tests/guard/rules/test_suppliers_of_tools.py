"""Names that one tool's files ask for and another's supply: what is wrong is told where it is asked for, its twin is not."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics import NoInputError, Severity
from poolsmith.interface.app import check_paths

IMAGE = f"registry.example.net/app@sha256:{'3' * 64}"
VALUES = "cdi: {enabled: true}\ndriver: {version: 580.126.20, upgradePolicy: {autoUpgrade: true, maxUnavailable: 1}}\n"
FLOW = ", ".join(VALUES.splitlines())
SHARING = """\
  any: |
    version: v1
    sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}
"""
DEPLOYMENT = f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: vllm, namespace: ml}}
spec:
  selector: {{matchLabels: {{app: vllm}}}}
  template:
    metadata: {{labels: {{app: vllm}}}}
    spec:
      SPEC
      containers: [{{name: main, image: '{IMAGE}', resources: {{LIMITS}}}}]
"""
EKSCTL = """\
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: lab, region: eu-west-1, version: '1.33'}
managedNodeGroups:
  - {name: gpu, instanceType: g6.xlarge, amiFamily: AmazonLinux2023, labels: {node-type: gpu-dra}, desiredCapacity: 1}
"""
GKE = """\
resource "google_container_node_pool" "gpu" {
  cluster = google_container_cluster.lab.id
  node_config {
    machine_type = "g2-standard-8"
    guest_accelerator {
      type  = "nvidia-l4"
      count = 1
    }
  }
}
"""
HELM = """\
resource "helm_release" "gpu" {
  name       = "gpu-operator"
  repository = "https://helm.ngc.nvidia.com/nvidia"
  chart      = "gpu-operator"
  version    = "v26.3.3"
  namespace  = "gpu-operator"
  values     = [VALUES]
}
"""
TYPED = """\
resource "kubernetes_config_map" "ts" {
  metadata {
    name      = "ts-config"
    namespace = "gpu-operator"
  }
  data = { any = file("any.yaml") }
}
"""
ENCODED = """yamlencode({
    cdi          = { enabled = true }
    driver       = { version = "580.126.20", upgradePolicy = { autoUpgrade = true, maxUnavailable = 1 } }
    devicePlugin = { config = { name = "ts-config", default = "any" } }
  })"""
MANIFEST = """\
resource "kubernetes_manifest" "mig" {
  manifest = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "layouts", namespace = "gpu-operator" }
    data       = { "config.yaml" = file("mig.yaml") }
  }
}
"""
SET = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: gpu, namespace: argocd}
spec:
  goTemplate: true
  generators: [{list: {elements: [{cluster: east}, {cluster: west}]}}]
  template:
    metadata: {name: 'gpu-{{.cluster}}'}
    spec:
      project: gpu
      destination: {name: '{{.cluster}}', namespace: gpu-operator}
      sources:
        - repoURL: https://helm.ngc.nvidia.com/nvidia
          chart: gpu-operator
          targetRevision: v26.3.3
          helm: {valuesObject: {FLOW, devicePlugin: {config: {name: sharing, default: any}}}}
        - {repoURL: 'https://git.example.com/fleet.git', targetRevision: main, path: 'clusters/{{.cluster}}/gpu'}
      syncPolicy: {syncOptions: [CreateNamespace=true, ServerSideApply=true]}
""".replace("FLOW", FLOW)
UNIT = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: gpu, namespace: flux-system}
spec:
  interval: 1h
  path: ./gpu
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
  postBuild: {substituteFrom: [{kind: ConfigMap, name: cluster-settings}]}
"""
SETTINGS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster-settings, namespace: flux-system}\ndata: {A: b}\n"
SUBSCRIPTION = """\
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: gpu-operator-certified, namespace: nvidia-gpu-operator}
spec: {channel: v26.3, name: gpu-operator-certified, source: certified-operators,
  sourceNamespace: openshift-marketplace, startingCSV: gpu-operator-certified.v26.3.3, installPlanApproval: Manual}
"""
POLICY = """\
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {name: gpu-cluster-policy}
spec:
  operator: {defaultRuntime: crio}
  driver: {enabled: true}
  toolkit: {enabled: true}
  devicePlugin: {config: {name: sharing, default: any}}
  dcgm: {enabled: true}
  dcgmExporter: {enabled: true}
  gfd: {enabled: true}
  nodeStatusExporter: {enabled: true}
  daemonsets: {}
"""
RULE = """\
apiVersion: nfd.k8s-sigs.io/v1alpha1
kind: NodeFeatureRule
metadata: {name: kinds}
spec:
  rules: [{name: k, labels: {example.com/kind: inference}, matchFeatures: [{feature: pci.device, matchExpressions:
    {vendor: {op: In, value: [10de]}}}]}]
"""
DRIVER = """\
apiVersion: nvidia.com/v1alpha1
kind: NVIDIADriver
metadata: {name: inference}
spec: {driverType: gpu, repository: nvcr.io/nvidia, image: driver, version: 580.126.20,
  nodeSelector: {example.com/kind: inference}}
"""
NIM = """\
apiVersion: apps.nvidia.com/v1alpha1
kind: NIMCache
metadata: {name: llama, namespace: ml}
spec: {source: {ngc: {modelPuller: nvcr.io/nim/meta/llama:1.8}}, storage: {pvc: {create: true, size: 50Gi}}}
---
apiVersion: apps.nvidia.com/v1alpha1
kind: NIMService
metadata: {name: llama, namespace: ml}
spec:
  image: {repository: nvcr.io/nim/meta/llama, tag: '1.8'}
  storage: {nimCache: {name: llama}}
  resources: {limits: {nvidia.com/gpu: 1}}
"""
CLASS = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: a100-gpu}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.nvidia.com'"}}]}
"""
CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-gpu, namespace: ml}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: a100-gpu}}]}}}
"""
ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: vllm-server, namespace: ml}\n"
FLEET = """\
defaultNamespace: gpu-operator
helm:
  {releaseName: gpu-operator, chart: gpu-operator, repo: 'https://helm.ngc.nvidia.com/nvidia', version: v26.3.3,
   valuesFiles: [values.yaml]}
"""
CHART = """\
apiVersion: v2
name: stack
version: 1.0.0
dependencies: [{name: gpu-operator, version: v26.3.3, repository: 'https://helm.ngc.nvidia.com/nvidia'}]
"""
WITHIN = "".join(f"  {line}\n" for line in VALUES.splitlines())
TEMPLATE = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: time-slicing-config\n  labels: {{ .Values.labels }}\n"


def config_map(space="gpu-operator"):
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: sharing, namespace: {space}}}\ndata:\n{SHARING}"


def deployment(spec="", limits="limits: {nvidia.com/gpu: 1}"):
    return DEPLOYMENT.replace("SPEC", spec or "terminationGracePeriodSeconds: 60").replace("LIMITS", limits)


def folder(**files):
    """Of kustomize."""
    texts = {f"{name}.yaml": text for name, text in files.items()}
    listed = "".join(f"  - {name}\n" for name in texts)
    head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n"
    return {f"gpu/{name}": text for name, text in {**texts, "kustomization.yaml": head + listed}.items()}


CLAIMING = "resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]"
NAMED = "devicePlugin: {config: {name: time-slicing-config, default: any}}"
RIGHT = {
    "a label of eksctl's, by its value": (
        {"cluster.yaml": EKSCTL, "app/a.yaml": deployment("nodeSelector: {node-type: gpu-dra}")},
        ("PSM775", "app/a.yaml", "node-type: gpu-dra", "NodeGroupType: gpu-dra", "node-type"),
    ),
    "an accelerator of GKE": (
        {"infra/a.tf": GKE, "app/a.yaml": deployment("nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}")},
        ("PSM775", "app/a.yaml", "accelerator: nvidia-l4", "accelerator: nvidia-tesla-l4", "nvidia-l4"),
    ),
    "a map of Terraform": (
        {"infra/a.tf": TYPED + HELM.replace("VALUES", ENCODED)},
        ("PSM750", "infra/a.tf", 'config = { name = "ts-config"', 'config = { name = "ts-confg"', "ts-config"),
    ),
    "a manifest of Terraform": (
        {
            "infra/a.tf": MANIFEST + HELM.replace("VALUES", 'file("values.yaml")'),
            "infra/values.yaml": VALUES + "migManager: {config: {name: layouts, default: all-disabled}}\n",
            "infra/mig.yaml": "version: v1\nmig-configs: {all-disabled: [{devices: all, mig-enabled: false}]}\n",
        },
        ("PSM750", "infra/a.tf", '"config.yaml" =', '"config.yml" =', "config.yaml"),
    ),
    "a map of a chart's own templates": (
        {
            "stack/Chart.yaml": CHART,
            "stack/values.yaml": f"gpu-operator:\n{WITHIN}  {NAMED}\n",
            "stack/templates/a.yaml": TEMPLATE,
        },
        ("PSM750", "stack/values.yaml", "time-slicing-config", "time-slice-config", "time-slicing-config"),
    ),
    "a cluster of an ApplicationSet": (
        {
            "apps/set.yaml": SET,
            "clusters/east/gpu/a.yaml": config_map(),
            "clusters/west/gpu/a.yaml": config_map(),
        },
        ("PSM750", "clusters/west/gpu/a.yaml", "name: sharing", "name: sharings", "sharings"),
    ),
    "a map of Flux's variables": (
        {f"clusters/{name}": text for name, text in folder(unit=UNIT, settings=SETTINGS).items()},
        ("PSM773", "clusters/gpu/unit.yaml", "cluster-settings", "cluster-setings", "cluster-settings"),
    ),
    "a catalog of OpenShift": (
        {"a.yaml": SUBSCRIPTION},
        ("PSM773", "a.yaml", "source: certified-operators", "source: certified-operator", "certified-operators"),
    ),
    "the namespace that OLM installs into": (
        folder(sub=SUBSCRIPTION, policy=POLICY, cm=config_map("nvidia-gpu-operator")),
        ("PSM750", "gpu/cm.yaml", "nvidia-gpu-operator", "gpu-operator-resources", "nvidia-gpu-operator"),
    ),
    "a value of a rule, for a driver object": (
        folder(rule=RULE, driver=DRIVER),
        ("PSM264", "gpu/driver.yaml", "kind: inference", "kind: training", "inference"),
    ),
    "a cache of the NIM operator": (
        folder(nim=NIM),
        ("PSM773", "gpu/nim.yaml", "nimCache: {name: llama}", "nimCache: {name: llama3}", "llama"),
    ),
    "a class of devices of one's own": (
        folder(cl=CLASS, claim=CLAIM, app=deployment(CLAIMING, "claims: [{name: gpu}]")),
        ("PSM773", "gpu/claim.yaml", "deviceClassName: a100-gpu", "deviceClassName: a100-gpus", "a100-gpu"),
    ),
    "an account that is called after its workload": (
        folder(sa=ACCOUNT, app=deployment("serviceAccountName: vllm-server")),
        ("PSM773", "gpu/app.yaml", "vllm-server", "vllm-serving", "vllm-server"),
    ),
}


def told(root, files, code):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    found = check_paths(root, sorted(root.iterdir()), everything=True).diagnostics
    return [f"{item.message} {item.help}" for item in found if item.code == code and item.severity is not Severity.NOTE]


@pytest.mark.parametrize("what", RIGHT)
def test_what_another_tool_supplies_is_left_alone_and_a_slip_is_told_with_the_name(tmp_path, what):
    files, (code, path, right, wrong, mend) = RIGHT[what]
    assert right in files[path]

    assert told(tmp_path / "right", files, code) == []
    (only,) = told(tmp_path / "wrong", {**files, path: files[path].replace(right, wrong, 1)}, code)
    assert mend in only


POD = f"""\
apiVersion: v1
kind: Pod
metadata: {{name: own, namespace: ml}}
spec: {{containers: [{{name: main, image: '{IMAGE}', MORE}}]}}
"""
CUSTOM = "apiVersion: VERSION\nkind: KIND\nmetadata: {name: own, namespace: ml}\nspec: SPEC\n"


def custom(version, kind, spec):
    return CUSTOM.replace("VERSION", version).replace("KIND", kind).replace("SPEC", spec)


RESOURCES = "{limits: {nvidia.com/gpu: 2}, requests: {nvidia.com/gpu: 1}}"
NVIDIAS = "selectors: [{cel: {expression: \"device.driver == 'gpu.nvidia.com'\"}}]"
OF_STACK = {
    "a variable by hand": POD.replace("MORE", "env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]"),
    "a range of limits": custom("v1", "LimitRange", "{limits: [{type: Container, max: {nvidia.com/gpu: '4'}}]}"),
    "a quota of devices": custom(
        "v1", "ResourceQuota", "{hard: {gpu.nvidia.com.deviceclass.resource.k8s.io/devices: '4'}}"
    ),
    "a queue": custom(
        "kueue.x-k8s.io/v1beta1", "ClusterQueue", "{resourceGroups: [{coveredResources: [nvidia.com/gpu]}]}"
    ),
    "a class of devices": custom("resource.k8s.io/v1", "DeviceClass", f"{{{NVIDIAS}}}"),
    "a virtual machine": custom(
        "kubevirt.io/v1",
        "VirtualMachine",
        "{template: {spec: {domain: {devices: {gpus: [{name: a, deviceName: nvidia.com/GA102GL_A10}]}}}}}",
    ),
}
NOT_OF_STACK = {
    "no device": POD.replace("MORE", "env: [{name: NVIDIA_VISIBLE_DEVICES, value: void}]"),
    "a quota of others": custom("v1", "ResourceQuota", "{hard: {requests.cpu: '4', amd.com/gpu: '1'}}"),
    "a toleration": POD.replace("MORE", "env: []").replace("spec: {", "spec: {tolerations: [{key: nvidia.com/gpu}], "),
}
UNEQUAL = {
    "KServe": custom(
        "serving.kserve.io/v1beta1", "InferenceService", f"{{predictor: {{model: {{resources: {RESOURCES}}}}}}}"
    ),
    "NIM": custom("apps.nvidia.com/v1alpha1", "NIMService", f"{{resources: {RESOURCES}}}"),
    "Argo": custom(
        "argoproj.io/v1alpha1", "Workflow", f"{{templates: [{{name: a, container: {{resources: {RESOURCES}}}}}]}}"
    ),
    "Tekton": custom("tekton.dev/v1", "Task", f"{{steps: [{{name: a, computeResources: {RESOURCES}}}]}}"),
    "Kubeflow": custom("trainer.kubeflow.org/v1alpha1", "TrainJob", f"{{trainer: {{resourcesPerNode: {RESOURCES}}}}}"),
}


def judged(tmp_path, text):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/own.yaml").write_text(text, "utf-8")
    return check_paths(tmp_path, [tmp_path / "a"])


@pytest.mark.parametrize("what", OF_STACK)
def test_what_asks_for_gpus_or_counts_them_is_of_the_stack(tmp_path, what):
    assert judged(tmp_path, OF_STACK[what]).checked["objects"] == 1


@pytest.mark.parametrize("what", NOT_OF_STACK)
def test_what_only_speaks_of_them_is_not(tmp_path, what):
    with pytest.raises(NoInputError):
        judged(tmp_path, NOT_OF_STACK[what])


@pytest.mark.parametrize("what", UNEQUAL)
def test_requests_in_resources_of_other_operators_are_requests(tmp_path, what):
    (only,) = [item for item in judged(tmp_path, UNEQUAL[what]).diagnostics if item.code == "PSM751"]

    assert only.primary.pointer.endswith("requests/nvidia.com~1gpu")
