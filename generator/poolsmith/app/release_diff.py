"""Use case: what a default installation may do more, and less, with another release. Floor: app."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from poolsmith.app.ledger import changes_json, check_names, kept
from poolsmith.app.set_values import refuse_unsound, set_all
from poolsmith.catalog.charts import read_chart
from poolsmith.catalog.operands import operand_releases
from poolsmith.catalog.versions import version_key
from poolsmith.diagnostics import UsageError
from poolsmith.diagnostics.suggest import did_you_mean
from poolsmith.model.expansion import Node
from poolsmith.model.ledger_delta import LedgerDelta, delta
from poolsmith.operands.installation import InstallationInput, install
from poolsmith.operands.privileges.build import ledger_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poolsmith.app.ledger import LedgerFilter
    from poolsmith.model.ledger import Ledger

_CHART = "gpu-operator"
_LABELS = {
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/os": "linux",
    "feature.node.kubernetes.io/pci-10de.present": "true",
    "feature.node.kubernetes.io/kernel-version.full": "5.15.0-105-generic",
    "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
    "feature.node.kubernetes.io/system-os_release.VERSION_ID": "22.04",
    "feature.node.kubernetes.io/system-os_release.VERSION_ID.major": "22",
    "feature.node.kubernetes.io/system-os_release.VERSION_ID.minor": "04",
}
_NODES = {
    "container": {
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
        "nvidia.com/mig.capable": "true",
        "nvidia.com/mps.capable": "true",
    },
    "vm-passthrough": {"nvidia.com/gpu.workload.config": "vm-passthrough"},
    "vm-vgpu": {"nvidia.com/gpu.workload.config": "vm-vgpu"},
}
"""A node of each workload, with what operands are scheduled by; none is capable of confidential computing."""

_OFF_BY_DEFAULT = (
    "sandboxWorkloads.enabled=true",
    "vgpuManager.enabled=true",
    "vgpuManager.repository=registry.example.com",
    "vgpuManager.image=vgpu-manager",
    "vgpuManager.version=550",
    "ccManager.enabled=true",
    "dcgm.enabled=true",
    "nodeStatusExporter.enabled=true",
    "gdrcopy.enabled=true",
    "gds.enabled=true",
    "driver.useOpenKernelModules=true",
    "driver.rdma.enabled=true",
)
"""Values that bring what a default installation does not have; the vGPU manager's image is the user's own."""


@dataclass(frozen=True, slots=True)
class ReleaseChanges:
    """The changes of one installation; `unknown` is what can't be told of one of the two releases."""

    title: str
    settings: tuple[str, ...]
    changes: LedgerDelta
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReleaseDiff:
    """Parts: a default installation, then what those bring that are off by default; or one, with the user's values."""

    before: str
    after: str
    pools: tuple[str, ...]
    parts: tuple[ReleaseChanges, ...]


def release_diff(before: str, after: str, chosen: LedgerFilter, settings: Sequence[str] = ()) -> ReleaseDiff:
    """Of `settings` on top of each chart's defaults.

    Raises UsageError for a release that is not known, a value that neither reads, and names that nothing has.
    """
    compared = [_compared("a default installation", before, after, settings)]
    if settings:
        refuse_unsound(_values(settings), {}, (after, before))
    else:
        compared.append(_compared("what is off by default", before, after, _OFF_BY_DEFAULT))
    check_names(chosen, _NODES, [ledger for item in compared for ledger in (item.old, item.new)])
    parts = [item.changes(chosen) for item in compared]
    known = set(parts[0].changes.changes)
    for index, part in enumerate(parts[1:], 1):
        rest = tuple(change for change in part.changes.changes if change not in known)
        parts[index] = replace(part, changes=LedgerDelta(rest, part.changes.unknown))
    return ReleaseDiff(before, after, tuple(_NODES), tuple(parts))


def release_diff_json(result: ReleaseDiff) -> str:
    """The machine-readable difference, version 1."""
    body = {
        "version": 1,
        "from": result.before,
        "to": result.after,
        "parts": [
            {
                "title": part.title,
                "values": list(part.settings),
                "changes": changes_json(part.changes),
                "unknown": list(part.unknown),
            }
            for part in result.parts
        ],
    }
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


@dataclass(frozen=True, slots=True)
class _Compared:
    """The whole ledgers of one installation with the one release and with the other."""

    title: str
    settings: tuple[str, ...]
    old: Ledger
    new: Ledger
    unknown: tuple[str, ...]

    def changes(self, chosen: LedgerFilter) -> ReleaseChanges:
        difference = delta(kept(self.old, chosen), kept(self.new, chosen))
        return ReleaseChanges(self.title, self.settings, difference, self.unknown)


def _compared(title: str, before: str, after: str, settings: Sequence[str]) -> _Compared:
    values = _values(settings)
    (old, old_unknown), (new, new_unknown) = (_ledger(release, values) for release in (before, after))
    return _Compared(title, tuple(settings), old, new, tuple(dict.fromkeys((*old_unknown, *new_unknown))))


def _values(settings: Sequence[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    set_all(values, settings)
    return values


def _ledger(release: str, values: dict[str, Any]) -> tuple[Ledger, tuple[str, ...]]:
    chart = read_chart(_CHART, release)
    if release not in operand_releases() or chart is None:
        known = sorted(operand_releases(), key=version_key, reverse=True)
        raise UsageError(f"the operands of release `{release}` are not in the catalog; {did_you_mean(release, known)}")
    nodes = tuple(
        Node(name=name, labels=_LABELS | labels, runtime="containerd://2.1.4") for name, labels in _NODES.items()
    )
    given = InstallationInput(release=release, namespace=_CHART, nodes=nodes, values=values, chart=chart)
    installation = install(given)
    if installation.errors:
        raise UsageError(f"{release}: {installation.errors[0]}")
    ledger = ledger_of(installation.objects, {node.name: (node,) for node in installation.nodes})
    return ledger, tuple(f"{release}: {item}" for item in (*installation.unknown, *ledger.unknown))
