"""poolsmith lsp."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from poolsmith.core.diagnostics import UsageError
from poolsmith.interface.cli import options
from poolsmith.interface.cli.plain import project_above
from poolsmith.interface.cli.terminal import tell
from poolsmith.interface.cli.verbs import Exit

if TYPE_CHECKING:
    from pathlib import Path


@click.command("lsp")
@click.option("--stdio", is_flag=True, help="As editors ask for it; there is no other way.")
@options.root_here
@options.jobs
def command(root: Path, jobs: int | None, *, stdio: bool) -> int:
    """Answer an editor, as a language server on standard input and output.

    It says what `check` finds each time that a file is saved, writes the edits of which findings are certain, explains
    fields and rules, and completes profiles and policies. Nothing listens on a network.
    """
    del stdio
    options.only_at_a_desk("poolsmith lsp")
    if sys.stdin.isatty():
        raise UsageError("an editor starts `poolsmith lsp` and talks to it; docs/editor.md says how to set it up")
    from poolsmith.interface.app.editor.messages import ClosedError, Messages
    from poolsmith.interface.app.editor.server import Server

    sink = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what else is printed must not come between messages
    messages = Messages(sys.stdin.fileno(), sink)
    folder = os.path.realpath(root)
    try:
        return Server(messages, project_above, folder=folder, jobs=jobs or 1).run()
    except ClosedError as error:
        tell([str(error) or "the editor left without `exit`"])
        return Exit.FINDINGS
