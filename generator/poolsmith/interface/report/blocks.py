"""Findings in blocks of one rule, one cluster or one file, the worst first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.printable import printable
from poolsmith.core.record import record
from poolsmith.interface.report.layout import CLUSTER, FILE, RULE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.core.diagnostics import Diagnostic, Severity

_PROFILES, _CLUSTERS = "profiles/", "output/clusters/"
_FEW_NAMES = 5


@record
class Block:
    """`findings`, the worst first, of a file by line; what several clusters have at one place, from a base say, is
    there once.

    `clusters` are those that any of them is about; `name` is a code, a cluster or a path.
    """

    name: str
    findings: tuple[Diagnostic, ...]
    clusters: tuple[str, ...]

    @property
    def severity(self) -> Severity:
        return self.findings[0].severity

    @property
    def where(self) -> str:
        """`on 3 clusters`, `on cluster edge` or `in 2 places`."""
        if len(self.clusters) > 1:
            return f"on {len(self.clusters):,} clusters"
        places = len(self.findings)
        if self.clusters and places == 1:
            return f"on cluster {self.clusters[0]}"
        return f"in {places:,} places" if places > 1 else "in 1 place"

    @property
    def cluster_names(self) -> str:
        names = ", ".join(self.clusters[:_FEW_NAMES])
        rest = len(self.clusters) - _FEW_NAMES
        return f"{names} and {rest:,} more" if rest > 0 else names


def blocks_of(findings: Iterable[Diagnostic], group_by: str) -> list[Block]:
    """By rule the block with the worst finding comes first, then what is on most clusters; else by name."""
    groups: dict[str, list[Diagnostic]] = {}
    for item in findings:
        groups.setdefault(_key(item, group_by), []).append(item)
    blocks = [_block(name, items, group_by) for name, items in groups.items()]
    if group_by == RULE:
        return sorted(blocks, key=_badness)
    return sorted(blocks, key=lambda block: block.name)


def cluster_of(item: Diagnostic) -> str:
    """The name of the cluster that a finding is about, as it is shown; empty where it is about none, or several.

    A base is of no cluster, but what is wrong with it is told of each cluster that extends it.
    """
    path = item.primary.span.path
    name = ""
    if path.startswith(_CLUSTERS):
        name = path[len(_CLUSTERS) :].partition("/")[0]
    elif path.startswith(_PROFILES):
        name, _, below = path[len(_PROFILES) :].partition("/")
        if not below or name.startswith(("_", ".")):
            name = "" if item.subject == path else item.subject.partition("/")[0]
    return printable(name)


def _key(item: Diagnostic, group_by: str) -> str:
    if group_by == RULE:
        return item.code
    return cluster_of(item) if group_by == CLUSTER else item.primary.span.path


def _block(name: str, items: list[Diagnostic], group_by: str) -> Block:
    once: dict[tuple[object, ...], Diagnostic] = {}
    for item in items if group_by == FILE else sorted(items, key=lambda one: one.severity.rank):
        once.setdefault((item.severity, item.code, str(item.primary.span), item.message), item)
    clusters = sorted({cluster_of(item) for item in items} - {""})
    return Block(name=name, findings=tuple(once.values()), clusters=tuple(clusters))


def _badness(block: Block) -> tuple[int, int, int, str]:
    return block.severity.rank, -len(block.clusters), -len(block.findings), block.name
