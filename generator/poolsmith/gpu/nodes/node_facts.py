"""What a node is and carries, with the place of each fact in the source that says it.

A fact holds all that its sources say, the one that counts first: the kubelet and Node Feature Discovery can disagree.
None at all means unknown, which no reader may take for a no.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.kubernetes.repository.node_template_marks import TaintMark

_NO_LABEL = pattern(r"[^-A-Za-z0-9_.]")


@record(kw_only=False)
class Told:
    """A value, and the JSON pointer at which its source says it; empty where that is not known."""

    value: str
    pointer: str = ""


@record(kw_only=False)
class System:
    """The operating system by one source: ID and VERSION_ID of /etc/os-release."""

    id: Told | None
    version: Told | None = None


@record
class NodeFacts:
    """One node, or all nodes that one description makes.

    `runtimes` are names as profiles have them. `products` are models of whole GPUs, and `slices` what stands in their
    place; then nobody says how many whole ones there are. `pci` are the devices that feature discovery found, as
    `10de` or `0302_10de`.
    """

    systems: tuple[System, ...] = ()
    kernels: tuple[Told, ...] = ()
    runtimes: tuple[Told, ...] = ()
    runtime_versions: tuple[Told, ...] = ()
    architectures: tuple[Told, ...] = ()
    kubelets: tuple[Told, ...] = ()
    products: tuple[Told, ...] = ()
    slices: tuple[Told, ...] = ()
    counts: tuple[Told, ...] = ()
    pci: tuple[Told, ...] = ()
    drivers: tuple[Told, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[TaintMark, ...] = ()
    startup_taints: tuple[TaintMark, ...] = ()

    @property
    def system_id(self) -> Told | None:
        return next((system.id for system in self.systems if system.id is not None), None)

    @property
    def system_version(self) -> Told | None:
        """Of the system that `system_id` names: another source's version is one of another system."""
        identity = self.system_id
        return next(
            (
                system.version
                for system in self.systems
                if system.version is not None
                and (system.id is None or (identity is not None and system.id.value == identity.value))
            ),
            None,
        )


def first(told: tuple[Told, ...]) -> str:
    """The value that counts; empty where nobody says one."""
    return told[0].value if told else ""


def value_of(told: Told | None) -> str:
    """The value; empty where nobody says one."""
    return "" if told is None else told.value


def kernel_label(release: str) -> str:
    """A kernel's release (`uname -r`) as Node Feature Discovery writes it on nodes: `el9_6.aarch64+64k` becomes
    `el9_6.aarch64_64k`. Source: kubernetes-sigs/node-feature-discovery:source/kernel/version.go, parseVersion."""
    return _NO_LABEL.sub("_", release).strip("-_.")


def one(value: str | None, pointer: str = "") -> tuple[Told, ...]:
    """A fact with one source, which says nothing by an empty value."""
    return (Told(value, pointer),) if value else ()
