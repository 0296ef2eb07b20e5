"""What the operating system decides about a driver container: folders for packages and certificates, subscriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.catalog.node_labels import OS_ID
from poolsmith.operands.kube import NotModelled, OperatorError

if TYPE_CHECKING:
    from poolsmith.operands.context import Context

UNKNOWN_OPERATOR_HOST = "/etc/os-release of the node that runs the operator, which this release goes by"


def system_id(context: Context) -> str:
    """The id that a release goes by: of the node that runs the operator, or of the first GPU node."""
    if context.behaviour["osFacts"] == "gpu-node":
        return context.gpu_nodes[0].labels.get(OS_ID, "")
    if context.os_release is None:
        raise NotModelled(UNKNOWN_OPERATOR_HOST)
    return context.os_release.get("ID", "")


def package_folder(context: Context) -> str:
    """Where a repository configuration goes. Raises OperatorError."""
    return _folder("packageFolders", context)


def certificate_folder(context: Context) -> str:
    """Where certificates go. Raises OperatorError."""
    return _folder("certificateFolders", context)


def subscriptions(context: Context) -> list[tuple[str, str, str]]:
    """Mount path, host path and hostPath type of each of the host's package subscriptions."""
    known = context.behaviour["subscriptions"]
    if context.os_release is None and not any(node.labels.get(OS_ID) in known for node in context.nodes):
        return []
    system = system_id(context)
    rule = known.get(system)
    if rule is None or (rule["offCrio"] and context.runtime == "crio"):
        return []
    own = context.spec.text("driver", "repoConfig", "configMapName")
    if own and system in context.behaviour["repoConfigReplaces"]:
        return []
    return [(inside, *source.split(" ", 1)) for inside, source in sorted(rule["paths"].items())]


def check_host_modules(context: Context) -> None:
    """Raises NotModelled where a precompiled driver gets files of the host that no recorded run shows."""
    systems = context.behaviour["hostModules"]
    if systems and system_id(context) in systems:
        raise NotModelled("/lib/modules of the host, which this release mounts for precompiled drivers on SUSE")


def _folder(kind: str, context: Context) -> str:
    found: str | None = context.behaviour[kind].get(system_id(context))
    if found is None:
        raise OperatorError("distribution not supported")
    return found
