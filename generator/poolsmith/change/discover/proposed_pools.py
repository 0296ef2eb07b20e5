"""Proposed profile fields of a pool, from its nodes and the objects they refer to; what is unknown becomes a question.

The objects that nodes and the custom resource name are the device plugin's configurations and the layouts of MIG and
vGPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.core.sources.pointer import value_at
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.fleet.plan.sharing.mig_geometry import UNIFORM
from poolsmith.gpu.catalog.live_resources import CC_RUNTIMES
from poolsmith.gpu.catalog.node_labels import matches
from poolsmith.kubernetes.live.api_resources import CONFIG_MAPS, DAEMON_SETS, DEPLOYMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.discover.gpu_nodes import GpuNode, NodeGroup
    from poolsmith.change.discover.stack import DiscoveredStack
    from poolsmith.gpu.catalog.gpus import Gpus
    from poolsmith.kubernetes.live.snapshot import KubernetesObject, Snapshot


FieldPath = tuple[str, ...]
_SANDBOXED = ("vm-passthrough", "vm-vgpu")
_VGPU = pattern(r"nvidia\.com/NVIDIA_([A-Za-z0-9]{1,20})-\d{1,3}[QCAB]")
"""A vGPU type, as its resource is called. Source: kubevirt.io user guide, mediated devices."""
_ORDINARY, _SEALABLE = "NVIDIA-L40S", "NVIDIA-H100-80GB-HBM3"
_ALIASES = ("gpu", "pgpu", "cc_gpu")
"""Resources that name no model. Source: NVIDIA/k8s-device-plugin; NVIDIA/sandbox-device-plugin, P_GPU_ALIAS."""


@record(kw_only=False)
class SeenPools:
    """A field below `spec` with its value, and where it was seen: `nodes` of the pool say so, 0 for another object."""

    path: FieldPath
    value: Any
    where: str
    nodes: int = 0


@record(kw_only=False)
class PoolQuestion:
    """A field that nothing tells. `guess` stands in the profile until somebody answers."""

    path: FieldPath
    guess: Any
    why: str


@record
class Beside:
    """What nodes refer to: configurations of the device plugin by key, layouts of MIG and vGPU by name, each with
    where it stands; whether Kata is installed."""

    plugin: Mapping[str, tuple[dict[str, Any], str]]
    default_plugin: str
    mig: Mapping[str, tuple[list[dict[str, Any]], str]]
    vgpu: Mapping[str, tuple[list[dict[str, Any]], str]]
    has_kata: bool = False
    has_domains: bool = False
    """The DRA driver serves ComputeDomains: NVLink over several nodes."""


def fields_of(group: NodeGroup, beside: Beside, gpus: Gpus) -> Iterator[SeenPools | PoolQuestion]:
    """Each field once."""
    yield from _systems(group)
    yield from _plain(group, "arch", ("arch",), "amd64")
    yield from _runtime(group)
    yield from _gpus(group, gpus, beside)
    if beside.has_domains and any(_is_of_many_nodes(product, gpus) for product in group.values("product")):
        yield SeenPools(("gpu", "multiNodeNvlink"), True, "GPUCluster: draDriver.computeDomains.enabled")
    yield from _taints(group)
    yield SeenPools(("nodes", "count"), len(group.nodes), "nodes", len(group.nodes))
    workload = _workload(group, beside)
    if workload is not None:
        yield workload
        if workload.value == "kata-confidential":
            yield from _confidential(group)
    if workload is None:
        yield from _mig(group, beside)
        yield from _sharing(group, beside)
    elif workload.value == "vm-vgpu":
        yield from _layout(group, "vgpu", beside.vgpu, _vgpu_devices)
    if group.in_all("feature.node.kubernetes.io/pci-15b3.present"):
        yield SeenPools(("nic",), "mellanox", group.where("mellanox"), len(group.nodes))


def is_sandboxed(group: NodeGroup) -> bool:
    return any(value in _SANDBOXED for value in group.values("workload"))


def has_own_driver(group: NodeGroup) -> SeenPools | None:
    """The driver is on the hosts: nobody puts one there."""
    found = group.values("driver.deploy")
    if found and set(found) <= {"pre-installed", "false"}:
        return SeenPools(("driver", "source"), "preinstalled", group.where("driver.deploy"), sum(found.values()))
    return None


def driver_version(group: NodeGroup) -> SeenPools | None:
    return _commonest(group, "driver", ("driver", "version"))


def driver_of(group: NodeGroup, drivers: tuple[KubernetesObject, ...]) -> KubernetesObject | None:
    """The NVIDIADriver that selects all of its nodes; the one with the narrowest selector."""
    fitting = []
    for body in drivers:
        selector = mapping(mapping(body.get("spec")).get("nodeSelector"))
        if all(matches(node.labels, selector) for node in group.nodes):
            fitting.append((len(selector), str(body["metadata"]["name"]), body))
    return max(fitting, key=lambda row: (row[0], row[1]))[2] if fitting else None


def _systems(group: NodeGroup) -> Iterator[SeenPools | PoolQuestion]:
    called = next(iter(group.values("os.image")), "")
    why = f"the kubelet calls it `{called}`, which poolsmith does not know" if called else "no node says it"
    yield from _plain(group, "os.id", ("os", "id"), None, guess="ubuntu", why=why)
    for what, one, many, guess in (
        ("os.version", ("os", "version"), ("os", "versions"), "24.04"),
        ("kernel", ("kernel", "release"), ("kernel", "releases"), None),
    ):
        found = group.values(what)
        total = sum(found.values())
        if len(found) > 1 and not (what == "kernel" and len(group.values("os.version")) > 1):
            yield SeenPools(many, sorted(found), group.where(what), total)
        elif found:
            value, witnesses = next(iter(found.items()))
            yield SeenPools(one, value, group.where(what), witnesses)
        elif guess is not None:
            yield PoolQuestion(one, guess, "no node says it: neither Node Feature Discovery nor nodeInfo.osImage")


def _commonest(group: NodeGroup, what: str, path: FieldPath) -> SeenPools | None:
    for value, witnesses in group.values(what).items():
        return SeenPools(path, value, group.where(what), witnesses)
    return None


def _plain(
    group: NodeGroup,
    what: str,
    path: FieldPath,
    default: str | None,
    guess: str | None = None,
    why: str = "no node says it",
) -> Iterator[SeenPools | PoolQuestion]:
    found = group.values(what)
    if found and next(iter(found)) != default:
        yield SeenPools(path, next(iter(found)), group.where(what), next(iter(found.values())))
    elif not found and guess is not None:
        yield PoolQuestion(path, guess, why)


def _runtime(group: NodeGroup) -> Iterator[SeenPools | PoolQuestion]:
    yield from _plain(group, "runtime", ("runtime", "name"), None, guess="containerd")
    if (version := _commonest(group, "runtime.version", ("runtime", "version"))) is not None:
        yield version


def _gpus(group: NodeGroup, gpus: Gpus, beside: Beside) -> Iterator[SeenPools | PoolQuestion]:
    product, count = _commonest(group, "product", ("gpu", "product")), group.values("count")
    resource = next((found for node in group.nodes if (found := _passed_through(node, gpus)) is not None), None)
    path = ("gpu", "product")
    if product is not None:
        yield product
    elif resource is not None:
        yield SeenPools(path, resource[0], f"capacity {resource[1]}", 1)
    else:
        yield PoolQuestion(
            path, _guessed(group, gpus, beside), "no node says it: GPU feature discovery does not run there"
        )
    path = ("gpu", "count")
    whole = {node.capacity["nvidia.com/gpu"] for node in group.nodes if "nvidia.com/gpu" in node.capacity}
    if count:
        value, witnesses = next(iter(count.items()))
        yield SeenPools(path, _number(value), group.where("count"), witnesses)
    elif resource is not None and resource[2]:
        yield SeenPools(path, _number(resource[2]), f"capacity {resource[1]}", 1)
    elif (alias := _aliased(group)) is not None:
        yield SeenPools(path, alias[1], f"capacity nvidia.com/{alias[0]}", 1)
    elif len(whole) == 1 and not _is_divided(group, beside) and (number := _number(whole.pop())):
        yield SeenPools(path, number, "capacity nvidia.com/gpu", len(group.nodes))
    else:
        yield PoolQuestion(path, _named_gpus(group, beside), "no node says how many GPUs it has")


def _guessed(group: NodeGroup, gpus: Gpus, beside: Beside) -> str:
    """A GPU that can do what the nodes are set to: be sealed, or be cut into their slices."""
    layout = next(iter(group.values("mig")), "")
    rows, _ = beside.mig.get(layout, ([], ""))
    slices = {str(name) for row in rows for name in mapping(row.get("mig-devices"))}
    if (uniform := UNIFORM.match(layout)) is not None:
        slices.add(uniform["profile"])
    grace = "arm64" in group.values("arch")
    if layout:
        of_host = (item for item in gpus.entries if (item.processor is not None) is grace and item.mig is True)
        return next((item.product for item in of_host if slices <= {*item.mig_profiles}), _SEALABLE)
    return _SEALABLE if next(iter(group.values("cc")), "off") != "off" else _ORDINARY


def _is_divided(group: NodeGroup, beside: Beside) -> bool:
    """Whether what is advertised may be shares or slices: then its number is not that of GPUs."""
    config, _ = beside.plugin.get(beside.default_plugin, ({}, ""))
    return bool(group.values("sharing") or group.values("mig") or mapping(config.get("sharing")))


def _is_of_many_nodes(product: str, gpus: Gpus) -> bool:
    """Built together with the host's processor, as GB200, from Blackwell on: those are sold as NVL72."""
    entry = gpus.find(product)
    return entry is not None and entry.processor is not None and entry.architecture == "blackwell"


def _passed_through(node: GpuNode, gpus: Gpus) -> tuple[str, str, str] | None:
    """Product, resource and number of the one resource that names a model."""
    for key, value in sorted(node.capacity.items()):
        if key in gpus.by_resource and _number(value) and key.partition("/")[2] not in _ALIASES:
            return gpus.by_resource[key], key, value
        if (found := _VGPU.fullmatch(key)) and (entry := gpus.find(found[1])) is not None:
            return entry.product, key, ""
    return None


def _aliased(group: NodeGroup) -> tuple[str, int] | None:
    for alias in _ALIASES[1:]:
        for node in group.nodes:
            if (number := _number(node.capacity.get(f"nvidia.com/{alias}", ""))) is not None:
                return alias, number
    return None


def _named_gpus(group: NodeGroup, beside: Beside) -> int:
    """As many as a layout of the nodes names, else one."""
    kinds = (("vgpu", beside.vgpu), ("mig", beside.mig))
    rows = [row for what, of in kinds for row in of.get(next(iter(group.values(what)), ""), ([], ""))[0]]
    named = [item for row in rows for item in (row["devices"] if isinstance(row.get("devices"), list) else ())]
    return max([0, *(item for item in named if isinstance(item, int) and item < 1 << 8)]) + 1


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() and 0 < int(text) < 1 << 16 else None


def _taints(group: NodeGroup) -> Iterator[SeenPools]:
    """Those that all nodes have, in the order in which the first has them."""
    first, *others = group.nodes
    common = [taint for taint in first.taints if all(taint in node.taints for node in others)]
    if common:
        value = [{"key": key, **({"value": worth} if worth else {}), "effect": effect} for key, worth, effect in common]
        yield SeenPools(("nodes", "taints"), value, "spec.taints", len(group.nodes))


def _workload(group: NodeGroup, beside: Beside) -> SeenPools | None:
    found = next(iter(group.values("workload")), None)
    if found not in _SANDBOXED:
        return None
    mode, total = group.values("cc"), len(group.nodes)
    if found == "vm-passthrough" and (group.values("kata") or beside.has_kata):
        if next(iter(mode), "off") not in ("off", ""):
            return SeenPools(("workload",), "kata-confidential", group.where("cc"), total)
        if "true" in group.values("kata"):
            return SeenPools(("workload",), "kata", group.where("kata"), total)
    return SeenPools(("workload",), found, group.where("workload"), total)


def _confidential(group: NodeGroup) -> Iterator[SeenPools | PoolQuestion]:
    tee, mode = next(iter(group.values("tee")), None), next(iter(group.values("cc")), "on")
    if tee is None:
        yield PoolQuestion(("sandbox", "tee"), "snp", "no node says what protects it")
    else:
        yield SeenPools(("sandbox", "tee"), tee, group.where("tee"), len(group.nodes))
    if mode != "on":
        yield SeenPools(("sandbox", "ccMode"), mode, group.where("cc"), len(group.nodes))
    if mode == "ppcie" and (alias := _aliased(group)) is not None:  # all GPUs of a node go to one pod
        yield SeenPools(("sandbox", "gpusPerPod"), alias[1], f"capacity nvidia.com/{alias[0]}", 1)


def _mig(group: NodeGroup, beside: Beside) -> Iterator[SeenPools]:
    yield from _layout(group, "mig", beside.mig, _mig_devices)


def _layout(group: NodeGroup, what: str, own: Mapping[str, Any], devices: Any) -> Iterator[SeenPools]:
    found = next(iter(group.values(what)), None)
    if found is None:
        return
    yield SeenPools(("gpu", what, "layout"), found, group.where(what), len(group.nodes))
    if found in own:
        rows, where = own[found]
        if converted := [devices(row) for row in rows]:
            yield SeenPools(("gpu", what, "devices"), converted, where)


def _mig_devices(row: dict[str, Any]) -> dict[str, Any]:
    on = row.get("mig-enabled") is not False
    made = {"devices": row.get("devices", "all")}
    return made | ({"migDevices": row.get("mig-devices") or {}} if on else {"migEnabled": False})


def _vgpu_devices(row: dict[str, Any]) -> dict[str, Any]:
    return {"devices": row.get("devices", "all"), "vgpuDevices": row.get("vgpu-devices") or {}}


def _sharing(group: NodeGroup, beside: Beside) -> Iterator[SeenPools]:
    name = next(iter(group.values("sharing")), beside.default_plugin)
    if name not in beside.plugin:
        return
    config, where = beside.plugin[name]
    sharing = mapping(config.get("sharing"))
    for kind, field in (("timeSlicing", "timeSlicing"), ("mps", "mps")):
        given = mapping(sharing.get(kind))
        rows = [(word(row.get("name")), row.get("replicas")) for row in mappings(given.get("resources"))]
        if not rows:
            continue
        made: dict[str, Any] = {}
        if len(rows) == 1:
            if rows[0][0] != "nvidia.com/gpu":
                made["resource"] = rows[0][0]
            made["replicas"] = rows[0][1]
        else:
            made["resources"] = [{"resource": resource, "replicas": replicas} for resource, replicas in rows]
        if given.get("renameByDefault") is True:
            made["renameByDefault"] = True
        if given.get("failRequestsGreaterThanOne") is True:
            made["failRequestsGreaterThanOne"] = True
        yield SeenPools(("sharing", field), made, where)


_SHIPPED = ("default-mig-parted-config", "default-gpu-clients", "vgpu-devices-config", "default-vgpu-devices-config")
"""Layouts of the operator's own: a profile names them. Source: NVIDIA/gpu-operator, assets."""
_LARGEST = 1 << 18
_KATA = ("kata-deploy", "cc-operator-daemon-install", "nvidia-kata-manager")


def referred(snapshot: Snapshot, stack: DiscoveredStack, layouts: frozenset[str]) -> Beside:
    """`layouts` are those of MIG that the release brings: a profile names them."""
    maps = {
        str(body["metadata"]["name"]): body
        for body in snapshot.items(CONFIG_MAPS)
        if body["metadata"].get("namespace") == stack.namespace
    }
    spec = mapping((stack.object or {}).get("spec"))
    plugin = word(value_at(spec, ("devicePlugin", "config", "name"))) or _hand_installed(snapshot, maps)
    mig = word(value_at(spec, ("migManager", "config", "name")))
    vgpu = word(value_at(spec, ("vgpuDeviceManager", "config", "name")))
    return Beside(
        plugin={key: (config, where) for key, config, where in _documents(maps, plugin)},
        default_plugin=word(value_at(spec, ("devicePlugin", "config", "default"))) or "",
        mig={name: row for name, row in _layouts(maps, mig, "mig-configs").items() if name not in layouts},
        vgpu=_layouts(maps, vgpu, "vgpu-configs"),
        has_kata=bool(snapshot.items(CC_RUNTIMES))
        or any(
            str(body["metadata"]["name"]).startswith(_KATA)
            for resource in (DAEMON_SETS, DEPLOYMENTS)
            for body in snapshot.items(resource)
        ),
        has_domains=value_at(spec, ("draDriver", "computeDomains", "enabled")) is True,
    )


def _hand_installed(snapshot: Snapshot, maps: dict[str, KubernetesObject]) -> str | None:
    """What the DaemonSet of the device plugin's own chart mounts."""
    for body in snapshot.items(DAEMON_SETS):
        if "device-plugin" in str(body["metadata"]["name"]):
            volumes = value_at(body, ("spec", "template", "spec", "volumes"))
            for volume in mappings(volumes):
                name = word(mapping(volume.get("configMap")).get("name"))
                if name in maps:
                    return name
    return None


def _documents(maps: dict[str, KubernetesObject], name: str | None) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Each key of a ConfigMap that holds YAML."""
    body = maps.get(name or "")
    for key, text in mapping(mapping(body).get("data")).items():
        if not isinstance(text, str) or len(text) > _LARGEST:
            continue
        try:
            found = read_documents(text)
        except Exception:  # noqa: BLE001, S112 - a key that is no YAML configures nothing
            continue
        for document in found[:1]:
            if isinstance(document, dict):
                yield str(key), document, f"ConfigMap/{name} in {mapping(body)['metadata']['namespace']}: {key}"


def _layouts(
    maps: dict[str, KubernetesObject], name: str | None, field: str
) -> dict[str, tuple[list[dict[str, Any]], str]]:
    if name is None or name in _SHIPPED:
        return {}
    found = {}
    for _, document, where in _documents(maps, name):
        for layout, rows in mapping(document.get(field)).items():
            found[str(layout)] = (list(mappings(rows)), where)
    return found
