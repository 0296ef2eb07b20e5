"""What stands on each pool's nodes, told from generated files alone: labels, driver owners, landing pods.

Written down again from the operator's documentation and recorded runs; nothing of the generator is used, so that a
mistake of its prediction can't hide here as well.
"""

from __future__ import annotations

import yaml

NFD = "feature.node.kubernetes.io/"
DEPLOY = "nvidia.com/gpu.deploy."
WORKLOAD = "nvidia.com/gpu.workload.config"
OWNER = "nvidia.com/gpu-operator.driver.owner"
COMPONENTS = {
    "container": (
        "driver",
        "gpu-feature-discovery",
        "container-toolkit",
        "device-plugin",
        "dcgm",
        "dcgm-exporter",
        "node-status-exporter",
        "operator-validator",
    ),
    "vm-passthrough": ("sandbox-device-plugin", "sandbox-validator", "vfio-manager", "kata-manager", "cc-manager"),
    "vm-vgpu": ("sandbox-device-plugin", "vgpu-manager", "vgpu-device-manager", "sandbox-validator", "cc-manager"),
}
OF_DAEMON_SETS = (
    {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"},
    {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"},
)


def documents(text, kinds):
    """Only documents of these kinds: a cluster's prediction is long, and most of it does not run on nodes."""
    found = []
    for part in text.split("\n---\n"):
        if any(f"\nkind: {kind}\n" in f"\n{part}" for kind in kinds):
            found.extend(item for item in yaml.load_all(part, yaml.CSafeLoader) if item and item.get("kind") in kinds)
    return found


class Cluster:
    """The generated files of one cluster, and its pools' profiles (merged with their bases) by name."""

    def __init__(self, files, spec, pools):
        self.spec = spec
        self.pools = pools
        self.texts = {path: content.decode() for path, content in files.items()}
        self.values = self._first("platform/values/gpu-operator.yaml") or {}
        self.daemon_sets = documents(self.texts["expected/workloads.yaml"], ("DaemonSet",))
        applied = [text for path, text in sorted(self.texts.items()) if path.startswith("pools/")]
        self.applied = [item for text in applied for item in documents(text, ("NVIDIADriver", "NodeFeatureRule"))]
        self.driver_objects = [item for item in self.applied if item["kind"] == "NVIDIADriver"]
        self.labels = {name: self._labels(name) for name in pools}

    @property
    def release(self):
        return self.spec["stack"]["release"]

    def _first(self, path):
        return yaml.load(self.texts[path], yaml.CSafeLoader) if path in self.texts else None

    def value(self, *path, default=None):
        node = self.values
        for key in path:
            node = node.get(key) if isinstance(node, dict) else None
            if node is None:
                return default
        return node

    def _labels(self, name):
        labels = self._before_the_operator(name)
        sandboxed = self.value("sandboxWorkloads", "enabled", default=False)
        workload = labels.get(WORKLOAD, "container") if sandboxed else "container"
        labels["nvidia.com/gpu.present"] = "true"
        for component in COMPONENTS[workload]:
            labels.setdefault(f"{DEPLOY}{component}", "true")
        owners = [item["metadata"]["name"] for item in self.driver_objects if selects(item, labels)]
        if len(owners) == 1:
            labels[OWNER] = owners[0]
        return labels

    def _before_the_operator(self, name):
        """What feature discovery and whoever makes the nodes write."""
        spec = self.pools[name]
        version = spec["os"]["version"]
        labels = {
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": spec.get("arch", "amd64"),
            f"{NFD}pci-10de.present": "true",
            f"{NFD}kernel-version.full": spec.get("kernel", {}).get("release") or "not-declared",
            f"{NFD}system-os_release.ID": spec["os"]["id"],
            f"{NFD}system-os_release.VERSION_ID": version,
            f"{NFD}system-os_release.VERSION_ID.major": version.split(".")[0],
        }
        if spec.get("nic") == "mellanox":
            labels[f"{NFD}pci-15b3.present"] = "true"
        if spec.get("sharing", {}).get("mps"):
            labels["nvidia.com/mps.capable"] = "true"
        expected = self._first(f"expected/node-labels/{name}.yaml")
        labels |= expected["provisioner"]["labels"]
        for rule in self._rules_that_match(spec.get("nodes", {}).get("names", ())):
            labels |= rule["labels"]
        return labels

    def _rules_that_match(self, names):
        if not names:
            return
        for item in self.applied:
            for rule in item["spec"]["rules"] if item["kind"] == "NodeFeatureRule" else ():
                (matcher,) = rule["matchFeatures"]
                expression = matcher["matchExpressions"]["nodename"]
                if expression["op"] == "In" and set(literal(names)) & set(expression["value"]):
                    assert set(literal(names)) <= set(expression["value"])
                    yield rule

    def landing(self, name):
        """The DaemonSets whose node selector matches the pool's nodes."""
        labels = self.labels[name]
        return [item for item in self.daemon_sets if _lands(item["spec"]["template"]["spec"], labels)]

    def running(self, name, container):
        """Of these, the ones with such a container."""
        return [item for item in self.landing(name) if containers(item, container)]

    @staticmethod
    def untolerated(item, taints):
        """The taints that keep a DaemonSet's pods off a node, by the scheduler's rules."""
        tolerations = [*(item["spec"]["template"]["spec"].get("tolerations") or ()), *OF_DAEMON_SETS]
        hard = [taint for taint in taints if taint["effect"] != "PreferNoSchedule"]
        return [taint for taint in hard if not any(_tolerates(toleration, taint) for toleration in tolerations)]


def literal(names):
    """gpu-[01-03] as its names."""
    for name in names:
        if "[" not in name:
            yield name
            continue
        prefix, rest = name.split("[")
        span, suffix = rest.split("]")
        low, high = span.split("-")
        for number in range(int(low), int(high) + 1):
            yield f"{prefix}{number:0{len(low)}d}{suffix}"


def selects(item, labels):
    selector = item["spec"].get("nodeSelector")
    assert selector, "a driver object without a selector takes nodes of other pools"
    return all(labels.get(key) == value for key, value in selector.items())


def _lands(pod, labels):
    if any(labels.get(key) != value for key, value in (pod.get("nodeSelector") or {}).items()):
        return False
    required = (pod.get("affinity") or {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    return any(
        all(_holds(expression, labels) for expression in term.get("matchExpressions", ()))
        for term in required["nodeSelectorTerms"]
    )


def _holds(expression, labels):
    value = labels.get(expression["key"])
    match expression["operator"]:
        case "In":
            return value in expression["values"]
        case "NotIn":
            return value not in expression["values"]
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    raise AssertionError(expression)


def containers(item, name):
    return [entry for entry in item["spec"]["template"]["spec"]["containers"] if entry["name"] == name]


def _tolerates(toleration, taint):
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return True
    return bool(toleration.get("key")) and (toleration.get("value") or "") == (taint.get("value") or "")
