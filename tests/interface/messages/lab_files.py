"""The small project whose files the mistakes are made in: two pools on one base, a cluster, policies of every kind."""

from __future__ import annotations

CLUSTER, A100, L4, BASE = (
    "profiles/lab/cluster.yaml",
    "profiles/lab/a100.yaml",
    "profiles/lab/l4.yaml",
    "profiles/_bases/jammy.yaml",
)
GRANT, WAIVERS, RULES, SUPPLY = (
    "policies/privileges/lab.yaml",
    "policies/waivers.yaml",
    "policies/rules.yaml",
    "policies/supply.yaml",
)

FILES = {
    CLUSTER: """\
apiVersion: poolsmith/v1
kind: Cluster
metadata:
  name: lab
spec:
  kubernetes:
    version: "1.33"
    distribution: kubeadm
  stack:
    kind: operator
    release: v26.3.3
    driverMode: nvidia-driver
    values:
      dcgmExporter:
        serviceMonitor:
          enabled: true
  delivery:
    engine: flux
    repoURL: https://git.example.com/gpu.git
    revision: refs/heads/main
""",
    BASE: """\
apiVersion: poolsmith/v1
kind: NodePoolBase
metadata:
  name: jammy
spec:
  os:
    id: ubuntu
    version: "22.04"
  runtime:
    name: containerd
    version: "1.7"
""",
    A100: """\
apiVersion: poolsmith/v1
kind: NodePool
metadata:
  name: a100
spec:
  extends: [jammy]
  nodes:
    count: 4
    taints:
      - {key: nvidia.com/gpu, effect: NoSchedule}
  kernel:
    release: 5.15.0-105-generic
  gpu:
    product: NVIDIA-A100-SXM4-80GB
    count: 8
    mig:
      layout: all-1g.10gb
  driver:
    source: precompiled
    version: "535"
""",
    L4: """\
apiVersion: poolsmith/v1
kind: NodePool
metadata:
  name: l4
spec:
  os:
    id: ubuntu
    version: "24.04"
  runtime:
    name: containerd
  gpu:
    product: NVIDIA-L4
    count: 2
  sharing:
    timeSlicing:
      replicas: 4
  driver:
    source: container
    version: 580.126.20
    upgradePolicy: {}
""",
    GRANT: """\
apiVersion: poolsmith/v1
kind: PrivilegeGrant
metadata:
  name: exporter
spec:
  clusters: [lab]
  pools: ["*"]
  workload: nvidia-dcgm-exporter
  containers: [nvidia-dcgm-exporter]
  images: [nvcr.io/nvidia/k8s/dcgm-exporter]
  privileges: [privileged]
  reason: reads the counters of the GPUs
  owner: gpu-platform
  expires: 2027-06-30
""",
    WAIVERS: """\
apiVersion: poolsmith/v1
kind: WaiverList
metadata:
  name: waivers
spec:
  waivers:
    - rule: support-ended
      subject: lab/a100
      reason: the nodes are replaced in spring
      owner: gpu-platform
      expires: 2027-06-30
""",
    RULES: """\
apiVersion: poolsmith/v1
kind: RuleSettings
metadata:
  name: rules
spec:
  rules:
    unused-base: {severity: error}
""",
}
