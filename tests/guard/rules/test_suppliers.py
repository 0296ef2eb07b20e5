"""What something needs and nothing supplies, changed or twice, in the forms that people keep it in, each beside its twin:
plain files, kustomize, values of releases, Flux with its variables, Argo CD, Terraform."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics import Severity
from poolsmith.interface.app import check_paths

SPACES = """\
apiVersion: v1
kind: Namespace
metadata: {name: gpu-operator, labels: {pod-security.kubernetes.io/enforce: privileged}}
---
apiVersion: v1
kind: Namespace
metadata: {name: team, labels: {pod-security.kubernetes.io/enforce: baseline}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: gpu-operator}
spec: {interval: 1h, url: https://charts.example.com}
"""
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: NAME, namespace: gpu-operator}
spec:
  interval: 1h
  timeout: 30m
  install: {crds: CreateReplace}
  upgrade: {crds: CreateReplace}
  chart: {spec: {chart: CHART, version: VERSION, sourceRef: {kind: HelmRepository, name: charts}}}
  values: {VALUES}
"""
OF_OPERATOR = (
    "cdi: {enabled: true}, driver: {version: 580.126.20, upgradePolicy: {autoUpgrade: true, maxUnavailable: 1}}"
)
OWN_DRIVERS = "cdi: {enabled: true}, driver: {nvidiaDriverCRD: {enabled: true, deployDefaultCR: false}, upgradePolicy: "
OWN_DRIVERS += "{autoUpgrade: true, maxUnavailable: 1}}"
HOST_DRIVER = "driver: {enabled: false}, nfd: {enabled: false}, daemonsets: {tolerations: [{key: example.com/team, "
HOST_DRIVER += "operator: Exists}]}"
IMAGE = f"registry.example.net/team/app@sha256:{'3' * 64}"
DRIVER = """\
apiVersion: nvidia.com/v1alpha1
kind: NVIDIADriver
metadata: {name: all}
spec: {driverType: gpu, repository: nvcr.io/nvidia, image: driver, version: 580.126.20, MORE}
"""
KARPENTER = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    metadata: {labels: {example.com/kind: inference}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}
      taints: [{key: nvidia.com/gpu, value: "true", effect: NoSchedule}]
      requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6]}]
"""
MONITOR = """\
apiVersion: GROUP
kind: KIND
metadata: {name: dcgm, namespace: SPACE, labels: {team: gpu}}
spec: {selector: {matchLabels: {app: nvidia-dcgm-exporter}}, FIELD: [{port: PORT}]}
"""
PROMETHEUS = """\
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: gpu-operator}
spec: {serviceMonitorSelector: {matchLabels: {team: gpus}}}
"""
DAEMONS = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: own, namespace: gpu-operator}
spec:
  selector: {matchLabels: {app: own}}
  template:
    metadata: {labels: {app: own}}
    spec:
      priorityClassName: system-node-critical
      nodeSelector: {LABEL: "true"}
      containers: [{name: main, image: nvcr.io/nvidia/OF}]
"""
GKE = """\
resource "google_container_node_pool" "gpu" {
  cluster = google_container_cluster.lab.id
  node_config {
    machine_type = "g2-standard-8"
    labels       = { "gke-no-default-nvidia-gpu-device-plugin" = "true" }
    guest_accelerator {
      type = "nvidia-l4"
      gpu_driver_installation_config { gpu_driver_version = "INSTALLATION_DISABLED" }
    }
    taint {
      key    = "example.com/team"
      value  = "ml"
      effect = "NO_EXECUTE"
    }
  }
}
"""
AKS = """\
resource "azurerm_kubernetes_cluster_node_pool" "gpu" {
  vm_size     = "Standard_NC24ads_A100_v4"
  gpu_driver  = "None"
  node_labels = { "example.com/gpu" = "a100" }
  node_taints = ["sku=gpu:NoSchedule"]
}
"""
EKS = """\
module "eks" {
  source = "terraform-aws-modules/eks/aws"
  eks_managed_node_groups = {
    gpu = {
      ami_type       = "AL2023_x86_64_STANDARD"
      instance_types = ["g6.xlarge"]
      labels         = { "team/pool" = "gpu" }
    }
  }
}
"""
SUBSCRIPTION = """\
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: gpu-operator-certified, namespace: nvidia-gpu-operator}
spec:
  channel: v26.3
  name: gpu-operator-certified
  source: certified-operators
  sourceNamespace: openshift-marketplace
  startingCSV: gpu-operator-certified.v26.3.3
  installPlanApproval: Manual
"""
SHARING = """devicePlugin: {config: {create: true, name: s, default: any, data: {any: "{version: v1, sharing: {timeSlicing:
      {renameByDefault: true, resources: [{name: nvidia.com/gpu, replicas: 4}]}}}"}}}"""
SECRET = """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: pull, namespace: gpu-operator}
spec: {secretStoreRef: {kind: ClusterSecretStore, name: vault}, target: {name: ngc-pull}}
"""
BINDING = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: pods, namespace: gpu-operator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: pods}
subjects: [{kind: ServiceAccount, name: nvidia-dcgm-exporter, namespace: gpu-operator}]
"""
TAINTED = 'taints = { own = { key = "dedicated", value = "gpu", effect = "NO_SCHEDULE" } }\n      '
LAYOUTS = "configMapGenerator: [{name: layouts, namespace: gpu-operator, files: [config.yaml]}]\n"
LAYOUTS += "generatorOptions: {disableNameSuffixHash: true}\n"


def release(values="", chart="gpu-operator", version="v26.3.3"):
    own = ", ".join(filter(None, [OF_OPERATOR if chart == "gpu-operator" and "driver:" not in values else "", values]))
    made = RELEASE.replace("NAME", chart).replace("CHART", chart).replace("VERSION", version)
    return made.replace("VALUES", own)


def serve(spec):
    return (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: serve, namespace: team}\nspec:\n"
        f"  {spec}\n  containers: [{{name: main, image: '{IMAGE}', resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]\n"
    )


def monitor(kind="ServiceMonitor", port="gpu-metrics", space="gpu-operator", group="monitoring.coreos.com/v1"):
    field = "podMetricsEndpoints" if kind.endswith(("PodMonitor", "PodScrape")) else "endpoints"
    for old, new in (("GROUP", group), ("KIND", kind), ("SPACE", space), ("FIELD", field), ("PORT", port)):
        group = (MONITOR if old == "GROUP" else group).replace(old, new)
    return group


def stack(head="", base="", **more):
    """A folder of kustomize. `head` is for its kustomization, `base` is one more of its resources."""
    texts = {"spaces.yaml": SPACES, **{f"{name}.yaml": text for name, text in more.items()}}
    listed = "".join(f"  - {name}\n" for name in (*texts, base) if name)
    head = f"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n{head}resources:\n"
    return {f"gpu/{name}": text for name, text in {**texts, "kustomization.yaml": head + listed}.items()}


EXPORTER = ("dcgm-exporter", "4.5.2")
PLUGIN = ("nvidia-device-plugin", "0.17.4")
SCRAPE = ("VMServiceScrape", "gpu-metrics", "monitoring", "operator.victoriametrics.com/v1beta1")
REMOTE = "https://github.com/NVIDIA/gpu-operator//deployments/gpu-operator/crds?ref=v26.3.3"
RAW = "https://raw.githubusercontent.com/NVIDIA/gpu-operator/v26.3.3/deployments/gpu-operator/crds/nvidia.com_x.yaml"
STATIC = (
    "https://raw.githubusercontent.com/NVIDIA/k8s-device-plugin/v0.17.4/deployments/static/nvidia-device-plugin.yml"
)
RIGHT = {
    "a map whose name gets a prefix": (
        stack(
            op=release("migManager: {config: {name: ours-layouts, default: a}}"), head=LAYOUTS + "namePrefix: ours-\n"
        )
        | {"gpu/config.yaml": "version: v1\nmig-configs: {a: [{devices: all, mig-enabled: false}]}\n"},
        ("PSM750", "gpu/op.yaml", "name: ours-layouts", "name: layouts"),
    ),
    "a pull secret that another object makes": (
        stack(op=release("toolkit: {imagePullSecrets: [ngc-pull]}"), secret=SECRET),
        ("PSM750", "gpu/op.yaml", "[ngc-pull]", "[ngc-pul]"),
    ),
    "a pull secret of a driver object": (
        stack(op=release(OWN_DRIVERS), own=DRIVER.replace("MORE", "imagePullSecrets: [ngc-pull]"), secret=SECRET),
        ("PSM750", "gpu/own.yaml", "[ngc-pull]", "[ngc-pul]"),
    ),
    "a label of a rule, for a driver object": (
        stack(op=release(OWN_DRIVERS), own=DRIVER.replace("MORE", "nodeSelector: {example.com/kind: inference}"))
        | {"nodes/pool.yaml": KARPENTER},
        ("PSM264", "gpu/own.yaml", "example.com/kind", "example.com/knd"),
    ),
    "a label of discovery, for a plugin by hand": (
        stack(
            nfd=release(chart="node-feature-discovery", version="0.18.3"),
            own=DAEMONS.replace("LABEL", "feature.node.kubernetes.io/pci-0302_10de.present").replace(
                "OF", "k8s-device-plugin:v0.17.4"
            ),
        ),
        ("PSM775", "gpu/own.yaml", "pci-0302_10de", "pci-10de"),
    ),
    "a label that is compared with a number": (
        stack(
            op=release(),
            pod=serve(
                "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
                "[{matchExpressions: [{key: nvidia.com/gpu.memory, operator: Gt, values: ['40000']}]}]}}}"
            ),
        ),
        ("PSM775", "gpu/pod.yaml", "gpu.memory", "gpu.memmory"),
    ),
    "a label of a group of Terraform": (
        stack(op=release(), pod=serve("nodeSelector: {team/pool: gpu}")) | {"infra/eks.tf": EKS},
        ("PSM775", "gpu/pod.yaml", "pool: gpu", "pool: gpus"),
    ),
    "a taint of Terraform, for the operator": (
        stack(
            op=release("daemonsets: {tolerations: [{key: example.com/team, operator: Exists}]}, nfd: {enabled: false}")
        )
        | {"infra/pool.tf": GKE},
        ("PSM758", "gpu/op.yaml", "key: example.com/team", "key: example.com/other"),
    ),
    "a taint of Terraform, for a pod": (
        stack(pod=serve("nodeSelector: {example.com/gpu: a100}\n  tolerations: [{key: sku, operator: Exists}]"))
        | {"infra/pool.tf": AKS},
        ("PSM758", "gpu/pod.yaml", "key: sku", "key: skus"),
    ),
    "a taint of Karpenter, for the exporter": (
        stack(ex=release("tolerations: [{key: nvidia.com/gpu, operator: Exists}]", *EXPORTER))
        | {"nodes/pool.yaml": KARPENTER},
        ("PSM758", "gpu/ex.yaml", "tolerations: [{key: nvidia.com/gpu, operator: Exists}]", "hostNetwork: false"),
    ),
    "a driver of GKE, by Terraform": (
        stack(op=release(HOST_DRIVER)) | {"infra/pool.tf": GKE},
        ("PSM782", "infra/pool.tf", '"INSTALLATION_DISABLED"', '"LATEST"'),
    ),
    "definitions from the repository": (
        stack(base=REMOTE, op=release()),
        ("PSM765", "gpu/kustomization.yaml", "ref=v26.3.3", "ref=v25.10.0"),
    ),
    "a file of definitions from the repository": (
        stack(base=RAW, op=release()),
        ("PSM765", "gpu/kustomization.yaml", "/v26.3.3/", "/v25.10.0/"),
    ),
    "a plugin from the repository": (
        stack(base=STATIC, op=release("devicePlugin: {enabled: false}")),
        ("PSM276", "gpu/op.yaml", "devicePlugin: {enabled: false}", "devicePlugin: {enabled: true}"),
    ),
    "an account of the operator": (
        stack(op=release(), own=BINDING),
        ("PSM773", "gpu/own.yaml", "name: nvidia-dcgm-exporter", "name: nvidia-dcgm-exporer"),
    ),
    "a taint of a module, for the operator": (
        stack(op=release("daemonsets: {tolerations: [{key: dedicated, operator: Exists}]}, nfd: {enabled: false}"))
        | {"infra/eks.tf": EKS.replace("labels         =", TAINTED + "labels =")},
        ("PSM758", "gpu/op.yaml", "key: dedicated", "key: dedicatd"),
    ),
    "a channel of OLM": ({"a.yaml": SUBSCRIPTION}, ("PSM765", "a.yaml", "channel: v26.3", "channel: v25.3")),
    "a monitor of one's own, for an object": (
        stack(op=release(), prom=PROMETHEUS, own=monitor().replace("team: gpu}", "team: gpus}")),
        ("PSM759", "gpu/own.yaml", "team: gpus", "team: gpu"),
    ),
    "a monitor of the operator, for an object": (
        stack(
            op=release("dcgmExporter: {serviceMonitor: {enabled: true, additionalLabels: {team: gpus}}}"),
            prom=PROMETHEUS,
        ),
        ("PSM759", "gpu/op.yaml", "team: gpus", "team: gpu"),
    ),
    "a scrape of VictoriaMetrics": (
        stack(op=release(), own=monitor(*SCRAPE).replace("spec: {", "spec: {namespaceSelector: {any: true}, ")),
        ("PSM780", "gpu/own.yaml", "{any: true}", "{any: false}"),
    ),
    "a name in the exporter's list": (
        stack(
            pl=release(
                'config: {map: {a: "sharing: {timeSlicing: {renameByDefault: true, resources: [{name: '
                'nvidia.com/gpu, replicas: 2}]}}"}}',
                *PLUGIN,
            ),
            ex=release("extraEnv: [{name: NVIDIA_RESOURCE_NAMES, value: nvidia.com/gpu.shared}]", *EXPORTER),
        ),
        ("PSM766", "gpu/ex.yaml", "nvidia.com/gpu.shared", "nvidia.com/gpu-shared"),
    ),
    "an exporter by hand": (
        stack(
            op=release("dcgmExporter: {enabled: false}"),
            own=DAEMONS.replace("LABEL", "nvidia.com/gpu.present").replace("OF", "k8s/dcgm-exporter:4.5.2"),
        ),
        ("PSM788", "gpu/op.yaml", "dcgmExporter: {enabled: false}", "dcgmExporter: {enabled: true}"),
    ),
}


def told(folder, files, code):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    found = check_paths(folder, sorted(folder.iterdir()), everything=True).diagnostics
    return [item.message for item in found if item.code == code and item.severity is not Severity.NOTE]


@pytest.mark.parametrize("what", RIGHT)
def test_what_is_supplied_is_left_alone_and_what_is_not_is_told(tmp_path, what):
    files, (code, path, right, wrong) = RIGHT[what]

    assert right in files[path]
    assert told(tmp_path / "right", files, code) == []
    assert len(told(tmp_path / "wrong", {**files, path: files[path].replace(right, wrong)}, code)) == 1
