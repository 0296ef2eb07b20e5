"""Random edits of profiles and values, such as people make: one number makes one edit.

An edit changes documents by path, as data. It may come to profiles with errors; whoever asks takes the next number.
"""

from __future__ import annotations

import copy
import random

RELEASES = ("v24.6.1", "v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0")
OPERANDS = (
    "driver", "toolkit", "devicePlugin", "dcgm", "dcgmExporter", "gfd", "migManager", "nodeStatusExporter", "validator",
    "vfioManager", "sandboxDevicePlugin", "kataManager", "vgpuDeviceManager", "gdrcopy", "gds",
)  # fmt: skip
POD = (
    ("hostNetwork", (True, False)),
    ("env", ([{"name": "EDITED", "value": "1"}], [{"name": "EDITED", "value": "2"}, {"name": "MORE", "value": ""}])),
    ("resources", ({"limits": {"memory": "1Gi"}}, {"requests": {"cpu": "100m"}, "limits": {"cpu": "0.5"}})),
    ("args", (["--edited"], ["--a", "--b"])),
    ("version", ("v9.9.9", "sha256:" + "a" * 64)),
    ("repository", ("registry.example.com/mirror",)),
    ("imagePullPolicy", ("Always", "Never", "IfNotPresent")),
    ("imagePullSecrets", (["mirror"],)),
    ("enabled", (True, False)),
)
FOR_ALL = (
    (("daemonsets", "updateStrategy"), ("OnDelete", "RollingUpdate")),
    (("daemonsets", "rollingUpdate", "maxUnavailable"), ("2", "50%")),
    (("daemonsets", "priorityClassName"), ("gpu-critical", "system-node-critical")),
    (("daemonsets", "labels"), ({"team": "gpu"},)),
    (("daemonsets", "annotations"), ({"example.com/edited": "1"},)),
    (("daemonsets", "tolerations"), ([{"key": "edited", "operator": "Exists", "effect": "NoSchedule"}],)),
    (("driver", "upgradePolicy", "autoUpgrade"), (True, False)),
    (("driver", "upgradePolicy", "maxParallelUpgrades"), (0, 3)),
    (("driver", "upgradePolicy", "drain", "enable"), (True, False)),
    (("driver", "manager", "env"), ([{"name": "ENABLE_AUTO_DRAIN", "value": "true"}],)),
    (("operator", "resources"), ({"limits": {"memory": "700Mi"}},)),
    (("operator", "logging", "level"), ("debug",)),
    (("operator", "runtimeClass"), ("nvidia", "gpu")),
    (("cdi", "enabled"), (True, False)),
    (("mig", "strategy"), ("single", "mixed", "none")),
    (("psa", "enabled"), (True, False)),
    (("hostPaths", "rootFS"), ("/", "/host")),
    (("node-feature-discovery", "master", "extraArgs"), (["--edited"],)),
    (("node-feature-discovery", "worker", "config", "sources", "pci", "deviceLabelFields"), (["vendor"],)),
    (("node-feature-discovery", "worker", "resources"), ({"limits": {"memory": "600Mi"}},)),
    (("node-feature-discovery", "gc", "enable"), (False,)),
    (("node-feature-discovery", "priorityClassName"), ("gpu-critical",)),
)


def one_pool_edited(files, cluster, number):
    """A copy of the documents by path with one edit of one pool; the path of the pool, and new names by old ones."""
    draw = random.Random(number)
    after, renamed = copy.deepcopy(files), {}
    draw.choice((*POOL_EDITS, *OF_CLUSTERS))(draw, after, cluster, renamed)
    return after, renamed


def edited(files, cluster, number):
    """A copy of the documents by path with one to three edits of the cluster `cluster`, and new names of its pools
    by old ones."""
    draw = random.Random(number)
    files = copy.deepcopy(files)
    renamed = {}
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        draw.choice(EDITS)(draw, files, cluster, renamed)
    return files, renamed


def _spec(files, cluster):
    return files[f"profiles/{cluster}/cluster.yaml"]["spec"]


def _pools(files, cluster):
    return sorted(
        path
        for path, body in files.items()
        if path.startswith(f"profiles/{cluster}/") and body.get("kind") == "NodePool"
    )


def _put(tree, path, value):
    for key in path[:-1]:
        if not isinstance(tree.get(key), dict):
            tree[key] = {}
        tree = tree[key]
    tree[path[-1]] = copy.deepcopy(value)


def _operand_value(draw, files, cluster, _):
    field, values = draw.choice(POD)
    _put(_spec(files, cluster)["stack"], ("values", draw.choice(OPERANDS), field), draw.choice(values))


def _value_for_all(draw, files, cluster, _):
    path, values = draw.choice(FOR_ALL)
    _put(_spec(files, cluster)["stack"], ("values", *path), draw.choice(values))


def _no_value(draw, files, cluster, _):
    values = _spec(files, cluster)["stack"].get("values") or {}
    if values:
        del values[draw.choice(sorted(values))]


def _release(draw, files, cluster, _):
    _spec(files, cluster)["stack"]["release"] = draw.choice(RELEASES)


def _of_pool(*path, values):
    def edit(draw, files, cluster, _):
        _put(files[draw.choice(_pools(files, cluster))]["spec"], path, draw.choice(values))

    return edit


def _add_pool(draw, files, cluster, _):
    body = copy.deepcopy(files[draw.choice(_pools(files, cluster))])
    body["metadata"]["name"] = "added"
    files[f"profiles/{cluster}/added.yaml"] = body


def _remove_pool(draw, files, cluster, _):
    pools = _pools(files, cluster)
    if len(pools) > 1:
        del files[draw.choice(pools)]


def _rename_pool(draw, files, cluster, renamed):
    path = draw.choice(_pools(files, cluster))
    body = files.pop(path)
    old = body["metadata"]["name"]
    body["metadata"]["name"] = f"{old[:20]}-new"
    if old not in renamed.values():
        renamed[old] = body["metadata"]["name"]
    files[f"profiles/{cluster}/{body['metadata']['name']}.yaml"] = body


def _mode(draw, files, cluster, _):
    _spec(files, cluster)["stack"]["driverMode"] = draw.choice(("nvidia-driver", "cluster-policy"))


OF_CLUSTERS = (
    *([_of_pool("gpu", "mig", values=({"layout": "all-balanced"}, {"layout": "all-1g.10gb"}))] * 3),
    _of_pool("workload", values=("vm-passthrough", "kata", "container")),
    _of_pool("driver", "source", values=("preinstalled",)),
    _of_pool("nic", values=("mellanox",)),
)
"""Of one pool, in what a cluster has only once."""
POOL_EDITS = (
    _of_pool("driver", "version", values=("580.126.20", "570.195.03", "595.91.07", "535")),
    _of_pool("driver", "source", values=("container", "precompiled", "preinstalled")),
    _of_pool("kernel", "release", values=("6.8.0-79-generic", "5.15.0-151-generic")),
    _of_pool("os", values=({"id": "ubuntu", "version": "24.04"}, {"id": "ubuntu", "version": "22.04"})),
    _of_pool("gpu", "mig", values=({"layout": "all-1g.10gb"}, {"layout": "all-balanced"}, None)),
    _of_pool("sharing", values=({"timeSlicing": {"replicas": 2}}, {"mps": {"replicas": 3}}, None)),
    _of_pool("runtime", values=({"name": "containerd", "version": "2.1"}, {"name": "cri-o", "version": "1.33"})),
    _of_pool("toolkit", "source", values=("preinstalled", "operator", "auto")),
    _of_pool("nodes", "taints", values=([{"key": "edited", "effect": "NoSchedule"}], [])),
    _of_pool("nodes", "count", values=(1, 9)),
    _of_pool("driver", "upgradePolicy", values=({"autoUpgrade": False}, {"maxParallelUpgrades": 5})),
    _of_pool("driver", "rdma", values=(True,)),
    _add_pool,
    _remove_pool,
    _rename_pool,
)
"""Of one pool; the cluster's own profile stays as it is."""
EDITS = (
    *([_operand_value] * 5),
    *([_value_for_all] * 5),
    _no_value,
    *([_release] * 2),
    *POOL_EDITS,
    _mode,
)
