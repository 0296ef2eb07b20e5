"""A key that was read once, or is declared, and that nothing reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.catalog.value_paths import PastValue
    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM320")


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    for item in document.past:
        past = item.past
        if past.comes_with is not None or (item.value is None and not document.release.is_of_operator):
            continue  # PSM322; a null of a copied values.yaml
        if document.repeats(item.path, item.value):
            continue
        since = f"no release since {past.gone_since} reads it" if past.gone_since else "the chart declares it only"
        if past.never_read:
            since = "the chart declares it, and no release reads it"
        lost = "; the protection that it asked for is gone" if past.safety else ""
        yield Finding(
            place=item.path,
            message=f"`{dotted(item.path)}` is dead in {document.release.told}: {since}{lost}",
            help=way_out(past, document),
            severity=Severity.ERROR if past.safety else None,
        )


def way_out(past: PastValue, document: ValuesDocument) -> str:
    instead = past.instead
    if instead is not None and document.release.tag not in document.release.paths.read_in(instead):
        instead = None
    if instead is None:
        return past.advice or "remove it"
    return f"set `{instead}` instead" + (f": {past.advice}" if past.advice else "")
