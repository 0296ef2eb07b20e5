"""Layouts for the MIG manager that stand in Helm values, of which the chart makes a ConfigMap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.pointer import join
from poolsmith.guard.rules.texts.mig_layouts import RULE, layout_mistakes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupView

__all__ = ("NEEDS", "RULE", "check")
NEEDS = ()
_DATA = "migManager.config.data"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    data = view.value(_DATA) if view.value("migManager.config.create") is True else None
    if view.flag("migManager.enabled") is False or not isinstance(data, dict) or view.values is None:
        return
    for name, text in data.items():
        if not isinstance(text, str) or "{{" in text or "${" in text:
            continue
        pointer = join("", *_DATA.split("."), str(name))
        found = view.values.written(pointer)
        for mistake in layout_mistakes(text):
            place = (
                view.values.place(pointer)
                if found is None
                else InnerText(found[0], found[1], text, None).locate(join("", *mistake.steps))
            )
            yield Finding(
                message=f"`{_DATA}`, `{shorten(str(name))}`: {mistake.message}",
                place=place,
                help=mistake.help,
                severity=mistake.severity,
            )
