"""The report of a run: printed, written to files, and given to the build server that runs it.

The environment says at which web address the files of the repository can be read.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from poolsmith.core.diagnostics.message_text import harmless
from poolsmith.core.pattern import pattern
from poolsmith.interface.cli.terminal import tell, width_of, write
from poolsmith.interface.report.formats import (
    CHECK,
    DIFF,
    FORMATS,
    FULL,
    Layout,
    ReportContext,
    ReportStyle,
    format_check,
    format_diff,
    names_for,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.interface.app.report_files import ReportFile
    from poolsmith.interface.report.finding_blocks import Styled
    from poolsmith.interface.report.fleet_facts import FleetFacts


_STYLES = {
    "error": "bold red",
    "warning": "bold yellow",
    "note": "bold cyan",
    "place": "bold",
    "code": "magenta",
    "faint": "dim",
    "good": "green",
}
_SUMMARY_BYTES = 1 << 20
"""Of the summary of one step; GitHub drops a longer one as a whole."""


FleetOf = Callable[[], "FleetFacts | None"]
"""The fleet, for formats that show it; asked for only by those."""


def _no_fleet() -> None:
    return None


def fleet_of(root: Path, clusters: tuple[str, ...], *, is_there: bool) -> FleetFacts | None:
    """What formats show of a project; the files of somebody else, and a shard, have none."""
    if not is_there:
        return None
    from poolsmith.interface.app.fleet_facts import fleet_facts

    return fleet_facts(root, clusters)


class TextOf(Protocol):
    """Makes the text of the format of a name."""

    def __call__(self, name: str, *, context: ReportContext) -> str: ...


def in_colour(wanted: bool | None = None) -> bool:
    """--no-color, then NO_COLOR, then FORCE_COLOR; else whether somebody looks at a terminal."""
    if wanted is False or os.environ.get("NO_COLOR"):
        return False
    return os.environ.get("FORCE_COLOR", "") not in ("", "0") or sys.stdout.isatty()


def print_outcome(
    outcome: Outcome,
    *,
    output_format: str | None,
    color: bool | None,
    layout: Layout = FULL,
    root: Path | None = None,
    fleet: FleetOf = _no_fleet,
) -> None:
    """Write the report to standard output, and nothing else but the summary of a step."""
    layout = replace(layout, width=width_of(sys.stdout))
    chosen = _chosen(output_format)
    if chosen == "text" and in_colour(color):
        from poolsmith.interface.report.text import styled

        _print_styled(styled(outcome, layout))
    else:
        _print(partial(format_check, outcome=outcome), chosen, CHECK, _context(chosen, layout, root, fleet))


def report_outcome(
    outcome: Outcome, root: Path, files: Sequence[ReportFile], how: ReportStyle, *, fleet: FleetOf = _no_fleet
) -> None:
    """Into the files that --output asks for, and onto standard output: there whatever becomes of the files.

    Raises WriteError.
    """
    layout = how.layout
    try:
        write_report_files(root, files, partial(format_check, outcome=outcome), layout=layout, fleet=fleet)
    finally:
        form, color = how.output_format, how.color
        print_outcome(outcome, output_format=form, color=color, layout=layout, root=root, fleet=fleet)


def print_change(
    change: ChangeReport,
    *,
    output_format: str | None,
    layout: Layout,
    root: Path | None = None,
    fleet: FleetOf = _no_fleet,
) -> None:
    """The report of a diff, in the same way."""
    chosen = _chosen(output_format)
    layout = replace(layout, width=width_of(sys.stdout))
    if chosen == "text" and in_colour():
        from poolsmith.interface.report.diff_text import styled

        _print_styled(styled(change, layout))
        return
    context = _context(chosen, layout, root, fleet)
    _print(partial(format_diff, change=change), chosen, DIFF, context)


def print_problems(diagnostics: tuple[Diagnostic, ...], *, output_format: str) -> None:
    """Why a verb has no answer: as JSON where it was asked for, else as text."""
    from poolsmith.core.diagnostics.outcome import Outcome

    form = "json" if output_format == "json" else "text"
    print_outcome(Outcome(diagnostics=diagnostics), output_format=form, color=None)


def write_report_files(
    root: Path,
    files: Sequence[ReportFile],
    text_of: TextOf,
    *,
    layout: Layout,
    fleet: FleetOf = _no_fleet,
) -> None:
    """The reports that --output asks for. Lines have any length in a file."""
    if not files:
        return
    from poolsmith.interface.app.report_files import write_reports

    wide = replace(layout, width=None)
    write_reports(root, files, lambda name: text_of(name, context=_context(name, wide, root, fleet)))


def _chosen(asked: str | None) -> str:
    """The format for standard output."""
    return asked or ("github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text")


def _context(name: str, layout: Layout, root: Path | None, fleet: FleetOf) -> ReportContext:
    """What the format is told; one that speaks to a build server gets a word that no file can hold."""
    token = ""
    if FORMATS[name].has_commands:
        import secrets

        token = secrets.token_hex(16)
    return ReportContext(
        layout=layout,
        stop_token=token,
        below=_below_repository(root) if root is not None else "",
        docs=_address("POOLSMITH_DOCS"),
        source=source_address() if FORMATS[name].shows_fleet else "",
        fleet=fleet() if FORMATS[name].shows_fleet else None,
    )


def site_context(root: Path) -> ReportContext:
    """What the pages of a fleet are told."""
    return ReportContext(below=_below_repository(root), source=source_address())


def _address(variable: str) -> str:
    """What a variable of the environment says, if it is the address of a folder and nothing else."""
    text = os.environ.get(variable, "").rstrip("/")
    is_plain = text.startswith("https://") and text.isascii() and text.isprintable() and " " not in text
    return text if is_plain else ""


def _below_repository(root: Path) -> str:
    """Where the project stands in its git work tree, with a slash at the end: reports name files from its top."""
    folder = top = os.path.realpath(root)
    while not os.path.lexists(os.path.join(top, ".git")):  # noqa: PTH118 - strings, for speed
        parent = os.path.dirname(top)  # noqa: PTH120
        if parent == top:
            return ""
        top = parent
    return "" if top == folder else f"{os.path.relpath(folder, top).replace(os.sep, '/')}/"


def _print(text_of: TextOf, chosen: str, kind: str, context: ReportContext) -> None:
    has_commands = FORMATS[chosen].has_commands
    write(text_of(chosen, context=context), with_commands=has_commands)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if has_commands and summary and "markdown" in names_for(kind):
        _add_to_summary(summary, text_of("markdown", context=context))


def _add_to_summary(path: str, text: str) -> None:
    """The whole text at the end of the file that the runner gives; or that there was no room."""
    content = harmless(text, with_commands=True).encode("utf-8", "backslashreplace")
    try:
        with Path(path).open("ab") as stream:
            if stream.tell() + len(content) < _SUMMARY_BYTES:
                stream.write(content)
            else:
                tell(["the step's summary has no room for this report"])
    except OSError as error:
        tell([f"the step's summary can't be written: {error.strerror or error}"])


def _print_styled(pieces: Iterable[Styled]) -> None:
    from rich.console import Console
    from rich.text import Text

    text = Text()
    for piece, style in pieces:
        text.append(harmless(piece, with_commands=True), style=_STYLES.get(style))
    Console(highlight=False, soft_wrap=True).print(text, end="")


_ADDRESS = pattern(r"https://[A-Za-z0-9\[\]][A-Za-z0-9._~:/?#\[\]@!$&()*+,;=%-]*")
_FORGES = (
    ("{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/blob/{GITHUB_SHA}", "GITHUB_ACTIONS"),
    ("{CI_PROJECT_URL}/-/blob/{CI_COMMIT_SHA}", "GITLAB_CI"),
)
"""The address of the top folder at the commit that is built, and the variable that is true there."""


def source_address() -> str:
    """As POOLSMITH_SOURCE says; else as GitHub Actions or GitLab CI do; else empty."""
    if "POOLSMITH_SOURCE" in os.environ:
        return _plain(os.environ["POOLSMITH_SOURCE"])
    for form, is_here in _FORGES:
        names = re.findall(r"\{(\w+)\}", form)
        if os.environ.get(is_here) == "true" and all(map(os.environ.get, names)):
            return _plain(form.format_map(os.environ))
    return ""


def _plain(text: str) -> str:
    address = text.rstrip("/")
    return address if _ADDRESS.fullmatch(address) else ""
