"""Layouts that the MIG manager reads: in Helm values, of which the chart makes a ConfigMap, or in one they name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.pointer import join, value_at
from poolsmith.guard.rules.texts.mig_layouts import RULE, layout_mistakes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.guard.rules.setup.setup_view import SetupView

__all__ = ("NEEDS", "RULE", "check")
NEEDS = ()
_CONFIG = "migManager.config"
_DATA = f"{_CONFIG}.data"
_KEY, _TOP = "config.yaml", "mig-configs"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    if view.flag("migManager.enabled") is False or view.values is None:
        return
    for shown, text, place, source in _read(view):
        if "{{" in text or "${" in text:
            continue
        for mistake in layout_mistakes(text):
            inner = None if source is None else InnerText(*source, text, None)
            yield Finding(
                message=f"{shown}: {mistake.message}",
                place=place if inner is None else inner.locate(join("", *mistake.steps)),
                help=mistake.help,
                severity=mistake.severity,
            )


def _read(view: SetupView) -> Iterator[tuple[str, str, Location, tuple[SourceFile, str] | None]]:
    """How it is called, the text, its place, and what it is written in at which pointer."""
    made = view.value(f"{_CONFIG}.create") is True
    data = view.value(_DATA) if made else None
    for name, text in data.items() if isinstance(data, dict) else ():
        if isinstance(text, str) and view.values is not None and (name == _KEY or _TOP in text):
            pointer = join("", *_DATA.split("."), str(name))
            yield (
                f"`{_DATA}`, `{shorten(str(name))}`",
                text,
                view.values.place(pointer),
                view.values.written(pointer),
            )
    named = None if made else view.value(f"{_CONFIG}.name")
    item = view.named("ConfigMap", named) if isinstance(named, str) and named else None
    text = value_at(item.data, ("data", _KEY)) if item is not None else None
    if item is not None and isinstance(text, str) and _TOP not in text:  # else it is told by its shape
        pointer = join("", "data", _KEY)
        source = None if item.source is None else (item.source, pointer)
        yield f"{item.name}, `{_KEY}`", text, item.place(pointer), source
