"""`--output` of verbs that make their report while they print it: they are asked once more for each file."""

from __future__ import annotations

import os
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poolsmith.interface.app.report_files import report_files, write_reports

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def with_copies(
    print_it: Callable[..., Any], formats: click.Parameter, outputs: Sequence[str], given: Mapping[str, Any]
) -> Any:
    """What the verb gives; its report is printed, and written. Raises UsageError, WriteError."""
    assert isinstance(formats.type, click.Choice), "formats are words"
    root = given.get("root") or Path()
    files = report_files(root, outputs, formats.type.choices)
    code = print_it(**given)
    write_reports(root, files, lambda name: _printed(print_it, {**given, str(formats.name): name}))
    return code


def _printed(print_it: Callable[..., Any], given: Mapping[str, Any]) -> str:
    """Without colour, and without what it says beside the report: that was said already."""
    before, text = os.environ.get("NO_COLOR"), StringIO()
    os.environ["NO_COLOR"] = "1"
    try:
        with redirect_stdout(text), redirect_stderr(StringIO()):
            print_it(**given)
    finally:
        if before is None:
            del os.environ["NO_COLOR"]
        else:
            os.environ["NO_COLOR"] = before
    return text.getvalue()
