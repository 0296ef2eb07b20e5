"""Profiles that were proposed for a cluster, where each field was seen, and what is asked: for people and programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.masking import masked_line, masked_tree
from poolsmith.core.diagnostics.message_text import counted, harmless, one_line
from poolsmith.core.record import record
from poolsmith.interface.report.diff_json import record_body

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.interface.report.formats import ReportContext

_LONGEST = 240
_FEW = 6


@record
class DiscoveredProfile:
    """A file of the proposal, by its path in the project."""

    path: str
    text: str


@record
class DiscoveredField:
    """A field of a profile, as `gpu.product`. `where` it was seen, and `nodes` say so, 0 for another object. What is
    `asked` nobody says: `value` is assumed, and `where` says why."""

    profile: str
    field: str
    value: Any
    where: str
    nodes: int
    asked: bool


@record
class UnseenField:
    """A field that no cluster shows, and why."""

    field: str
    because: str


@record
class Discovery:
    """`nodes` have GPUs; those that are `unlabelled` lack the label of pools, and `unlike` says which pools have nodes
    that are not alike. `compared` objects were held against the cluster, and `differences` were found. `refused` keeps
    the profiles from being generated, and `warned` is told of them besides; `not_evaluated` could not be read."""

    cluster: str
    pool_label: str
    nodes: int
    profiles: tuple[DiscoveredProfile, ...]
    fields: tuple[DiscoveredField, ...]
    unseen: tuple[UnseenField, ...]
    compared: int
    differences: tuple[str, ...]
    refused: tuple[str, ...]
    warned: tuple[str, ...]
    unlabelled: tuple[str, ...]
    unlike: tuple[str, ...]
    not_evaluated: tuple[str, ...]


def discovery_json(found: Discovery, context: ReportContext) -> str:
    """Version 1; docs/schemas has its JSON Schema."""
    body = {"version": 1, "tool": context.tool, **masked_tree(record_body(found))}
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


def discovery_text(found: Discovery, *, verbose: bool) -> str:
    """One screen, or all of it."""
    return "".join(f"{line}\n" for line in _lines(found, verbose=verbose))


def _lines(found: Discovery, *, verbose: bool) -> Iterator[str]:
    pools = len(found.profiles) - 1
    label = f", distinguished by the label `{found.pool_label}`" if found.pool_label else ""
    yield _plain(f"{found.cluster}: {counted(pools, 'pool')} of {counted(found.nodes, 'node')} with GPUs{label}")
    seen = [row for row in found.fields if not row.asked]
    asked = [row for row in found.fields if row.asked]
    if verbose:
        for row in seen:
            count = f", on {counted(row.nodes, 'node')}" if row.nodes else ""
            yield _plain(f"  seen    {_named(row)} is {row.value}: {row.where}{count}")
    else:
        yield f"  seen    {counted(len(seen), 'field')}; `-v` says where each of them, and prints the profiles"
    rows = [f"{_named(row)}: {row.where}; assumed {row.value}" for row in asked]
    yield from _some("asked  ", rows, verbose=verbose)
    yield from _some("unlike ", found.unlike, verbose=verbose)
    if found.unlabelled:
        yield _plain(
            f"  label   {counted(len(found.unlabelled), 'node')} without it: {', '.join(found.unlabelled[:_FEW])}"
        )
    yield from _some("refused", found.refused, verbose=verbose)
    yield from _some("warned ", found.warned, verbose=verbose)
    yield from _some("differs", found.differences, verbose=verbose)
    if found.compared and not found.differences:
        yield f"  same    {counted(found.compared, 'object')} that they generate or predict, with the cluster's"
    elif not found.compared:
        yield "  differs: not known before the profiles can be generated"
    yield from _some("not evaluated", found.not_evaluated, verbose=verbose)
    if verbose:
        for item in found.unseen:
            yield f"  unseen  {masked_line(f'{item.field}: {item.because}')}"
        for profile in found.profiles:
            yield f"--- {profile.path}"
            yield from map(harmless, map(masked_line, profile.text.splitlines()))


def _some(word: str, rows: Sequence[str], *, verbose: bool) -> Iterator[str]:
    shown = rows if verbose else rows[:_FEW]
    for row in shown:
        yield _plain(f"  {word} {row}")
    if len(rows) > len(shown):
        yield f"  {word} {len(rows) - len(shown)} more: `-v` shows them"


def _named(row: DiscoveredField) -> str:
    return f"{row.profile}: {row.field}"


def _plain(text: str) -> str:
    shown = harmless(one_line(masked_line(text), _LONGEST))
    return f"  {shown}" if text.startswith("  ") else shown
