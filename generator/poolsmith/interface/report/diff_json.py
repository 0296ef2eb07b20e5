"""What a change does, as JSON, version 1: the records of `change_report.py`, with names in camelCase.

`poolsmith schema diff` prints its JSON Schema.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from poolsmith.change.diff.change_sections import Weight
from poolsmith.core.diagnostics import Diagnostic, Location
from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.shape.field import camel_case
from poolsmith.interface.report.json_v1 import diagnostic_body, location_body

if TYPE_CHECKING:
    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.interface.report.formats import ReportContext


def diff_report(change: ChangeReport, context: ReportContext) -> str:
    """ASCII; the text ends in a newline."""
    summary = _summary(change)
    return (
        json.dumps(
            {"version": 1, "tool": context.tool, "summary": summary, **record_body(change)}, indent=2, default=str
        )
        + "\n"
    )


def _summary(change: ChangeReport) -> dict[str, str]:
    if change.is_empty:
        return {"verdict": "nothing changes", "weight": Weight.PLAIN.value}
    from poolsmith.change.diff.change_summary import change_view  # on demand: many changes have nothing to show

    view = change_view(change)
    return {"verdict": masked(view.verdict), "weight": view.weight.value}


def record_body(value: Any) -> Any:
    """A record as JSON has it: names in camelCase, texts masked."""
    if isinstance(value, Diagnostic):
        return diagnostic_body(value)
    if isinstance(value, Location):
        return location_body(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {camel_case(item.name): record_body(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {masked(str(key)): record_body(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [record_body(item) for item in value]
    return masked(value) if isinstance(value, str) else value
