"""Random projects: clusters whose pools are as unlike as they come, mostly plausible, with slips that people make.

A project is `{"releases": ..., "files": {path: data}}`-like plain data; slips are drawn last, so that an example shrinks to
the plain cluster and the one slip that matters.
"""

from __future__ import annotations

from hypothesis import strategies as st

RELEASES = ("v24.6.1", "v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0")
POOL_LABEL = "example.com/gpu-pool"
KERNELS = {
    "ubuntu": ("5.15.0-105-generic", "6.8.0-60-generic"),
    "rhel": ("5.14.0-570.el9_6.{}", "4.18.0-553.el8_10.{}"),
    "rocky": ("5.14.0-570.el9_6.{}",),
    "ol": ("5.15.0-300.el9uek.{}",),
    "sles": ("6.4.0-150600.21-default",),
}
OF_DRIVER_CONTAINERS = (
    ("ubuntu", "22.04"),
    ("ubuntu", "24.04"),
    ("ubuntu", "22.04"),
    ("rhel", "9.4"),
    ("rhel", "9.6"),
    ("rhel", "8.10"),
    ("rhel", "10.0"),
    ("rocky", "9.7"),
    ("ol", "9.4"),
    ("sles", "15.6"),
    ("ubuntu", "26.04"),
)
OTHER_SYSTEMS = (
    ("talos", "v1.13.2"),
    ("bottlerocket", "1.50.0"),
    ("cos", "121"),
    ("amzn", "2023"),
    ("flatcar", "4230.2.1"),
    ("debian", "12"),
)
GPUS = {
    "NVIDIA-A100-SXM4-80GB": "ampere",
    "NVIDIA-L4": "ada",
    "NVIDIA-L40S": "ada",
    "NVIDIA-H100-80GB-HBM3": "hopper",
    "T4": "turing",
    "V100": "volta",
    "P40": "pascal",
    "B200": "blackwell",
    "A10": "ampere",
    "GH200 96GB (120/480GB)": "grace_hopper",
}
OPEN_ONLY = ("blackwell", "grace_hopper")
PROPRIETARY_ONLY = ("pascal", "volta")
RUNTIMES = {"containerd": ("2.1", "1.7.24", None), "docker": ("28.1", None), "cri-o": ("1.33.1", None)}
TAINTS = (
    {"key": "nvidia.com/gpu", "effect": "NoSchedule"},
    {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
    {"key": "nvidia.com/gpu", "effect": "NoExecute"},
    {"key": "example.com/team", "value": "vision", "effect": "NoSchedule"},
    {"key": "example.com/team", "value": "speech", "effect": "NoExecute"},
    {"key": "example.com/spot", "effect": "PreferNoSchedule"},
    {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},
    {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"},
)
STARTUP_TAINTS = (
    {"key": "readiness.k8s.io/nvidia-gpu-not-ready", "effect": "NoSchedule"},
    {"key": "startup-taint.cluster-autoscaler.kubernetes.io/gpu", "value": "true", "effect": "NoExecute"},
)
FULL_VERSIONS = ("535.288.01", "550.163.01", "570.211.01", "580.126.20", "595.91.07")
BRANCHES = ("535", "550", "570", "580", "595")
TAGS = ("580.126.20-ubuntu22.04", "580.126.20-ubuntu24.04", "595.91.07-rhel9", "580-6.8.0-60-generic-ubuntu24.04")
HOST_FACTS = [{"fact": "iommu"}, {"fact": "acs"}, {"fact": "nouveau-off"}]


def at_least(release, line):
    """Whether a release tag is of this line or a later one: "25.10" follows "25.3"."""
    return [int(part) for part in release[1:].split(".")[:2]] >= [int(part) for part in line.split(".")]


def kernels(system, arch):
    machine = "aarch64" if arch == "arm64" else "x86_64"
    return [release.format(machine) for release in KERNELS.get(system, ("6.12.45-talos",))]


def one_in(number):
    return st.integers(0, number - 1).map(lambda drawn: drawn == number - 1)


def often(usual, *others):
    """The usual value about half of the time, and first when an example shrinks."""
    return st.sampled_from((*([usual] * max(1, len(others))), *others))


@st.composite
def projects(draw, releases=RELEASES):
    """Profiles by path, as data; one cluster, sometimes two."""
    names = draw(often(("one",), ("one", "two")))
    files = {}
    for name in names:
        files |= draw(clusters(name, releases))
    if draw(one_in(6)):
        listed = [{"repository": "nvcr.io/nvidia/driver", "tags": draw(st.lists(st.sampled_from(TAGS), unique=True))}]
        images = document("DriverImageList", "seen", {"images": listed})
        files["profiles/_driver-images.yaml"] = images
    return files


@st.composite
def clusters(draw, name, releases=RELEASES):
    release = draw(st.sampled_from(releases))
    world = {
        "release": release,
        "distribution": draw(often("kubeadm", "rke2", "k3s", "microk8s", "k0s", "eks", "gke", "aks", "talos")),
        "mixed": draw(
            often(None, ("containerd", "cri-o"), ("containerd", "cri-o"), ("containerd", "docker"), ("cri-o", "docker"))
        ),
        "runtime": draw(often("containerd", "cri-o", "docker")),
        "sandbox": draw(often(None, None, None, "vm-passthrough", "kata")),
        "own_toolkit": draw(one_in(5)),
        "systems": draw(often(OF_DRIVER_CONTAINERS, (*OF_DRIVER_CONTAINERS[:4], draw(st.sampled_from(OTHER_SYSTEMS))))),
    }
    if world["distribution"] != "kubeadm":
        world |= {"mixed": None, "runtime": "containerd"}
    if world["sandbox"] == "kata" and (at_least(release, "25.10") or not at_least(release, "24.9")):
        world["sandbox"] = None
    if world["sandbox"] == "kata":
        world["runtime"] = "containerd"
    count = draw(st.sampled_from((1, 2, 2, 3, 3, 4, 5, 6, 8, 12)))
    pools = {f"pool-{number}": draw(pool_specs(world, number)) for number in range(count)}
    mode = draw(st.sampled_from(("nvidia-driver", "nvidia-driver", "cluster-policy")))
    if not any(spec.get("driver", {}).get("source") in ("container", "precompiled") for spec in pools.values()):
        mode = "cluster-policy"
    if mode == "cluster-policy" and draw(st.sampled_from((True, True, False))):
        _agree(pools)
    cluster = draw(cluster_specs(world, mode))
    if draw(one_in(6)):
        _share_base(name, pools)
    for slip in draw(st.lists(st.sampled_from(SLIPS), max_size=draw(st.sampled_from((0, 0, 0, 0, 1, 2))))):
        target = draw(st.sampled_from(sorted(pools)))
        slip(cluster, pools, target)
    files = {f"profiles/{name}/cluster.yaml": document("Cluster", name, cluster)}
    for pool, spec in pools.items():
        base = spec.pop("base", None)
        if base is not None:
            files[f"profiles/_bases/{name}-base.yaml"] = document("NodePoolBase", f"{name}-base", base)
        files[f"profiles/{name}/{pool}.yaml"] = document("NodePool", spec.pop("name", pool), spec)
    return files


def document(kind, name, spec):
    return {"apiVersion": "poolsmith/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


@st.composite
def cluster_specs(draw, world, mode):
    engine = draw(st.sampled_from(("argocd", "flux")))
    spec = {
        "kubernetes": {
            "version": draw(st.sampled_from(("1.33", "1.34", "1.31"))),
            "distribution": world["distribution"],
        },
        "stack": {"release": world["release"]},
        "poolLabel": POOL_LABEL,
        "delivery": {"engine": engine, "repoURL": "https://git.example.com/gpu.git"},
    }
    if mode == "nvidia-driver":
        spec["stack"]["driverMode"] = mode
    if draw(one_in(8)):
        spec["stack"]["upgradingFrom"] = draw(st.sampled_from(RELEASES))
    if draw(one_in(4)):
        spec["nfd"] = {"provider": "external"}
    if draw(one_in(5)):
        spec["registry"] = {"mirrors": {"nvcr.io": "registry.example.com/nvcr"}, "pullSecrets": ["ngc"]}
    if world["mixed"] and draw(st.sampled_from((True, True, True, False))):
        spec["acknowledge"] = [{"fact": "mixed-runtimes", "by": "platform-team", "date": "2026-11-20"}]
    return spec


@st.composite
def pool_specs(draw, world, number):
    kind = draw(often("container", world["sandbox"])) if world["sandbox"] else "container"
    product = draw(st.sampled_from(sorted(GPUS)))
    arch = "arm64" if GPUS[product] == "grace_hopper" else draw(often("amd64", "arm64"))
    system, version = draw(st.sampled_from(world["systems"]))
    spec = {
        "os": {"id": system, "version": version},
        "arch": arch,
        "runtime": draw(runtimes(world)),
        "gpu": {"product": product, "count": draw(st.sampled_from((1, 4, 8)))},
    }
    if draw(st.sampled_from((True, True, False))):
        spec["kernel"] = {"release": draw(st.sampled_from(kernels(system, arch)))}
    spec["nodes"] = draw(nodes(number))
    if kind == "container":
        spec["driver"] = draw(drivers(world, spec, GPUS[product]))
        spec |= draw(sharing(product))
        if world["own_toolkit"]:
            spec["toolkit"] = {"source": "preinstalled"}
    else:
        spec |= {"workload": kind, "acknowledge": list(HOST_FACTS)}
        spec["gpu"]["passthroughResource"] = "nvidia.com/OWN_NAME"
    if draw(one_in(8)):
        spec["secureBoot"] = True
    if spec["driver"].get("rdma") if "driver" in spec else draw(one_in(6)):
        spec["nic"] = "mellanox"
    return {key: value for key, value in spec.items() if value not in ({}, None)}


@st.composite
def runtimes(draw, world):
    name = draw(st.sampled_from(world["mixed"])) if world["mixed"] else world["runtime"]
    runtime = {"name": name}
    if (version := draw(st.sampled_from(RUNTIMES[name]))) is not None:
        runtime["version"] = version
    if (
        world["distribution"] in ("talos", "rke2", "k0s")
        and draw(st.sampled_from((True, True, False)))
        and name == "containerd"
    ):
        runtime |= {"config": "/var/own/containerd/config.toml", "socket": "/run/own/containerd.sock"}
    return runtime


@st.composite
def nodes(draw, number):
    found = {}
    if draw(one_in(3)):
        found["taints"] = draw(
            st.lists(
                st.sampled_from(TAINTS), min_size=1, max_size=3, unique_by=lambda taint: (taint["key"], taint["effect"])
            )
        )
    if draw(one_in(6)):
        found |= {"autoscaled": True, "startupTaints": [draw(st.sampled_from(STARTUP_TAINTS))]}
    elif draw(one_in(6)):
        found["names"] = [f"gpu-{number}-[01-04]"]
    if draw(one_in(6)):
        found["labelValue"] = f"Value_{number}"
    return found


@st.composite
def drivers(draw, world, spec, architecture):
    system, release = spec["os"]["id"], world["release"]
    if (system, spec["os"]["version"]) in OTHER_SYSTEMS:
        own = {"source": "preinstalled"}
        return draw(often({}, own)) if system in ("bottlerocket", "cos", "talos") else own
    precompiled = system in ("ubuntu", "rhel") and (spec["arch"] == "amd64" or at_least(release, "26.7"))
    allowed = (
        ("container", "container", "precompiled", "preinstalled") if precompiled else ("container", "preinstalled")
    )
    source = draw(st.sampled_from(allowed))
    driver = {"source": source}
    last = "580" if architecture in PROPRIETARY_ONLY else "999"
    first = "570" if architecture in OPEN_ONLY else "535"
    if source == "precompiled":
        driver["version"] = draw(st.sampled_from([item for item in BRANCHES if first <= item <= last]))
        spec.setdefault("kernel", {"release": kernels(system, spec["arch"])[0]})
    elif source == "container":
        fitting = [item for item in FULL_VERSIONS if first <= item[:3] <= last]
        if draw(st.sampled_from((True, False))) or (architecture in PROPRIETARY_ONLY and at_least(release, "26.7")):
            driver["version"] = draw(st.sampled_from(fitting))
        elif architecture in OPEN_ONLY and not at_least(release, "25.3"):
            driver["version"] = fitting[-1]
    if source == "container" and draw(one_in(10)):
        name = draw(st.sampled_from(("licensingSecret", "licensingConfigMap")))
        name = name if at_least(release, "25.10") else "licensingConfigMap"
        version = "580.95.05-grid" if architecture in (*OPEN_ONLY, *PROPRIETARY_ONLY) else "550.90.07-grid"
        return {
            "source": "container",
            "repository": "registry.example.com/vgpu",
            "version": version,
            "vgpu": {name: "licensing-config"},
            **({"kernelModuleType": "open"} if architecture in OPEN_ONLY else {}),
        }
    if source != "preinstalled":
        if architecture in OPEN_ONLY:
            driver["kernelModuleType"] = "open"
        elif draw(one_in(4)):
            driver["kernelModuleType"] = "proprietary" if architecture in PROPRIETARY_ONLY else "open"
        if draw(one_in(6)):
            driver["rdma"] = True
        if draw(one_in(8)):
            driver["upgradePolicy"] = {"autoUpgrade": draw(st.booleans()), "maxParallelUpgrades": 2}
        if system in ("ol", "sles") or draw(one_in(8)):
            driver["repository"] = "registry.example.com/drivers"
    if source == "container":
        if driver.get("kernelModuleType") == "open" and draw(one_in(4)):
            driver["gds"] = True
        if draw(one_in(8)):
            driver["gdrcopy"] = True
    return driver


@st.composite
def sharing(draw, product):
    found = {}
    how = draw(often(None, "timeSlicing", "mps", "mig"))
    if how == "mig" and product == "NVIDIA-A100-SXM4-80GB":
        found["gpu"] = {"product": product, "count": 8, "mig": {"layout": draw(often("all-1g.10gb", "all-balanced"))}}
    elif how in ("timeSlicing", "mps") and draw(st.booleans()):
        found["sharing"] = {how: {"replicas": 4}}
    return found


def _agree(pools):
    """One system and one driver for all pools that run containers."""
    first = next((spec for spec in pools.values() if "driver" in spec), None)
    if first is None:
        return
    for spec in pools.values():
        spec["os"] = dict(first["os"])
        if "driver" in spec:
            spec["driver"] = {**first["driver"]}
            spec["gpu"] = {**spec["gpu"], "product": first["gpu"]["product"]}
            for key in ("kernel", "nic", "arch"):
                spec.pop(key, None)
                if key in first:
                    spec[key] = first[key]
        spec["gpu"].pop("mig", None)


def _share_base(name, pools):
    """What the first pool says of its system and runtime stands in a base that all extend."""
    first = next(iter(pools.values()))
    base = {key: first[key] for key in ("os", "runtime") if key in first}
    for spec in pools.values():
        spec |= {"extends": [f"{name}-base"], "base": base}
        for key, value in base.items():
            if spec.get(key) == value:
                del spec[key]


def _slip(change):
    """A mistake in the pool that is drawn."""
    return lambda cluster, pools, target: change(pools[target])


def _of_cluster(change):
    return lambda cluster, pools, target: change(cluster)


def _set(*path, value):
    def change(spec):
        for key in path[:-1]:
            if not isinstance(spec.get(key), dict):
                spec[key] = {}
            spec = spec[key]
        spec[path[-1]] = value

    return change


def _drop(*path):
    def change(spec):
        for key in path[:-1]:
            spec = spec.get(key)
            if not isinstance(spec, dict):
                return
        spec.pop(path[-1], None)

    return change


def _same_label_value(cluster, pools, target):
    for spec in pools.values():
        _set("nodes", "labelValue", value="same")(spec)


def _same_nodes(cluster, pools, target):
    for spec in pools.values():
        _set("nodes", "names", value=["gpu-[001-009]"])(spec)


def _same_name(cluster, pools, target):
    pools[target]["name"] = "pool-0"


SLIPS = (
    _slip(_set("os", "id", value="windows")),
    _slip(_set("os", "version", value="1")),
    _slip(_set("os", "imageTag", value="ubuntu22.04")),
    _slip(_set("os", value={"id": "debian", "version": "12"})),
    _slip(_set("os", value={"id": "talos", "version": "v1.11.2"})),
    _slip(_set("os", value=None)),
    _slip(_set("arch", value="arm64")),
    _slip(_set("arch", value="riscv")),
    _slip(_set("runtime", "name", value="cri-o")),
    _slip(_set("runtime", "name", value="docker")),
    _slip(_set("runtime", "name", value="rkt")),
    _slip(_set("runtime", "version", value="1.4")),
    _slip(_set("runtime", "config", value="/etc/own/config.toml")),
    _slip(_set("runtime", "socket", value="/run/own.sock")),
    _slip(_set("runtime", "dropIn", value="/etc/own/conf.d/99.toml")),
    _slip(_set("gpu", "product", value="NVIDIA-X1")),
    _slip(_set("gpu", "product", value="B200")),
    _slip(_set("gpu", "product", value="P40")),
    _slip(_set("gpu", "architecture", value="ampere")),
    _slip(_set("gpu", "mig", value={"layout": "all-1g.10gb"})),
    _slip(_set("driver", "source", value="container")),
    _slip(_set("driver", "source", value="precompiled")),
    _slip(_set("driver", "source", value="preinstalled")),
    _slip(_set("driver", "version", value="550")),
    _slip(_set("driver", "version", value="550.163.01")),
    _slip(_set("driver", "version", value=550)),
    _slip(_set("driver", "kernelModuleType", value="proprietary")),
    _slip(_set("driver", "kernelModuleType", value="open")),
    _slip(_set("driver", "rdma", value=True)),
    _slip(_set("driver", "useHostMofed", value=True)),
    _slip(_set("driver", "gds", value=True)),
    _slip(_set("driver", "gdrcopy", value=True)),
    _slip(_set("driver", "installDir", value="/opt/nvidia")),
    _slip(_set("driver", "repository", value="registry.example.com/drivers")),
    _slip(_set("driver", "vgpu", value={"licensingSecret": "licence"})),
    _slip(_set("driver", "vgpu", value={})),
    _slip(_set("nodes", "autoscaled", value=True)),
    _slip(_set("nodes", "startupTaints", value=[{"key": "nvidia.com/gpu", "effect": "NoSchedule"}])),
    _slip(_set("driver", "upgradePolicy", value={"drain": {"enable": True, "force": True}})),
    _slip(_set("driver", value=None)),
    _slip(_drop("kernel")),
    _slip(_drop("driver", "source")),
    _slip(_set("toolkit", "source", value="preinstalled")),
    _slip(_set("toolkit", "source", value="operator")),
    _slip(_set("toolkit", "source", value="overlay")),
    _slip(_set("toolkit", "version", value="1.17.8")),
    _slip(_set("workload", value="vm-passthrough")),
    _slip(_set("workload", value="vm-vgpu")),
    _slip(_set("workload", value="kata")),
    _slip(_set("workload", value="kata-confidential")),
    _slip(_set("acknowledge", value=list(HOST_FACTS))),
    _slip(_set("nic", value="mellanox")),
    _slip(_set("secureBoot", value=True)),
    _slip(_set("nodes", "taints", value=[{"key": "a b", "effect": "NoSchedule"}])),
    _slip(_set("nodes", "names", value=["gpu-[9-1]"])),
    _slip(_set("nodes", "names", value=["gpu-pool-a.example.com"])),
    _slip(_set("nodes", "labelValue", value="-")),
    _slip(_set("nodes", "unknown", value=1)),
    _slip(_set("extends", value=["nobody"])),
    _slip(_set("name", value="x" * 60)),
    _slip(_set("name", value="default")),
    _same_label_value,
    _same_nodes,
    _same_name,
    _of_cluster(_set("stack", "release", value="v99.9.9")),
    _of_cluster(_set("stack", "kind", value="device-plugin")),
    _of_cluster(_set("stack", value={"kind": "device-plugin", "release": "v0.17.1"})),
    _of_cluster(_set("stack", "driverMode", value="nvidia-driver")),
    _of_cluster(_set("stack", "driverMode", value="cluster-policy")),
    _of_cluster(_set("stack", "namespace", value="kube-system")),
    _of_cluster(_set("stack", "values", value={"driver": {"enabled": False}})),
    _of_cluster(_set("stack", "values", value={"cdi": {"enabled": False}})),
    _of_cluster(_set("stack", "values", value={"toolkit": {"enabled": False}})),
    _of_cluster(_set("stack", "values", value={"daemonsets": {"tolerations": []}})),
    _of_cluster(_set("kubernetes", "distribution", value="openshift")),
    _of_cluster(_set("kubernetes", "distribution", value="rke2")),
    _of_cluster(_set("kubernetes", "distribution", value="talos")),
    _of_cluster(_set("kubernetes", "distribution", value="mine")),
    _of_cluster(_set("poolLabel", value="nvidia.com/pool")),
    _of_cluster(_set("delivery", value=None)),
    _of_cluster(_set("delivery", "destination", value={"name": "prod"})),
    _of_cluster(_set("registry", value={"mirrors": {"registry.k8s.io": "registry.example.com/k8s"}})),
    _of_cluster(_set("acknowledge", value=[{"fact": "mixed-runtimes"}])),
    _of_cluster(_set("nfd", "provider", value="external")),
)
