"""Which driver, toolkit and device plugin fit a pool, by the facts, and what of a generated cluster does not.

Tables and rules are written down again from gpu-operator.md 2.2-2.4, 4 and compat.md 2, 3, 6.
"""

from __future__ import annotations

import posixpath

LINES = {
    "v24.6.1": "24.6",
    "v24.9.2": "24.9",
    "v25.3.4": "25.3",
    "v25.10.1": "25.10",
    "v26.3.3": "26.3",
    "v26.7.0": "26.7",
}
ORDER = tuple(LINES.values())
DEFAULT_DRIVER = {
    "24.6": "550.90.07",
    "24.9": "550.144.03",
    "25.3": "580.82.07",
    "25.10": "580.105.08",
    "26.3": "580.126.20",
    "26.7": "595.91.07",
}
BRINGS_DRIVER = ("talos", "bottlerocket", "cos")
"""Every image for GPU nodes carries one; of amzn and flatcar some do."""
BRING_DRIVER_AND_TOOLKIT = ("aks",)
"""Distributions whose images have a toolkit wherever they have a driver."""
MAY_BRING_TOOLKIT = (*BRINGS_DRIVER, "amzn", "flatcar")
OPEN_ONLY = ("blackwell", "grace_hopper")
PROPRIETARY_ONLY = ("pascal", "volta")
OURS = "poolsmith-"
BRINGS_DEVICE_PLUGIN = ("bottlerocket",)
IN_POD = {"containerd": "containerd", "docker": "docker", "cri-o": "crio"}
CONTAINERD_ON = {
    "k3s": ("/var/lib/rancher/k3s/agent/etc/containerd/config.toml", "/run/k3s/containerd/containerd.sock"),
    "microk8s": (
        "/var/snap/microk8s/current/args/containerd-template.toml",
        "/var/snap/microk8s/common/run/containerd.sock",
    ),
    "kubeadm": ("/etc/containerd/config.toml", "/run/containerd/containerd.sock"),
    "eks": ("/etc/containerd/config.toml", "/run/containerd/containerd.sock"),
    "gke": ("/etc/containerd/config.toml", "/run/containerd/containerd.sock"),
    "aks": ("/etc/containerd/config.toml", "/run/containerd/containerd.sock"),
    "rke2": (None, "/run/k3s/containerd/containerd.sock"),
}
VARIABLES = {"containerd": "CONTAINERD", "docker": "DOCKER", "cri-o": "CRIO"}


def since(line, first):
    return ORDER.index(line) >= ORDER.index(first)


def os_tag(line, os):
    """Facts 2.4: which systems are named by their major version alone."""
    major = os["version"].split(".")[0]
    by_major = {
        "26.3": os["id"] == "rocky" or (os["id"] == "rhel" and int(major) >= 10 if major.isdigit() else False),
        "26.7": os["id"] in ("rhel", "rocky", "ol"),
    }
    return f"{os['id']}{major if by_major.get(line) else os['version']}"


def misfits(cluster, architectures):
    """Sentences about what does not fit, in all pools. `architectures` are GPU generations by product."""
    found = [sentence for name in cluster.pools for sentence in _of_pool(cluster, name, architectures)]
    return [*found, *_of_objects(cluster), *_of_runtimes(cluster), *_of_selectors(cluster)]


def _of_objects(cluster):
    for item in cluster.driver_objects:
        if not any(
            cluster.labels[name].get("nvidia.com/gpu-operator.driver.owner") == item["metadata"]["name"]
            for name in cluster.pools
        ):
            yield f"the driver object {item['metadata']['name']} is no pool's only one"


def _of_runtimes(cluster):
    """Facts 4: the operator sees one runtime; what it can't live with, and what somebody has to vouch for."""
    if cluster.spec["stack"].get("kind") == "device-plugin":
        return
    line = LINES[cluster.release]
    runtimes = {spec["runtime"]["name"] for spec in cluster.pools.values()}
    users = {
        spec["runtime"]["name"] for spec in cluster.pools.values() if spec.get("workload", "container") == "container"
    }
    if runtimes == {"docker", "cri-o"}:
        yield "without containerd the operator takes whichever of docker and cri-o it lists last"
    if runtimes >= {"docker", "containerd"} and "docker" in users and since(line, "25.10"):
        yield "pods ask for the runtime class nvidia, which docker does not have beside containerd"
    said = {item["fact"] for item in cluster.spec.get("acknowledge", ())}
    folders = {_root(item) for name in cluster.pools for item in cluster.running(name, "nvidia-container-toolkit-ctr")}
    if len(folders) > 1:
        yield f"toolkits go to {sorted(folders)}, and the operator's pods look in one folder"
    usual = "containerd" if "containerd" in runtimes else min(runtimes)
    others = [name for name, spec in cluster.pools.items() if spec["runtime"]["name"] != usual]
    own = [name for name in others if _has_own_toolkit(cluster, name)]
    if own and "mixed-runtimes" not in said:
        yield f"nobody vouches for the toolkits of {own}"


def _has_own_toolkit(cluster, name):
    running = cluster.running(name, "nvidia-container-toolkit-ctr")
    return any(item["metadata"]["name"] != "nvidia-container-toolkit-daemonset" for item in running)


def _root(item):
    (main,) = item["spec"]["template"]["spec"]["containers"]
    return next(entry["value"] for entry in main["env"] if entry["name"] == "ROOT")


def _of_selectors(cluster):
    """Two controllers whose selectors match one pod fight over it; what the operator makes is the operator's own choice."""
    templates = {
        item["metadata"]["name"]: item["spec"]["template"]["metadata"]["labels"] for item in cluster.daemon_sets
    }
    for item in cluster.daemon_sets:
        name, selector = item["metadata"]["name"], item["spec"]["selector"]["matchLabels"].items()
        for other, labels in templates.items():
            if other != name and selector <= labels.items() and any(text.startswith(OURS) for text in (name, other)):
                yield f"the selector of {name} takes the pods of {other}"


def _of_pool(cluster, name, architectures):
    spec = cluster.pools[name]
    if cluster.spec["stack"].get("kind") == "device-plugin":
        checks = (_hand_installed(cluster, name),)
    elif spec.get("workload", "container") == "container":
        checks = (
            _driver(cluster, name, architectures[spec["gpu"]["product"]]),
            _toolkit(cluster, name),
            _device_plugin(cluster, name, ordinary=int(spec["os"]["id"] not in BRINGS_DEVICE_PLUGIN), sandbox=0),
            _tolerations(cluster, name),
        )
    else:
        checks = (
            _sandboxed(cluster, name),
            _device_plugin(cluster, name, ordinary=0, sandbox=1),
            _tolerations(cluster, name),
        )
    return [f"{name}: {sentence}" for check in checks for sentence in check]


def driver_source(spec):
    source = (spec.get("driver") or {}).get("source")
    return source or ("preinstalled" if spec["os"]["id"] in BRINGS_DRIVER else None)


def _driver(cluster, name, architecture):
    spec, line = cluster.pools[name], LINES[cluster.release]
    source = driver_source(spec)
    running = cluster.running(name, "nvidia-driver-ctr")
    names = sorted(item["metadata"]["name"] for item in running)
    if source not in ("container", "precompiled"):
        if names:
            yield f"its driver is {source}, and {names} would install another"
        return
    if len(running) != 1:
        yield f"needs one driver, gets {names}"
        return
    (main,) = (
        entry for entry in running[0]["spec"]["template"]["spec"]["containers"] if entry["name"] == "nvidia-driver-ctr"
    )
    driver = spec["driver"]
    wanted = _driver_image(cluster, spec, line, source)
    if main["image"] != wanted:
        yield f"needs {wanted}, gets {main['image']}"
    for entry in running[0]["spec"]["template"]["spec"]["containers"]:
        if entry["name"] in ("nvidia-fs-ctr", "nvidia-gdrcopy-ctr") and not entry["image"].endswith(
            f"-{os_tag(line, spec['os'])}"
        ):
            yield f"{entry['name']} is built for each system too, gets {entry['image']}"
    beside = {entry["name"] for entry in running[0]["spec"]["template"]["spec"]["containers"]} - {"nvidia-driver-ctr"}
    features = {"rdma": "nvidia-peermem-ctr", "gds": "nvidia-fs-ctr", "gdrcopy": "nvidia-gdrcopy-ctr"}
    asked = {container for feature, container in features.items() if driver.get(feature)}
    if beside & set(features.values()) != asked:
        yield f"asks for {sorted(asked)}, gets {sorted(beside)}"
    yield from _licence(running[0], driver.get("vgpu"))
    yield from _contradictions(spec, line, source, architecture)
    yield from _modules(main, driver, line, architecture, wanted)


def _driver_image(cluster, spec, line, source):
    driver = spec["driver"]
    repository = driver.get("repository") or "nvcr.io/nvidia"
    host, _, rest = repository.partition("/")
    mirror = (cluster.spec.get("registry") or {}).get("mirrors", {}).get(host)
    repository = f"{mirror}/{rest}" if mirror else repository
    version = str(driver.get("version") or DEFAULT_DRIVER[line])
    kernel = f"-{(spec.get('kernel') or {}).get('release')}" if source == "precompiled" else ""
    return f"{repository}/driver:{version}{kernel}-{os_tag(line, spec['os'])}"


def _licence(item, guest):
    """The driver of a vGPU guest is another one than that of whole GPUs, with a licence."""
    volumes = {volume["name"]: volume for volume in item["spec"]["template"]["spec"]["volumes"]}
    found = volumes.get("licensing-config", {})
    named = {
        "licensingSecret": found.get("secret", {}).get("secretName"),
        "licensingConfigMap": found.get("configMap", {}).get("name"),
    }
    if {key: value for key, value in named.items() if value} != (guest or {}):
        yield f"needs the licence {guest}, gets {named}"
    if item["metadata"]["name"].startswith("nvidia-vgpu-driver-" if not guest else "nvidia-gpu-driver-"):
        yield f"{'is' if guest else 'is no'} vGPU guest, gets {item['metadata']['name']}"


def _contradictions(spec, line, source, architecture):
    driver, version = spec["driver"], str(spec["driver"].get("version") or DEFAULT_DRIVER[line])
    if spec["os"]["id"] in MAY_BRING_TOOLKIT and not driver.get("repository"):
        yield f"{spec['os']['id']} has no driver containers"
    if source == "precompiled":
        if "." in version or not (spec.get("kernel") or {}).get("release"):
            yield "a precompiled driver is named by branch and kernel"
        if spec.get("arch") == "arm64" and not since(line, "26.7"):
            yield "there are no precompiled drivers for arm64 yet"
        if driver.get("gds") or driver.get("gdrcopy"):
            yield "the operator refuses GDS and GDRCopy beside a precompiled driver"
    elif "." not in version:
        yield "a driver container needs the full version"
    if driver.get("gds") and driver.get("kernelModuleType") != "open":
        yield "GDS needs open kernel modules"
    if driver.get("rdma") and spec.get("nic") != "mellanox":
        yield "nvidia-peermem never starts without a Mellanox adapter"
    if architecture in PROPRIETARY_ONLY and int(version[:3]) > 580:
        yield f"{architecture} is gone from branch {version[:3]}"


def _modules(main, driver, line, architecture, image):
    env = {entry["name"]: entry.get("value") for entry in main.get("env", ())}
    asked = driver.get("kernelModuleType")
    if since(line, "25.3"):
        chosen = env.get("KERNEL_MODULE_TYPE")
        if chosen != (asked or "auto"):
            yield f"asks for {asked or 'auto'} kernel modules, gets {chosen}"
    else:
        chosen = "open" if env.get("OPEN_KERNEL_MODULES_ENABLED") == "true" else "proprietary"
        if asked in ("open", "proprietary") and chosen != asked:
            yield f"asks for {asked} kernel modules, gets {chosen}"
    is_guest = bool(driver.get("vgpu"))  # its image has a tag of the user's own
    can_not_choose = chosen == "auto" and not is_guest and image.split(":")[1] < "570"
    if architecture in OPEN_ONLY and (chosen == "proprietary" or can_not_choose):
        yield f"{architecture} has no proprietary kernel modules"
    if architecture in PROPRIETARY_ONLY and chosen == "open":
        yield f"{architecture} has no open kernel modules"


def _toolkit(cluster, name):
    spec = cluster.pools[name]
    source = (spec.get("toolkit") or {}).get("source", "auto")
    running = cluster.running(name, "nvidia-container-toolkit-ctr")
    names = sorted(item["metadata"]["name"] for item in running)
    if source == "preinstalled" and names:
        yield f"its toolkit is pre-installed, and {names} would install another"
    of_platform = (
        cluster.spec["kubernetes"]["distribution"] in BRING_DRIVER_AND_TOOLKIT
        and (spec.get("driver") or {}).get("source") == "preinstalled"
    )
    may_bring = of_platform or spec["os"]["id"] in MAY_BRING_TOOLKIT
    may_lack = source == "preinstalled" or (source == "auto" and may_bring)
    if len(running) > 1 or (not running and not may_lack):
        yield f"needs one toolkit, gets {names}"
    for item in running:
        yield from _runtime(cluster, spec, item)


def _runtime(cluster, spec, item):
    """Where the toolkit's container reaches the host's runtime, through its mounts."""
    line, name = LINES[cluster.release], spec["runtime"]["name"]
    pod = item["spec"]["template"]["spec"]
    (main,) = pod["containers"]
    env = {entry["name"]: entry.get("value") for entry in main["env"]}
    if env.get("RUNTIME") != IN_POD[name]:
        yield f"runs {name}, and its toolkit configures {env.get('RUNTIME')}"
        return
    if (
        name == "cri-o"
        and item["metadata"]["name"] != "nvidia-container-toolkit-daemonset"
        and (env.get("CRIO_CONFIG_MODE") != "config")
    ):
        yield "operand pods ask cri-o for the handler nvidia, and its toolkit writes hooks only"
    config, socket, drop_in = _paths(cluster, spec, line, name)
    prefix = VARIABLES[name]
    for variable, wanted in (
        (f"{prefix}_CONFIG", config),
        (f"{prefix}_SOCKET", socket),
        ("RUNTIME_DROP_IN_CONFIG", drop_in),
    ):
        if wanted is None:
            continue
        reached = on_host(pod, main, env.get(variable))
        if reached != wanted:
            yield f"{variable} should be the host's {wanted}, and is {reached}"


def _paths(cluster, spec, line, name):
    given, distribution = spec["runtime"], cluster.spec["kubernetes"]["distribution"]
    config = socket = drop_in = None
    if name == "containerd":
        config, socket = CONTAINERD_ON.get(distribution, (None, None))
        if since(line, "25.10") and distribution in ("kubeadm", "eks", "aks", "gke"):
            drop_in = "/etc/containerd/conf.d/99-nvidia.toml"
    elif name == "docker":
        config, socket = "/etc/docker/daemon.json", "/var/run/docker.sock"
    elif since(line, "25.10"):
        config, drop_in = "/etc/crio/config.toml", "/etc/crio/crio.conf.d/99-nvidia.conf"
    return given.get("config") or config, given.get("socket") or socket, given.get("dropIn") or drop_in


def on_host(pod, container, path):
    """A path of the container as the host has it; None where no mount holds it."""
    if path is None:
        return None
    mounts = sorted(container["volumeMounts"], key=lambda mount: -len(mount["mountPath"]))
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    for mount in mounts:
        inside = mount["mountPath"].rstrip("/") + "/"
        if path.startswith(inside):
            outside = volumes[mount["name"]].get("hostPath", {}).get("path")
            return outside and posixpath.join(outside, path.removeprefix(inside))
    return None


def _device_plugin(cluster, name, *, ordinary, sandbox):
    kinds = ("nvidia-device-plugin", "nvidia-device-plugin-ctr")
    found = [item["metadata"]["name"] for kind in kinds for item in cluster.running(name, kind)]
    if len(found) != ordinary:
        yield f"needs {ordinary} device plugins, gets {found}"
    kinds = ("nvidia-sandbox-device-plugin-ctr", "nvidia-kata-sandbox-device-plugin-ctr")
    found = [item["metadata"]["name"] for kind in kinds for item in cluster.running(name, kind)]
    if len(found) != sandbox:
        yield f"needs {sandbox} sandbox device plugins, gets {found}"


def _sandboxed(cluster, name):
    for container in ("nvidia-driver-ctr", "nvidia-container-toolkit-ctr", "nvidia-vgpu-manager-ctr"):
        if found := cluster.running(name, container):
            yield f"its GPUs belong to guests, and {[item['metadata']['name'] for item in found]} runs there"


def _tolerations(cluster, name):
    from_profile = cluster.pools[name].get("nodes", {})
    taints = [*from_profile.get("taints", ()), *from_profile.get("startupTaints", ())]
    for item in cluster.landing(name) if taints else ():
        if missing := cluster.untolerated(item, taints):
            yield f"{item['metadata']['name']} should run there and does not tolerate {missing}"


def _hand_installed(cluster, name):
    yield from _device_plugin(cluster, name, ordinary=1, sandbox=0)
    yield from _tolerations(cluster, name)
    for container in ("nvidia-driver-ctr", "nvidia-container-toolkit-ctr"):
        if cluster.running(name, container):
            yield f"nothing installs {container} without the operator"
