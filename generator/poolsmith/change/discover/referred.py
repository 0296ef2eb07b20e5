"""What nodes and the custom resource refer to by name: configurations of the device plugin, layouts of MIG and vGPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.discover.pools import Beside
from poolsmith.core.sources.nested import value_at
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.kubernetes.live.resources import CC_RUNTIMES, CONFIG_MAPS, DAEMON_SETS, DEPLOYMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.discover.stack import Stack
    from poolsmith.kubernetes.live.snapshot import KubernetesObject, Snapshot

_SHIPPED = ("default-mig-parted-config", "default-gpu-clients", "vgpu-devices-config", "default-vgpu-devices-config")
"""Layouts of the operator's own: a profile names them. Source: NVIDIA/gpu-operator, assets."""
_LARGEST = 1 << 18
_KATA = ("kata-deploy", "cc-operator-daemon-install", "nvidia-kata-manager")


def referred(snapshot: Snapshot, stack: Stack, layouts: frozenset[str]) -> Beside:
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
