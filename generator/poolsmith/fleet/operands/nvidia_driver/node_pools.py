"""Node pools of an NVIDIADriver, the names of the objects created for them, and what all expansions share.

The nodes of one pool share one DaemonSet: they have one operating system and, for precompiled drivers, one kernel. The
operator writes some texts into its manifests without quotes.

Source: NVIDIA/gpu-operator:internal/state/nodepool.go.
Source: NVIDIA/gpu-operator:internal/state/driver.go and internal/utils.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.source_file import tree_digest
from poolsmith.fleet.operands.kube import NotModelled, OperatorError, fnv32a
from poolsmith.gpu.catalog.node_labels import DRIVER_OWNER, GPU_PRESENT, KERNEL, OS_ID, OS_MAJOR, OS_VERSION
from poolsmith.gpu.catalog.releases import name_of_kernel
from poolsmith.gpu.drivers.driver_image import UnreadableVersionError, os_tag
from poolsmith.kubernetes.pods.well_known import SAFE_LETTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from poolsmith.fleet.operands.custom_resources import NvidiaDriver
    from poolsmith.fleet.operands.expansion import Node
    from poolsmith.fleet.operands.expansion_context import Context
    from poolsmith.fleet.operands.nvidia_driver.conflicts import Conflicts
    from poolsmith.gpu.catalog.operands import NvidiaDriverEntry


@record
class DriverPool:
    """`os_id` is the system as NFD names it, `os_tag` its part of image tags; a kernel for precompiled drivers only."""

    os_id: str
    os_tag: str
    node_selector: Mapping[str, str]
    kernel: str = ""
    kernel_name: str = ""
    """The kernel as a part of names."""

    @property
    def identity(self) -> list[Any]:
        """All of it, for a digest."""
        return [self.os_id, self.os_tag, self.node_selector, self.kernel, self.kernel_name]


def node_pools(
    driver: NvidiaDriver, nodes_of: Callable[[Mapping[str, str]], Sequence[Node]], entry: NvidiaDriverEntry
) -> list[DriverPool]:
    """The pools of a resource, by name, among the nodes that a selector selects. Raises OperatorError.

    Nodes whose system or kernel is not known are in none.
    """
    selector = {GPU_PRESENT: "true"}
    if entry.behaviour["owners"]:
        selector[DRIVER_OWNER] = driver.name
    selector |= driver.own_selector
    pools: dict[str, DriverPool] = {}
    for node in sorted(nodes_of(selector), key=lambda node: node.name):
        pool = _pool(driver, node, selector, entry)
        if pool is not None:
            pools.setdefault(f"{pool.os_tag}-{pool.kernel_name}", pool)
    if not pools and entry.behaviour["withoutPools"] == "error":
        raise OperatorError(f"no nodes matching the given node selector for {driver.name}")
    return [pools[key] for key in sorted(pools)]


def _pool(driver: NvidiaDriver, node: Node, selector: Mapping[str, str], entry: NvidiaDriverEntry) -> DriverPool | None:
    if OS_ID not in node.labels or OS_VERSION not in node.labels:
        return None
    os_id, version = node.labels[OS_ID], node.labels[OS_VERSION]
    try:
        tag = os_tag(os_id, version, entry.release)
    except UnreadableVersionError as error:
        raise OperatorError(
            f"failed to get node pools: failed to get OS info for node {node.name}: failed to parse os version: {error}"
        ) from None
    own = {**selector, OS_ID: os_id}
    if not entry.behaviour["selectsMajor"] or tag.endswith(version):
        own[OS_VERSION] = version
    elif OS_MAJOR in node.labels:
        own[OS_MAJOR] = node.labels[OS_MAJOR]
    else:
        return None
    if not driver.precompiled:
        return DriverPool(os_id=os_id, os_tag=tag, node_selector=own)
    kernel = node.labels.get(KERNEL)
    if kernel is None:
        return None
    name = name_of_kernel(kernel, entry.behaviour["architectures"])
    return DriverPool(os_id=os_id, os_tag=tag, node_selector=own, kernel=kernel, kernel_name=name)


_LABEL_LENGTH = 63
_NAME_LENGTH = 253


def hash_of(text: str) -> str:
    """FNV-1a of 32 bits, its decimal digits written with the letters that form no words."""
    return "".join(SAFE_LETTERS[ord(digit) % len(SAFE_LETTERS)] for digit in str(fnv32a(text.encode())))


def daemon_set_name(driver: NvidiaDriver, pool: DriverPool) -> str:
    """Type and operating system, then a hash over the resource and the kernel of precompiled drivers."""
    ending = "-" + hash_of(f"{driver.identity}-{pool.kernel}" if pool.kernel else driver.identity)
    return f"nvidia-{driver.kind}-driver-{pool.os_tag}"[: _LABEL_LENGTH - len(ending)] + ending


def account_name(driver: NvidiaDriver, pool: DriverPool) -> str:
    """The service account of a pool's pods, and all roles of it."""
    title = "vgpu-manager" if driver.manages_vgpus else f"{driver.kind}-driver"
    return f"nvidia-{title}-{driver.name}-{pool.os_tag}"[:_NAME_LENGTH]


_LEADING = pattern(r"[,\[\]{}#&*!|>'\"%@`]|[-?:](?:\s|$)")
_WITHIN = pattern(r":(?:\s|$)|\s#|[\x00-\x1f\x7f]")
_NO_TEXT = pattern(
    r"|~|<<|=|null|Null|NULL|[yYnN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|true|True|TRUE|false|False|FALSE"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|---|\.\.\."
    r"|[-+]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|[0-9][0-9_]*+(?::[0-9_]++)*+)"
    r"|[-+]?(?:[0-9][0-9_]*+(?:\.[0-9_]*+)?|\.[0-9][0-9_]*+)(?:[eE][-+]?[0-9]++)?(?::[0-9.]++)*+"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*"
)


def plain(text: str) -> str:
    """The text, where YAML reads just that. Raises NotModelled where it would read something else."""
    if text == text.strip() and not (_LEADING.match(text) or _WITHIN.search(text) or _NO_TEXT.fullmatch(text)):
        return text
    raise NotModelled(f"a text that means something else in YAML without quotes: {text!r}")


@record(slots=False)
class DriverRequest:
    """`drivers` are in the order of their names. `environment` holds the operator's own variables; None: not told."""

    context: Context
    entry: NvidiaDriverEntry
    drivers: tuple[NvidiaDriver, ...]
    conflicts: Conflicts
    gpu_cluster: bool = False
    environment: Mapping[str, str] | None = None

    @property
    def behaviour(self) -> Mapping[str, Any]:
        return self.entry.behaviour

    @cached_property
    def surroundings(self) -> bytes:
        """All that pools of any resource are made of besides the resource and its nodes."""
        return tree_digest([self.context.surroundings, self.gpu_cluster, self.environment])
