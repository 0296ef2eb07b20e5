"""Files out of ConfigMaps and Secrets that users bring for drivers."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from poolsmith.fleet.operands.kube import Container, OperatorError, Pod, add_volume, mount

if TYPE_CHECKING:
    from poolsmith.fleet.operands.context import Context


def mount_files(container: Container, name: str, folder: str, context: Context, what: str = "") -> list[str]:
    """Mount every file of a ConfigMap by itself into `folder`; the names of the files.

    Raises OperatorError, in the operator's words for `what` where the caller gives them.
    """
    found = context.existing("ConfigMap", name)
    if found is None:
        wrapper = f"ERROR: failed to create ConfigMap VolumeMounts for {what}: " if what else ""
        missing = f'ERROR: could not get ConfigMap {name} from client: configmaps "{name}" not found'
        raise OperatorError(wrapper + missing)
    files = sorted(found.get("data") or {})
    for file in files:
        mount(container, name, posixpath.join(folder, file), read_only=True, sub_path=file)
    return files


def add_files(pod: Pod, container: Container, name: str, folder: str, context: Context) -> None:
    """The same, with the volume."""
    files = mount_files(container, name, folder, context)
    items = [{"key": file, "path": file} for file in files]
    add_volume(pod, name, configMap={"name": name, **({"items": items} if items else {})})


def use_secret(container: Container, name: str, context: Context) -> None:
    """All keys of a Secret as variables. Raises OperatorError."""
    if context.existing("Secret", name) is None:
        raise OperatorError(f'ERROR: could not get Secret {name} from client: secrets "{name}" not found')
    container.setdefault("envFrom", []).append({"secretRef": {"name": name}})
