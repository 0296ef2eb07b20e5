"""Whether driver pods that change would install the same driver as before: the operator then restarts them in place.

It compares a digest of what the driver is installed from, and of nothing else. Source: NVIDIA/gpu-operator@v26.7.0:
internal/config/driver_config_digest.go, controllers/object_controls.go (extractDriverInstallConfig), internal/state/
driver.go (buildDriverInstallConfig), internal/predicates/restart_only.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.diff.driver_pods import OBJECT
from poolsmith.core.sources.nested import value_at
from poolsmith.core.sources.pod_template import CONTAINER_FIELDS, mapping, mappings, pod_template_of
from poolsmith.gpu.catalog.nvidia_drivers import DRIVER_DIGEST
from poolsmith.gpu.catalog.operator_behaviour import behaviour_at

if TYPE_CHECKING:
    from poolsmith.change.diff.rolled_workload import RolledWorkload
    from poolsmith.change.review.change import SeenCluster

_MAIN = "nvidia-driver-ctr"
_WITH_ENV = (_MAIN, "k8s-driver-manager", "nvidia-fs-ctr", "nvidia-gdrcopy-ctr")
_OF_OBJECT = (
    ("driverType",),
    ("kernelModuleType",),
    ("args",),
    ("secretEnv",),
    ("env",),
    ("manager", "env"),
    ("licensingConfig", "secretName"),
    ("virtualTopologyConfig", "name"),
    ("kernelModuleConfig", "name"),
    ("repoConfig", "name"),
    ("certConfig", "name"),
    ("rdma", "enabled"),
    ("rdma", "useHostMofed"),
    ("gds", "enabled"),
    ("gds", "env"),
    ("gdrcopy", "enabled"),
    ("gdrcopy", "env"),
    ("usePrecompiled",),
)
"""Fields of an NVIDIADriver that are in its digest, besides images and volumes."""


def installs_the_same(old: RolledWorkload, new: RolledWorkload, before: SeenCluster, after: SeenCluster) -> bool:
    """Of one DaemonSet of driver pods before and after; never where the older release gave its pods no digest."""
    if not behaviour_at(before.prediction.installation.release)["driverConfigDigest"]:
        return False
    if not new.made.through.startswith(OBJECT):
        return _of_pods(old, everything=True) == _of_pods(new, everything=True)
    same_pods = _of_pods(old, everything=False) == _of_pods(new, everything=False)
    return same_pods and _of_object(before, old) == _of_object(after, new)


def _of_pods(workload: RolledWorkload, *, everything: bool) -> dict[str, Any]:
    """Images and volumes; of pods that no object describes also commands and variables, which are the whole truth."""
    pod = mapping(mapping(pod_template_of(workload.body)).get("spec"))
    found: dict[str, Any] = {
        "volumes": sorted(repr((item.get("name"), _source(item))) for item in mappings(pod.get("volumes")))
    }
    for field in CONTAINER_FIELDS:
        for container in mappings(pod.get(field)):
            name = str(container.get("name"))
            found[f"{name}.image"] = container.get("image")
            if name == _MAIN:
                found["mounts"] = sorted(repr(_mount(item)) for item in mappings(container.get("volumeMounts")))
            if everything and name == _MAIN:
                found["secrets"] = [
                    value_at(item, ("secretRef", "name")) for item in mappings(container.get("envFrom"))
                ]
                found["run"] = container.get("command"), container.get("args")
            if everything and name in _WITH_ENV:
                found[f"{name}.env"] = sorted(
                    (str(item.get("name")), str(item.get("value", "")))
                    for item in mappings(container.get("env"))
                    if "valueFrom" not in item and item.get("name") != DRIVER_DIGEST
                )
    return found


def _source(volume: dict[str, Any]) -> tuple[Any, ...]:
    paths = (("configMap", "name"), ("secret", "secretName"), ("hostPath", "path"))
    return tuple(value_at(volume, path) for path in paths)


def _mount(mount: dict[str, Any]) -> tuple[Any, ...]:
    return mount.get("name"), mount.get("mountPath"), mount.get("subPath") or "", mount.get("readOnly") or False


def _of_object(seen: SeenCluster, workload: RolledWorkload) -> list[str]:
    resources = seen.prediction.installation.resources
    through = workload.made.through
    spec: Any = next(
        (item["spec"] for item in resources if f"{item['kind']}/{item['metadata']['name']}" == through), {}
    )
    return [repr(value_at(spec, path)) for path in _OF_OBJECT]
