"""Helm values files: only what differs from the chart's defaults, each value with its origin and reason above it."""

from __future__ import annotations

import textwrap
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from poolsmith.core.sources.pointer import join, split
from poolsmith.fleet.operands.manifest import Manifest
from poolsmith.fleet.plan.origin import Derived, FromCatalog, FromProfile, Origin, profile_inputs
from poolsmith.fleet.plan.plan import values_tree

if TYPE_CHECKING:
    from poolsmith.fleet.plan.plan import ValueSetting
    from poolsmith.guard.ledger.ledger import LineOrigin


def origin_text(origin: LineOrigin) -> str:
    """Of a line of a profile the file and the dotted field.

    No line number: it would change with every edit above it.
    """
    if not isinstance(origin, FromProfile):
        return str(origin)
    field = ".".join(split(origin.pointer))
    return f"{origin.path}: {field}" if field else origin.path


_wrapped = lru_cache(maxsize=256)(partial(textwrap.wrap, width=100, break_on_hyphens=False))
_LINES_SHOWN = 6


def values_file(path: str, settings: tuple[ValueSetting, ...], header: tuple[str, ...]) -> Manifest:
    """A values file; keys sorted, comments say where each value comes from."""
    comments = {join("", *setting.path): reason(setting.origin) for setting in settings}
    return Manifest(path=path, documents=(values_tree(settings),), header=header, comments=comments, applied=False)


def reason(origin: Origin) -> tuple[str, ...]:
    """Comment lines for an origin: the reason, then the profile lines that it goes back to."""
    lines: list[str] = []
    if isinstance(origin, Derived):
        lines.extend(_wrapped(origin.because[:1].upper() + origin.because[1:]))
    elif isinstance(origin, FromCatalog):
        lines.append(f"From the {origin}")
    inputs = profile_inputs(origin)
    lines.extend(f"from {origin_text(line)}" for line in inputs[:_LINES_SHOWN])
    if len(inputs) > _LINES_SHOWN:
        lines.append(f"and {len(inputs) - _LINES_SHOWN} more")
    return tuple(lines)
