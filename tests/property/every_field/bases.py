"""Small projects for each way to run GPUs, and for each kind of policy."""

from __future__ import annotations

from dataclasses import dataclass

CLUSTER, POOL = "profiles/prod/cluster.yaml", "profiles/prod/a.yaml"
PLACES = {
    "Cluster": CLUSTER,
    "NodePool": POOL,
    "DriverImageList": "profiles/_driver-images.yaml",
    "RingOrder": "profiles/_rings.yaml",
    "PrivilegeGrant": "policies/privileges/driver.yaml",
    "PrivilegeEnforcement": "policies/enforcement.yaml",
    "SupplyPolicy": "policies/supply.yaml",
    "WaiverList": "policies/waivers.yaml",
    "RuleSettings": "policies/rules.yaml",
}
"""Where a project has its document of a kind."""


def document(kind, name, spec):
    return {"apiVersion": "poolsmith/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


@dataclass(frozen=True)
class Base:
    """A project whose cluster and pool have no errors, and the fields that are best seen in it: the beginnings of
    `Kind.field`."""

    name: str
    cluster: dict
    pool: dict
    best_for: tuple[str, ...] = ()
    others: dict | None = None

    @property
    def specs(self):
        """The spec of each kind."""
        return {"Cluster": self.cluster, "NodePool": self.pool} | (self.others or {})

    def files(self, kind="", spec=None):
        """Documents by path, one spec in the place of its own."""
        specs = self.specs | ({kind: spec} if kind else {})
        names = {"Cluster": "prod", "NodePool": "a"}
        made = {PLACES[kind]: document(kind, names.get(kind, "x"), spec) for kind, spec in specs.items()}
        return made | {
            "profiles/_bases/other.yaml": document(
                "NodePoolBase", "other", {"secureBoot": False, "nodes": {"labelValue": "of-base"}}
            )
        }


def _cluster(stack, engine="argocd", kubernetes="1.33", **delivery):
    return {
        "kubernetes": {"version": kubernetes, "distribution": "kubeadm"},
        "stack": stack,
        "delivery": {"engine": engine, "repoURL": "https://git.example.com/gpu.git", **delivery},
    }


def _pool(product="NVIDIA-L40S", **other):
    return {
        "os": {"id": "ubuntu", "version": "22.04"},
        "kernel": {"release": "5.15.0-105-generic"},
        "runtime": {"name": "containerd", "version": "2.1"},
        "gpu": {"product": product, "count": 4},
        **other,
    }


_DRIVER = {"source": "container", "version": "580.126.20"}
_HOSTS = {"release": "5.15.0-105-generic", "args": ["amd_iommu=on", "modprobe.blacklist=nouveau"]}
_OPERATOR = {"release": "v26.3.3"}
_OBJECTS = _OPERATOR | {"driverMode": "nvidia-driver"}
_BY_HAND = {"kind": "device-plugin", "release": "v0.17.1", "dcgmExporter": {"release": "4.1.1-4.0.4"}}
_A100 = "NVIDIA-A100-SXM4-80GB"
_SLICES = [{"devices": [0]}, {"devices": [2, 3], "migDevices": {"1g.10gb": 2, "2g.20gb": 1}}]
_MIG = {"product": _A100, "count": 4, "mig": {"layout": "own", "devices": _SLICES}}
_SLICE = {"resource": "nvidia.com/mig-1g.10gb", "replicas": 4}
_VGPU = {"layout": "own", "devices": [{"devices": [0, 1], "vgpuDevices": {"A40-12Q": 4}}]}
_SIGNER = {"issuer": "^https://git.example.com$", "subject": "^https://git.example.com/gpu/release$"}
_IMAGE = "registry.example.com/nvcr/nvidia/driver"
_MIRRORED = {"registry": {"mirrors": {"nvcr.io": "registry.example.com/nvcr"}}}
_BECAUSE = {"reason": "It is known.", "owner": "gpu", "expires": "2027-06-30"}
_WAIVER = {"rule": "reads-secrets", "subject": "prod", **_BECAUSE}
_GRANT = {
    "clusters": ["prod"],
    "pools": ["a"],
    "workload": "nvidia-driver-daemonset",
    "containers": ["nvidia-driver-ctr"],
    "images": [_IMAGE],
    "privileges": ["privileged"],
    "reason": "Loads the kernel modules.",
    "owner": "gpu",
    "expires": "2027-06-30",
}
_SUPPLY = {
    "chartRepositories": ["https://helm.ngc.nvidia.com/nvidia"],
    "charts": [{"name": "gpu-operator"}],
    "gitRepositories": [
        {"url": "https://git.example.com/gpu.git", "revisions": ["refs/heads/main"], "paths": ["output"]}
    ],
    "deliveries": [{"clusters": ["*"]}],
    "imageRegistries": ["nvcr.io/nvidia", "registry.k8s.io/nfd"],
    "mirrors": {"nvcr.io": ["registry.example.com/nvcr"]},
    "acceptUnknown": [{"cluster": "prod", "unknown": "what a script does", **_BECAUSE}],
    "acceptSettings": [{"cluster": "prod", "workload": "DaemonSet/x", "setting": "a setting", **_BECAUSE}],
}

BASES = (
    Base(
        "driver objects",
        _cluster(_OBJECTS, after=[{"kind": "Application", "name": "network-operator"}], destination={"name": "prod"}),
        _pool(_A100, driver=_DRIVER),
    ),
    Base(
        "one policy",
        _cluster(
            _OPERATOR,
            "flux",
            revision="refs/tags/v1",
            after=[{"kind": "Kustomization", "name": "network"}],
            verify={"secret": "keys"},
        ),
        _pool(_A100, driver=_DRIVER | {"rdma": True, "kernelModuleType": "open"}, nic="mellanox"),
        (
            "Cluster.delivery.verify",
            "Cluster.delivery.after",
            "NodePool.driver.rdma",
            "NodePool.driver.useHostMofed",
            "NodePool.driver.gds",
        ),
    ),
    Base(
        "a source that is there",
        _cluster(_OPERATOR, "flux", sourceRef={"name": "flux-system"}),
        _pool(driver=_DRIVER),
        ("Cluster.delivery.sourceRef",),
    ),
    Base(
        "an artefact signed with a key",
        _cluster(
            _OPERATOR,
            "flux",
            repoURL="oci://registry.example.com/gpu",
            revision="refs/tags/v1",
            verify={"secret": "keys"},
        ),
        _pool(driver=_DRIVER),
        ("Cluster.delivery.verify.provider",),
    ),
    Base(
        "signed artefact",
        _cluster(
            _OPERATOR,
            "flux",
            repoURL="oci://registry.example.com/gpu",
            revision="refs/tags/v1",
            verify={"provider": "cosign", "identities": [_SIGNER]},
        ),
        _pool(driver=_DRIVER),
        ("Cluster.delivery.verify.identities",),
    ),
    Base(
        "shared GPUs",
        _cluster(_OPERATOR),
        _pool(driver=_DRIVER, sharing={"timeSlicing": {"replicas": 4}}),
        ("NodePool.sharing.timeSlicing", "Cluster.delivery.engine", "Cluster.delivery.destination.server"),
    ),
    Base(
        "shared slices",
        _cluster(_OPERATOR),
        _pool(driver=_DRIVER, gpu=_MIG, sharing={"timeSlicing": _SLICE}),
        ("NodePool.sharing.timeSlicing.resource", "NodePool.gpu.mig"),
    ),
    Base(
        "slices of several sizes",
        _cluster(_OPERATOR),
        _pool(driver=_DRIVER, gpu=_MIG, sharing={"timeSlicing": {"resources": [_SLICE]}}),
        ("NodePool.sharing.timeSlicing.resources",),
    ),
    Base(
        "made by Cluster API",
        _cluster(_OPERATOR),
        _pool("Tesla T4", driver=_DRIVER, nodes={"provisionedBy": {"tool": "cluster-api", "name": "gpu"}}),
        ("NodePool.nodes.provisionedBy", "NodePool.nodes.autoscaled"),
    ),
    Base(
        "by hand",
        _cluster(_BY_HAND),
        _pool(driver={"source": "preinstalled", "version": "570.172.08"}, toolkit={"source": "preinstalled"}),
        ("Cluster.stack.dcgmExporter", "Cluster.stack.gpuFeatureDiscovery"),
    ),
    Base(
        "claims",
        _cluster({"kind": "gpu-cluster", "release": "v26.7.0"}, kubernetes="1.35.1"),
        _pool("GB200", arch="arm64", driver=_DRIVER),
        ("Cluster.stack.draDriver", "Cluster.stack.kind", "NodePool.gpu.multiNodeNvlink"),
    ),
    Base(
        "sandboxes",
        _cluster(_OPERATOR),
        _pool(workload="kata", kernel=_HOSTS),
        ("NodePool.sandbox", "NodePool.workload"),
    ),
    Base(
        "sandboxes of an older release",
        _cluster({"release": "v24.9.2"}, kubernetes="1.27.3"),
        _pool("NVIDIA-A10", workload="kata", kernel=_HOSTS),
        ("NodePool.sandbox.runtimeClass", "NodePool.sandbox.artifacts", "Cluster.stack.release"),
    ),
    Base(
        "confidential sandboxes",
        _cluster(_OPERATOR),
        _pool("H200 SXM 141GB", workload="kata-confidential", sandbox={"tee": "snp"}, kernel=_HOSTS),
        ("NodePool.sandbox.tee", "NodePool.sandbox.ccMode"),
    ),
    Base(
        "GPUs of virtual machines",
        _cluster(_OPERATOR),
        _pool(workload="vm-passthrough", kernel=_HOSTS),
        ("NodePool.gpu.passthroughResource",),
    ),
    Base(
        "GPUs that the catalog does not know",
        _cluster(_OPERATOR),
        _pool("ACME-1", workload="vm-passthrough", kernel=_HOSTS)
        | {
            "gpu": {
                "product": "ACME-1",
                "count": 1,
                "architecture": "hopper",
                "pciDeviceId": "2236",
                "passthroughResource": "nvidia.com/ACME",
            }
        },
        ("NodePool.gpu.architecture", "NodePool.gpu.pciDeviceId"),
    ),
    Base(
        "a system that the catalog does not know",
        _cluster(_OPERATOR),
        _pool(driver=_DRIVER, os={"id": "acme", "version": "1", "imageTag": "acme1"}),
        ("NodePool.os.imageTag",),
    ),
    Base(
        "hosts of vGPUs",
        _cluster(_OPERATOR),
        _pool(
            workload="vm-vgpu",
            kernel=_HOSTS,
            gpu={"product": "NVIDIA-A40", "count": 4, "vgpu": _VGPU},
            driver={"vgpuManager": {"repository": "registry.example.com/vgpu", "version": "580.82.07"}},
        ),
        ("NodePool.gpu.vgpu", "NodePool.driver.vgpuManager"),
    ),
    Base(
        "guests with a vGPU",
        _cluster(_OBJECTS),
        _pool(
            driver={
                "source": "container",
                "repository": "registry.example.com/vgpu",
                "version": "580.95.05-grid",
                "vgpu": {"licensingSecret": "licence"},
            }
        ),
        ("NodePool.driver.vgpu.licensingSecret",),
    ),
    Base(
        "guests of an older release",
        _cluster({"release": "v24.9.2"}, kubernetes="1.30"),
        _pool(
            driver={
                "source": "container",
                "repository": "registry.example.com/vgpu",
                "version": "550.90.07-grid",
                "vgpu": {"licensingConfigMap": "licence"},
            }
        ),
        ("NodePool.driver.vgpu.licensingConfigMap",),
    ),
    Base(
        "a driver of the system",
        _cluster(_OPERATOR),
        _pool(driver={"source": "preinstalled"}, toolkit={"source": "preinstalled"}),
        ("NodePool.driver.source", "NodePool.driver.installDir", "NodePool.os", "NodePool.toolkit.version"),
    ),
    Base(
        "rings",
        _cluster(_OPERATOR) | {"ring": "lab"},
        _pool(driver=_DRIVER),
        ("Cluster.ring", "RingOrder"),
        {"RingOrder": {"order": ["lab", "stable"], "revisions": {"lab": "refs/heads/lab"}}},
    ),
    Base(
        "grants",
        _cluster(_OPERATOR) | _MIRRORED,
        _pool(driver=_DRIVER),
        ("Cluster.stack.upgradingFrom", "PrivilegeGrant", "PrivilegeEnforcement"),
        {"PrivilegeGrant": _GRANT, "PrivilegeEnforcement": {"clusters": ["prod"], "actions": ["Deny"]}},
    ),
    Base(
        "policies",
        _cluster(_OPERATOR) | _MIRRORED,
        _pool(driver=_DRIVER),
        ("SupplyPolicy", "WaiverList", "RuleSettings", "DriverImageList"),
        {
            "SupplyPolicy": _SUPPLY,
            "WaiverList": {"waivers": [_WAIVER]},
            "RuleSettings": {"rules": {"privileged-child-pod": {"severity": "warning"}}},
            "DriverImageList": {"images": [{"repository": _IMAGE, "tags": ["580.126.20-ubuntu22.04"]}]},
        },
    ),
    Base(
        "a rule that is off",
        _cluster(_OPERATOR),
        _pool(driver=_DRIVER),
        ("RuleSettings.rules{}.enabled", "RuleSettings.rules{}.reason"),
        {"RuleSettings": {"rules": {"privileged-child-pod": {"enabled": False, "reason": "They are known."}}}},
    ),
)
"""The first one is the commonest."""
