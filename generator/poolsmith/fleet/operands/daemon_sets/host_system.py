"""What the operating system decides about a driver container: folders for packages and certificates, subscriptions."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from poolsmith.fleet.operands.kube import NotModelled, OperatorError
from poolsmith.fleet.operands.node_system import cluster_os_tag
from poolsmith.gpu.catalog.node_labels import OS_ID

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.operands.context import Context

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


def reads_host_modules(context: Context) -> bool:
    """Whether a precompiled driver of a ClusterPolicy reads the kernel modules of the host."""
    systems = context.behaviour["hostModules"]
    return bool(systems) and system_id(context) in systems


@contextmanager
def told(what: str) -> Iterator[None]:
    """The operator's words where a system has no folder. Raises OperatorError."""
    try:
        yield
    except OperatorError as error:
        raise OperatorError(f"ERROR: failed to get destination directory for {what}: {error}") from None


def _folder(kind: str, context: Context) -> str:
    found: str | None = context.behaviour[kind].get(system_id(context))
    if found is None:
        tag = cluster_os_tag(context)
        raise OperatorError(context.behaviour["folderErrors"][kind].replace("{tag}", tag))
    return found
