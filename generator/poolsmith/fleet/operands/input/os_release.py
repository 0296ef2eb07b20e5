"""/etc/os-release, as the operator's pod sees it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic
from poolsmith.core.sources.text_file import read_text_file

if TYPE_CHECKING:
    from pathlib import Path

MAX_OS_RELEASE_BYTES = 1 << 16


def read_os_release(file: Path, shown: str) -> dict[str, str] | Diagnostic:
    """The variables in `file`, or why it can't be read."""
    text = read_text_file(file, shown, MAX_OS_RELEASE_BYTES)
    return text if isinstance(text, Diagnostic) else parse_os_release(text)


def parse_os_release(text: str) -> dict[str, str]:
    """Assignments as a shell reads them, one a line; lines that are none have no meaning."""
    variables: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        if not equals or not name or name.startswith("#"):
            continue
        try:
            words = shlex.split(value)
        except ValueError:  # a quote that nobody closes
            continue
        variables[name] = words[0] if words else ""
    return variables
