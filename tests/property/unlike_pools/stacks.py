"""What one stack for each pool means, told from generated values and labels alone.

Written down from the operator's code and documentation, release by release; nothing of the generator is used. A node
has an operand if its workload label asks for it and the values switch its state on.
"""

from __future__ import annotations

import yaml

from property.unlike_pools.cluster_model import WORKLOAD, documents
from property.unlike_pools.fleets import at_least

CC_MODE = "nvidia.com/cc.mode"
LABEL_OF = {
    "container": "container",
    "kata": "vm-passthrough",
    "kata-confidential": "vm-passthrough",
    "vm-passthrough": "vm-passthrough",
    "vm-vgpu": "vm-vgpu",
}
OF_LABEL = {
    "container": ("device-plugin",),
    "vm-passthrough": ("vfio-manager", "sandbox-device-plugin", "kata-manager", "cc-manager", "sandbox-validator"),
    "vm-vgpu": (
        "vgpu-manager",
        "vgpu-device-manager",
        "sandbox-device-plugin",
        "cc-manager",
        "sandbox-validator",
    ),
}
"""The labels `nvidia.com/gpu.deploy.<operand>` that the operator writes, without those of other operands of containers."""
PLUGINS = {"device-plugin", "sandbox-device-plugin", "kata-sandbox-device-plugin"}
DAEMON_SETS = {
    "nvidia-device-plugin-daemonset": "device-plugin",
    "nvidia-vfio-manager": "vfio-manager",
    "nvidia-sandbox-device-plugin-daemonset": "sandbox-device-plugin",
    "nvidia-kata-sandbox-device-plugin-daemonset": "kata-sandbox-device-plugin",
    "nvidia-kata-manager": "kata-manager",
    "nvidia-cc-manager": "cc-manager",
    "nvidia-sandbox-validator": "sandbox-validator",
    "nvidia-vgpu-manager-daemonset": "vgpu-manager",
    "nvidia-vgpu-device-manager": "vgpu-device-manager",
}
SWITCHES = {
    "vfio-manager": ("vfioManager", True),
    "sandbox-device-plugin": ("sandboxDevicePlugin", True),
    "kata-sandbox-device-plugin": ("kataSandboxDevicePlugin", True),
    "kata-manager": ("kataManager", False),
    "vgpu-manager": ("vgpuManager", False),
    "vgpu-device-manager": ("vgpuDeviceManager", True),
    "device-plugin": ("devicePlugin", True),
}
"""The key of an operand in the chart's values, and whether it is on by default."""


def kata_era(release):
    """What brings Kata with a release; None where nobody wrote down how."""
    if at_least(release, "26.3"):
        return "mode"
    if at_least(release, "25.10"):
        return "early"
    return "coco" if at_least(release, "24.9") else None


def wanted(workload, release):
    """The operands that a pool of a workload needs, and no other sandbox or plugin operand."""
    if workload == "container":
        return {"device-plugin"}
    if workload == "vm-vgpu":
        return {"vgpu-manager", "vgpu-device-manager", "sandbox-device-plugin", "sandbox-validator"}
    if workload == "vm-passthrough":
        return {"vfio-manager", "sandbox-device-plugin", "sandbox-validator"}
    if kata_era(release) == "mode":
        return {"vfio-manager", "kata-sandbox-device-plugin", "cc-manager", "sandbox-validator"}
    managers = {"kata-manager", *(("cc-manager",) if workload == "kata-confidential" else ())}
    return {"vfio-manager", "sandbox-device-plugin", "sandbox-validator"} | managers


class Stacks:
    """One generated cluster; `pools` are profiles by name."""

    def __init__(self, files, spec, pools):
        self.release = spec["stack"]["release"]
        self.pools = {name: pool.get("workload", "container") for name, pool in pools.items()}
        self.specs = pools
        self.texts = {path: content.decode() for path, content in files.items()}
        self.values = yaml.safe_load(self.texts["platform/values/gpu-operator.yaml"]) or {}
        self.drivers = [
            item
            for path, text in self.texts.items()
            if path.startswith("pools/")
            for item in documents(text, ("NVIDIADriver",))
        ]
        self.predicted = documents(self.texts["expected/workloads.yaml"], ("DaemonSet",))

    def value(self, *path, default=None):
        node = self.values
        for key in path:
            node = node.get(key) if isinstance(node, dict) else None
        return default if node is None else node

    def labels(self, pool):
        return yaml.safe_load(self.texts[f"expected/node-labels/{pool}.yaml"])["provisioner"]["labels"]

    @property
    def mode(self):
        return self.value("sandboxWorkloads", "mode", default="kubevirt") if at_least(self.release, "26.3") else ""

    def _is_on(self, operand, pool, labels):
        if operand == "cc-manager":
            if at_least(self.release, "26.3"):
                return self.mode == "kata" and self.value("ccManager", "enabled", default=True)
            return self.value("ccManager", "enabled", default=False) and self._is_capable(pool, labels)
        if operand == "kata-manager" and at_least(self.release, "26.7"):
            return False
        if operand == "sandbox-device-plugin" and self.mode == "kata":
            return False
        if operand == "vgpu-manager" and self.value("driver", "nvidiaDriverCRD", "enabled", default=False):
            return any(
                item["spec"].get("driverType") == "vgpu-host-manager"
                and item["spec"]["nodeSelector"].items() <= labels.items()
                for item in self.drivers
            )
        if operand == "sandbox-validator":
            return True
        key, default = SWITCHES[operand]
        return self.value(key, "enabled", default=default)

    def _is_capable(self, pool, labels):
        """Before 26.3 the chart's rules for NFD say so of H100 PCIe; otherwise somebody who makes the nodes."""
        by_rule = self.value("nfd", "nodefeaturerules", default=False) and "PCIe" in self.specs[pool]["gpu"]["product"]
        return by_rule or labels.get("nvidia.com/cc.capable") == "true"

    def operands(self, pool):
        """What runs on a pool's nodes."""
        labels = self.labels(pool)
        enabled = self.value("sandboxWorkloads", "enabled", default=False)
        label = labels.get(WORKLOAD) or self.value("sandboxWorkloads", "defaultWorkload", default="container")
        asked = list(OF_LABEL[label if enabled else "container"])
        if self.mode == "kata" and "vfio-manager" in asked:
            asked[asked.index("sandbox-device-plugin")] = "kata-sandbox-device-plugin"
        return {operand for operand in asked if self._is_on(operand, pool, labels)}

    def foretold(self):
        """The operands of this table that the prediction has, for the whole cluster."""
        found = set()
        for item in self.predicted:
            name = item["metadata"]["name"]
            if name in DAEMON_SETS:
                found.add(DAEMON_SETS[name])
            elif name.startswith("nvidia-vgpu-host-manager-driver-"):
                found.add("vgpu-manager")
        return found


def misfits(cluster):
    """Each pool without exactly its own stack, in words."""
    release, workloads = cluster.release, set(cluster.pools.values())
    kata = bool(workloads & {"kata", "kata-confidential"})
    if kata and workloads & {"vm-passthrough", "vm-vgpu"}:
        yield "Kata and virtual machines in one cluster: the operator runs the device plugin of one of them"
    if kata and kata_era(release) is None:
        yield f"Kata with {release}"
    expected = set()
    for name, workload in cluster.pools.items():
        found, want, labels = cluster.operands(name), wanted(workload, release), cluster.labels(name)
        if workload == "kata" and not at_least(release, "26.3") and _mode(cluster, labels) == "off":
            found.discard("cc-manager")  # of confidential pools beside it, on each GPU that is capable
        expected |= want
        if labels.get(WORKLOAD, "container") != LABEL_OF[workload]:
            yield f"{name} ({workload}) has the workload label {labels.get(WORKLOAD)}"
        if found != want:
            yield f"{name} ({workload}, {release}) runs {sorted(found)} and needs {sorted(want)}"
        if len(found & PLUGINS) != 1:
            yield f"{name} has the device plugins {sorted(found & PLUGINS)}"
        yield from _cc_mode(cluster, name, workload, labels)
        yield from _sharing(cluster, name, labels)
    if missing := expected - cluster.foretold():
        yield f"not foretold: {sorted(missing)}"
    if more := (cluster.foretold() & PLUGINS) - expected - {"device-plugin", "sandbox-device-plugin"}:
        yield f"foretold for nobody: {sorted(more)}"
    yield from _installers(cluster, kata)
    sandboxed = workloads != {"container"}
    if bool(cluster.value("sandboxWorkloads", "enabled", default=False)) != sandboxed:
        yield f"sandboxWorkloads.enabled is not {sandboxed}"
    if not at_least(release, "26.3") and cluster.value("sandboxWorkloads", "mode"):
        yield f"{release} has no sandboxWorkloads.mode"
    if at_least(release, "26.3") and (cluster.mode == "kata") != kata:
        yield f"mode {cluster.mode} and {sorted(workloads)}"


def _mode(cluster, labels):
    default = "on" if at_least(cluster.release, "26.3") else "off"
    return labels.get(CC_MODE) or cluster.value("ccManager", "defaultMode", default=default)


def _cc_mode(cluster, name, workload, labels):
    mode = _mode(cluster, labels)
    asked = (cluster.specs[name].get("sandbox") or {}).get("ccMode")
    if workload == "kata" and cluster.mode == "kata" and mode != "off":
        yield f"{name}: the class of plain Kata selects mode off, and the nodes are {mode}"
    if workload == "kata-confidential" and mode != (asked or "on"):
        yield f"{name}: CC mode {mode}, and asked is {asked or 'on'}"
    waits = at_least(cluster.release, "26.3") and cluster.value("ccManager", "enabled", default=True)
    if workload in ("vm-passthrough", "vm-vgpu") and waits:
        yield f"{name}: the sandbox validator may wait for a CC manager that mode kubevirt does not deploy"


def _installers(cluster, kata):
    era = kata_era(cluster.release) if kata else None
    by_kata_deploy = any(path.startswith("units/kata-deploy/") for path in cluster.texts)
    by_coco = any("kind: CcRuntime\n" in text for path, text in cluster.texts.items() if path.startswith("units/"))
    if by_kata_deploy != (era in ("early", "mode")):
        yield f"kata-deploy: {by_kata_deploy} in era {era}"
    if by_coco != (era == "coco"):
        yield f"CcRuntime: {by_coco} in era {era}"


def _sharing(cluster, name, labels):
    spec = cluster.specs[name]
    shares = spec.get("sharing") or {}
    if cluster.pools[name] != "container" and (shares or (spec["gpu"].get("mig") or {})):
        yield f"{name} gives whole GPUs to sandboxes, and shares them"
    layout = (spec["gpu"].get("mig") or {}).get("layout")
    if layout != labels.get("nvidia.com/mig.config"):
        yield f"{name} has the MIG layout {labels.get('nvidia.com/mig.config')}, and asks for {layout}"
    config = labels.get("nvidia.com/device-plugin.config")
    maps = [
        item
        for path, text in cluster.texts.items()
        if path.startswith("platform/")
        for item in (documents(text, ("ConfigMap",)) if path.endswith(".yaml") and "values/" not in path else ())
    ]
    for how in ("timeSlicing", "mps"):
        if how in shares:
            known = next((item for item in maps if config in (item.get("data") or {})), None)
            if known is None:
                yield f"{name} shares by {how}, and no ConfigMap has its configuration {config}"
                continue
            said = yaml.safe_load(known["data"][config])["sharing"]
            if {item["replicas"] for item in said[how]["resources"]} != {shares[how]["replicas"]}:
                yield f"{name}: {said}"
            if known["metadata"]["name"] != cluster.value("devicePlugin", "config", "name"):
                yield f"the device plugin does not read ConfigMap {known['metadata']['name']}"
