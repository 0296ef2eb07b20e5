"""What a prediction says in the generated files."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.fleet.operands.expansion import KubernetesObject


@record
class Predicted:
    """What a plan comes to, as text without headers; clusters that are installed alike have the same."""

    ledger: str
    images: str
    workloads: str
    summary: str
    """A table for the README."""
    order: str = ""
    """Another one: what waits for what."""
    unknown: tuple[str, ...] = ()
    toolkit_overlays: Mapping[str, tuple[KubernetesObject, ...]] = field(default_factory=dict)
    """What pools with a toolkit of their own get, by pool."""
