"""Labels that people write on nodes for the operator: words that it does not know, and labels that nothing reads.

Source: NVIDIA/gpu-operator:controllers/state_manager.go, controllers/nodelabeling_controller.go; the names of operands
are those of the entries of operands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.message_text import did_you_mean, nearest
from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.record import record
from poolsmith.gpu.catalog.gpu_clusters import GpuClusterState, gpu_cluster_releases, read_gpu_cluster
from poolsmith.gpu.catalog.node_labels import (
    CC_MODE,
    CC_MODES,
    DEPLOY,
    DEPLOY_DRIVER,
    DEPLOY_MIG_MANAGER,
    DEPLOY_OPERANDS,
    DEVICE_PLUGIN_CONFIG,
    MIG_CONFIG,
    VGPU_CONFIG,
    WORKLOAD,
    WORKLOADS,
)
from poolsmith.gpu.catalog.operands import read_operands

if TYPE_CHECKING:
    from collections.abc import Iterator

_SWITCH = ("true", "false", "")
_PAUSED = "paused-"
"""What the driver manager writes for a while."""
_FAMILY = "nvidia.com/"
_RESOURCE = "nvidia.com/gpu"
"""What many call a label of their own, by which they select nodes."""
_READ = (WORKLOAD, MIG_CONFIG, DEVICE_PLUGIN_CONFIG, VGPU_CONFIG, CC_MODE)
_DISCOVERED = ("nvidia.com/gpu.", "nvidia.com/mig-", "nvidia.com/cuda.", "nvidia.com/vgpu.")
_WORK = "nvidia.com/gpu.work"
_PRESET = {DEPLOY_DRIVER: "pre-installed"}
"""What the documentation writes on nodes that have it already."""
_WRITTEN = (".state", ".capable", ".ready")
"""Ends of labels that software writes beside those that people do."""


@record(kw_only=False)
class LabelMistake:
    """What the value or the label does, and what to write. `is_dead`: nothing reads the label at all."""

    message: str
    help: str | None = None
    is_dead: bool = False


def label_mistake(key: str, value: str, release: str | None = None) -> LabelMistake | None:
    """None for what is known, or is nobody's of the operator. Without a `release` the names of all count."""
    if key == CC_MODE and value not in (*CC_MODES, ""):
        return LabelMistake(
            "which no CC manager knows: the GPUs keep their mode", did_you_mean(value.lower(), CC_MODES)
        )
    if key == WORKLOAD and value not in (*WORKLOADS, ""):
        return LabelMistake(
            "which no operator knows: they count as nodes for `container`", did_you_mean(value, WORKLOADS)
        )
    if key.startswith(DEPLOY):
        return _of_operand(key, value, release)
    if key.startswith(_FAMILY) and key not in (*_READ, _RESOURCE) and not key.endswith(_WRITTEN):
        meant = nearest(key, _READ)
        if meant is not None and not _is_written(key):
            return LabelMistake("which nothing of the operator reads", f"write `{meant}`", is_dead=True)
    return None


def _of_operand(key: str, value: str, release: str | None) -> LabelMistake | None:
    known = operand_labels(release)
    if known and key not in known:
        return LabelMistake("and no operand has such a label", did_you_mean(key, sorted(known)), is_dead=True)
    if value in (*_SWITCH, _PRESET.get(key)) or value.startswith(_PAUSED):
        return None
    meant = "true" if value.lower() in ("true", "yes", "on", "1", "enabled") else "false"
    if key == DEPLOY_OPERANDS:
        advice = f"write `{meant}` in quotes, or remove the label"
        return LabelMistake("and only `false` keeps the operands away", advice)
    advice = f"write `{_PRESET[key]}`" if key in _PRESET and meant == "false" else f"write `{meant}` in quotes"
    return LabelMistake("and the operand runs only where it is `true`", advice)


@remembered
def operand_labels(release: str | None) -> frozenset[str]:
    """The labels that decide which operands run on a node; of all releases for one that nobody knows."""
    entries = (release,) if release is not None and read_operands(release) is not None else store.names("operands")
    return frozenset((DEPLOY_OPERANDS, DEPLOY_MIG_MANAGER, *(DEPLOY + name for tag in entries for name in _names(tag))))


def _names(tag: str) -> Iterator[str]:
    entry = read_operands(tag)
    if entry is not None:
        yield from (name for names in entry.behaviour["nodeLabels"].values() for name in names)
        yield from entry.behaviour["kataLabels"]
    claims = read_gpu_cluster(tag) if tag in gpu_cluster_releases() else None
    yield from _selected(claims.states if claims is not None else ())


def _selected(node: Any) -> Iterator[str]:
    """Operands whose labels pods of a GPUCluster select by."""
    if isinstance(node, GpuClusterState):
        yield from _selected(node.objects)
    for key, below in node.items() if isinstance(node, dict) else ():
        if key.startswith(DEPLOY):
            yield key.removeprefix(DEPLOY)
        yield from _selected(below)
    for below in node if isinstance(node, (list, tuple)) else ():
        yield from _selected(below)


def _is_written(key: str) -> bool:
    """Whether software writes it; what begins like the workload is meant for the operator."""
    return (key.startswith(_DISCOVERED) and not key.startswith(_WORK)) or key in _written_labels()


@remembered
def _written_labels() -> frozenset[str]:
    return frozenset(
        key for entry in store.read_yaml("scheduling.yaml")["labelWriters"] for key in entry.get("keys", ())
    )
