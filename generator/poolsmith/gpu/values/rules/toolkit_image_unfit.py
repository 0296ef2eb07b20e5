"""A toolkit image that can't do what the release asks of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.chart_contents import image_default
from poolsmith.gpu.catalog.container_toolkit import broken_toolkit, unfit_toolkit
from poolsmith.gpu.catalog.releases import advisable
from poolsmith.gpu.values.effective_values import is_off, uses_nri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM283")
_PATH = ("toolkit", "version")


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    if is_off(document, "toolkit.enabled"):
        return
    version, default = document.get(_PATH), image_default("toolkit.version", document.release.tag)
    if version == default or (not document.is_set(_PATH) and not document.partial and document.size):
        yield from _own(default, document)
        return
    if not isinstance(version, str):
        return
    unfit = unfit_toolkit(version, document.release.tag, nri=uses_nri(document))
    if unfit is not None:
        yield Finding(
            place=_PATH,
            message=f"toolkit `{shorten(version)}` does not fit {document.release.tag}: {unfit.why}",
            help=f"remove it, or pin `{unfit.instead}` or later",
            severity=Severity(unfit.severity),
        )


def _own(default: str | None, document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    """The chart's own."""
    broken = broken_toolkit(default or "")
    if broken is not None:
        yield Finding(
            place=_PATH if document.is_set(_PATH) else (),
            message=f"{document.release.tag} installs the toolkit {default}: {broken.why}",
            help=f"pin {advisable()} or later, or write `toolkit.version: {broken.instead}` or later",
            severity=Severity.NOTE,
        )
