"""Hostile profiles of pools: power that fields of our own give."""

from __future__ import annotations

from pull_requests.fleet import Change, document_edit


def pool_changes():
    for cluster, pool, field, value, gain in FIELDS:
        path = f"profiles/{cluster}/{pool}.yaml"
        yield Change(
            f"{cluster}/{pool}: {field} {str(value)[:60]}",
            document_edit(path, {field: value}),
            gain,
            rf"(profiles|clusters)/({cluster}|_bases)/?",
            cluster,
            kind="pool",
        )
    yield Change(
        "a base for all",
        document_edit("profiles/_bases/driver-rollout.yaml", {"driver.repository": "registry.evil.example/x"}),
        "evil",
        "profiles|output",
        kind="pool",
    )
    yield Change(
        "a base: socket",
        document_edit("profiles/_bases/containerd-2.yaml", {"runtime.socket": "/etc/kubernetes/x.sock"}),
        "/etc/kubernetes",
        "profiles|output",
        kind="pool",
    )


EVIL = "registry.evil.example/x"
_SELECTOR = "app=x\nhostPID: true"
FIELDS = (
    ("lab-t4", "t4", "driver.repository", EVIL, "evil"),
    ("prod-eu", "l40s-shared", "driver.repository", EVIL, "evil"),
    ("prod-eu", "l40s-shared", "driver.repository", "nvcr.io/evil", "evil"),
    ("prod-eu", "l40s-shared", "driver.repository", "nvcr.io.evil.example/nvidia", "evil"),
    ("prod-rke2", "l40s-guests", "driver.repository", "registry.example.com/vgpu2", "vgpu2"),
    ("prod-rke2", "l40s-guests", "driver.vgpu.licensingSecret", "cluster-admin-token", "cluster-admin-token"),
    ("edge", "l4", "runtime.socket", "/etc/kubernetes/x.sock", "/etc/kubernetes"),
    ("edge", "l4", "runtime.config", "/etc/kubernetes/config.toml", "/etc/kubernetes"),
    ("lab-t4", "t4", "runtime.config", "/etc/kubernetes/daemon.json", "/etc/kubernetes"),
    ("prod-eu", "l40s-crio", "runtime.config", "/etc/kubernetes/crio.conf", "/etc/kubernetes"),
    ("prod-eu", "l40s-crio", "runtime.dropIn", "/etc/kubernetes/99.conf", "/etc/kubernetes"),
    ("edge-talos", "l4", "driver.installDir", "/etc/kubernetes", "/etc/kubernetes"),
    ("kata-a10", "kata", "sandbox.artifacts", f"{EVIL}:1", "evil"),
    ("kata-a10", "kata", "workload", "vm-passthrough", "vm-passthrough|sandbox|vfio|kata"),
    ("prod-eu", "l40s-shared", "driver.gdrcopy", True, "gdrcopy"),
    ("prod-eu", "l40s-shared", "driver.rdma", True, "rdma|peermem"),
    ("prod-eu", "l40s-shared", "nodes.labelValue", "control-plane", "control-plane|labelValue|label"),
    ("prod-eu", "a100-precompiled", "nodes.names", ["control-plane-1"], "control-plane-1"),
    ("prod-eu", "a100-precompiled", "nodes.names", ["gpu-a[001-016]", "control-plane-[1-3]"], "control-plane"),
    ("prod-eu", "l40s-shared", "nodes.names", ["control-plane-1"], "control-plane-1|NodeFeatureRule"),
    (
        "prod-eu",
        "l40s-shared",
        "nodes.taints",
        [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}],
        "control-plane",
    ),
    (
        "prod-eu",
        "l40s-shared",
        "nodes.startupTaints",
        [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}],
        "unschedulable",
    ),
    ("lab-t4", "t4", "nodes.taints", [{"key": "node-role.kubernetes.io/master", "effect": "NoSchedule"}], "master"),
    ("lab-t4", "t4", "driver.repoConfig", {"name": "elsewhere", "files": ["x.list"]}, "elsewhere"),
    ("lab-t4", "t4", "driver.kernelModuleConfig", {"name": "elsewhere", "files": ["nvidia.conf"]}, "elsewhere"),
    ("lab-t4", "t4", "kernel.args", ["init=/bin/sh"], "init=/bin/sh"),
    ("edge", "l4", "kernel.args", ["selinux=0"], "selinux=0"),
    ("sealed", "confidential", "kernel.args", ["amd_iommu=off"], "iommu"),
    ("prod-eu", "l40s-shared", "sharing.mps", {"replicas": 4}, "mps"),
)
