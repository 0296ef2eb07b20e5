"""`check --fix` and `check --diff`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from poolsmith.core.diagnostics.message_text import counted, printable_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from poolsmith.core.diagnostics.outcome import Outcome


def fixed(root: Path, judge: Callable[[], Outcome], *, dirty: bool) -> Outcome:
    """What is found after the edits of which findings are certain; its facts say what was written, and what was not."""
    from poolsmith.interface.app.fix import fixes, write_fixes  # on demand

    before = judge()
    found = fixes(root, before.diagnostics, dirty=dirty)
    write_fixes(root, found)
    after = judge() if found.texts else before
    what = f"{counted(found.edits, 'edit')} in {counted(len(found.texts), 'file')}"
    lines = [f"fixed: {what}" if found.texts else "nothing was fixed: no finding has one certain edit"]
    lines += [f"not fixed: {item}" for item in found.left]
    return replace(after, facts=(*lines, *after.facts))


def print_patch(root: Path, outcome: Outcome, *, dirty: bool) -> None:
    """What `fixed` would write, as a patch on standard output; what it would not touch on standard error."""
    from poolsmith.interface.app.fix import fixes, shown_fixes  # on demand

    found = fixes(root, outcome.diagnostics, dirty=dirty)
    for line in shown_fixes(found):
        click.echo(line, nl=False)
    for item in found.left:
        click.echo(f"not fixed: {printable_line(item)}", err=True)
