"""Make a release's entry for NVIDIADriver from the objects that the operator's own tests expect.

Facts only: what belongs to the tests' resources (names, images, resources, digests) is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.gpu.catalog.nvidia_drivers import DRIVER_DIGEST
from poolsmith.gpu.importing.operand_entry import operand_entry

if TYPE_CHECKING:
    from collections.abc import Mapping

MODULES = {"rdma": "nvidia-peermem-ctr", "gds": "nvidia-fs-ctr", "gdrcopy": "nvidia-gdrcopy-ctr"}
"""Files that show a container beside the driver, by what switches it on."""
_DRIVERS = {"driver": "minimal", "vgpu-host-manager": "vgpu-host-manager"}
CASES = (*_DRIVERS.values(), *MODULES)
"""The test cases that an entry is made from."""
_COMPONENT = "app.kubernetes.io/component"
_READ = ("labels", "updateStrategy", "podAnnotations")
_OF_THE_TEST = ("image", "resources")
_POD_OF_THE_TEST = ("serviceAccountName", "imagePullSecrets")


def nvidia_driver_entry(
    *, release: str, source: str, files: Mapping[str, bytes], overlay: Mapping[str, Any]
) -> dict[str, Any]:
    """The entry of one release.

    `files` maps the names of the test cases (`minimal`, `vgpu-host-manager`, `rdma`, `gds`, `gdrcopy`) to the objects
    expected there; `overlay` holds how the release behaves. Raises PoolsmithError.
    """
    missing = [case for case in CASES if case not in files]
    if missing:
        raise PoolsmithError(f"there is no driver-{missing[0]}.yaml")
    compact = operand_entry(
        release=release,
        source=source,
        files={f"{case}/driver-{case}.yaml": files[case] for case in CASES},
        overlay={"states": [{"name": case, "enabled": []} for case in CASES], "behaviour": overlay["behaviour"]},
    )
    objects = {state["name"]: state["objects"] for state in compact["states"]}
    modules = [_container(objects[case], container) for case, container in MODULES.items()]
    minimal = objects[_DRIVERS["driver"]]
    return {
        "release": release,
        "source": source,
        "behaviour": compact["behaviour"],
        "rules": {kind: _only(minimal, kind)["rules"] for kind in ("Role", "ClusterRole")},
        "configMaps": {item["name"]: item["keys"] for item in minimal if item["kind"] == "ConfigMap"},
        "daemonSets": {name: _daemon_set(case, objects[case], modules) for name, case in _DRIVERS.items()},
    }


def _daemon_set(case: str, objects: list[dict[str, Any]], modules: list[dict[str, Any]]) -> dict[str, Any]:
    """A driver with every container that may run beside it."""
    found = _only(objects, "DaemonSet")
    lacking = [key for key in _READ if key not in found]
    if lacking or _COMPONENT not in found["labels"]:
        raise PoolsmithError(f"driver-{case}.yaml: the DaemonSet has no {lacking[0] if lacking else _COMPONENT}")
    pod = {key: value for key, value in found["pod"].items() if key not in _POD_OF_THE_TEST}
    return {
        "component": found["labels"][_COMPONENT],
        "updateStrategy": found["updateStrategy"],
        "podAnnotations": found["podAnnotations"],
        "pod": pod,
        "init": [_bare(item) for item in found["init"]],
        "containers": [*(_bare(item) for item in found["containers"]), *modules],
        "volumes": found["volumes"],
    }


def _container(objects: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """A container beside the driver, without the files that the tests mount into it and the driver alike."""
    found = _only(objects, "DaemonSet")
    container = next((item for item in found["containers"] if item["name"] == name), None)
    if container is None:
        raise PoolsmithError(f"no container {name} is expected where it is switched on")
    bare = _bare(container)
    return {**bare, "mounts": [mount for mount in bare.get("mounts", ()) if not mount.startswith("test-")]}


def _bare(container: dict[str, Any]) -> dict[str, Any]:
    bare = {key: value for key, value in container.items() if key not in _OF_THE_TEST}
    if "env" in bare:
        bare["env"] = [words for words in bare["env"] if words[0] != DRIVER_DIGEST]
    return bare


def _only(objects: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    found = [item for item in objects if item["kind"] == kind]
    if len(found) != 1:
        raise PoolsmithError(f"{len(found)} objects of kind {kind} are expected, one has to be")
    return found[0]
