"""A key that comes with a later release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import dotted
from poolsmith.gpu.catalog.releases import advisable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM322")


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    for item in document.past:
        comes_with, release = item.past.comes_with, document.release
        if comes_with is None or not item.value:  # what is off, or empty, asks for nothing that the release lacks
            continue
        wanted = advisable(comes_with) if release.is_of_operator else comes_with
        yield Finding(
            place=item.path,
            message=f"`{dotted(item.path)}` comes with {comes_with}; {release.told} does not read it",
            help=f"pin {wanted} or later, or remove it",
        )
