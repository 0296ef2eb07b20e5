"""Random clusters whose pools run containers, Kata, confidential sandboxes and virtual machines, and share their GPUs.

Mostly with all that a pool needs in the cluster's era, so that much is generated; slips are drawn last.
"""

from __future__ import annotations

from hypothesis import strategies as st

from property.unlike_pools.fleets import RELEASES, at_least, document, often, one_in

WORKLOADS = ("container", "kata", "kata-confidential", "vm-passthrough", "vm-vgpu")
FACTS = (
    "acs",
    "iommu",
    "nouveau-off",
    "sr-iov",
    "bare-metal",
    "snp-host",
    "tdx-host",
    "kubelet-pod-resources",
    "kubelet-request-timeout",
    "kubelet-image-runtime-class",
)
"""Whoever acknowledges one that does not concern the pool says nothing wrong."""
PRODUCTS = {
    "container": ("NVIDIA-A100-SXM4-80GB", "NVIDIA-L40S", "NVIDIA-A10"),
    "kata": ("NVIDIA-A10", "NVIDIA-L40S", "H100 PCIe 80GB"),
    "kata-confidential": ("H100 PCIe 80GB", "H200 SXM 141GB"),
    "vm-passthrough": ("NVIDIA-A10", "NVIDIA-L40S"),
    "vm-vgpu": ("NVIDIA-A40", "NVIDIA-A10", "NVIDIA-L40S"),
}
KUBERNETES = {"24.6": "1.29", "24.9": "1.29", "25.3": "1.32", "25.10": "1.34", "26.3": "1.34", "26.7": "1.35"}
SLIPS = (
    ("workload", "kata"),
    ("workload", "vm-vgpu"),
    ("workload", "container"),
    ("acknowledge", []),
    ("arch", "arm64"),
    ("runtime", {"name": "cri-o"}),
    ("sharing", {"timeSlicing": {"replicas": 4}}),
    ("sharing", {"mps": {"replicas": 4}}),
    ("sandbox", {"tee": "tdx"}),
    ("sandbox", {"tee": "snp", "ccMode": "ppcie"}),
    ("sandbox", {"gpusPerPod": 2}),
    ("driver", {"source": "container"}),
)


@st.composite
def projects(draw, releases=RELEASES):
    """Profiles by path, as data: one cluster of one to three pools."""
    release = draw(st.sampled_from(releases))
    kinds = draw(
        often(
            ("container", "kata"),
            ("container", "vm-passthrough"),
            ("container", "vm-vgpu"),
            ("vm-passthrough", "vm-vgpu"),
            ("container", "kata", "kata-confidential"),
            ("kata-confidential",),
            ("kata",),
            ("container", "container"),
            tuple(draw(st.lists(st.sampled_from(WORKLOADS), min_size=1, max_size=3))),
        )
    )
    mode = draw(often("cluster-policy", "nvidia-driver"))
    pools = {f"pool-{number}": draw(_pools(kind, release, mode)) for number, kind in enumerate(kinds)}
    for field, value in draw(st.lists(st.sampled_from(SLIPS), max_size=draw(st.sampled_from((0, 0, 0, 1))))):
        pools[draw(st.sampled_from(sorted(pools)))][field] = value
    stack = {"release": release, "driverMode": mode} if "container" in kinds else {"release": release}
    cluster = {
        "kubernetes": {
            "version": KUBERNETES[_line(release)],
            "distribution": draw(often("kubeadm", "kubeadm", "rke2", "k3s")),
        },
        "stack": stack,
        "poolLabel": "example.com/gpu-pool",
        "delivery": {
            "engine": draw(st.sampled_from(("argocd", "flux"))),
            "repoURL": "https://git.example.com/gpu.git",
        },
    }
    files = {"profiles/one/cluster.yaml": document("Cluster", "one", cluster)}
    return files | {f"profiles/one/{name}.yaml": document("NodePool", name, spec) for name, spec in pools.items()}


def _line(release):
    return release[1:].rpartition(".")[0]


@st.composite
def _pools(draw, kind, release, mode):
    spec = {
        "os": {"id": "ubuntu", "version": "22.04"},
        "kernel": {"release": "5.15.0-105-generic"},
        "runtime": {"name": "containerd", "version": "2.1" if at_least(release, "25.10") else "1.7.24"},
        "gpu": {"product": draw(st.sampled_from(PRODUCTS[kind])), "count": draw(st.sampled_from((1, 4)))},
    }
    if kind == "container":
        spec["driver"] = {"source": "container", "version": "550.163.01"}
        return spec | draw(_sharing(spec["gpu"]))
    spec |= {"workload": kind, "acknowledge": [{"fact": fact} for fact in FACTS]}
    if kind == "vm-vgpu":
        spec["driver"] = {"vgpuManager": {"repository": "registry.example.com/vgpu", "version": "580.82.07"}}
    if kind == "kata-confidential":
        tee = draw(often("snp", "tdx")) if at_least(release, "26.3") else "snp"
        spec["sandbox"] = {"tee": tee}
        if draw(one_in(3)):
            spec["sandbox"]["ccMode"] = draw(st.sampled_from(("on", "off", "devtools", "ppcie")))
    if kind == "vm-passthrough" and draw(one_in(2)):
        spec["gpu"]["passthroughResource"] = "nvidia.com/OWN_NAME"
    if kind.startswith("kata") and at_least(release, "25.10"):
        spec["runtime"]["version"] = "2.2.2"
        if mode == "nvidia-driver":
            spec["os"] = {"id": "ubuntu", "version": draw(often("25.10", "22.04"))}
            del spec["kernel"]
    return spec


@st.composite
def _sharing(draw, gpu):
    how = draw(often(None, "timeSlicing", "mps", "mig"))
    if how == "mig" and "A100" in gpu["product"]:
        return {"gpu": {**gpu, "mig": {"layout": draw(often("all-1g.10gb", "all-balanced"))}}}
    return {"sharing": {how: {"replicas": 4}}} if how in ("timeSlicing", "mps") else {}
