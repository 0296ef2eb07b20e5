"""Where the tools that deliver a repository stop, and scripts that nobody can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity, diagnose, whole_file
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.diagnostics.codes.hygiene import BUILD_REFUSED, NOT_JUDGED
from poolsmith.gpu.catalog.stack_words import mentions
from poolsmith.guard.rules.charts.missing_values_file import RULE as MISSING_FILE
from poolsmith.kubernetes.repository.manifest_files import HELM, LONGEST_SCRIPT, is_script, is_terraform

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.core.diagnostics.diagnostic import Position
    from poolsmith.interface.app.check_scope import Scope
    from poolsmith.kubernetes.repository.model import RepositoryModel
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles


def unread_scripts(paths: Iterable[str], files: RepositoryFiles, scope: Scope) -> Iterator[Diagnostic]:
    """Scripts and Terraform of the stack, of which nobody reads a word."""
    for path in paths:
        if not (is_script(path) or is_terraform(path)) or not scope.tells(path):
            continue
        file = files.file(path)
        text = file.unread if file.text is None else file.text
        if HELM in text and mentions(text.encode()):
            yield from file.problems if file.text is None else _unread(path, text)


def _unread(path: str, text: str) -> Iterator[Diagnostic]:
    if len(text) > LONGEST_SCRIPT:
        why = f"the file has {len(text):,} signs; at most {LONGEST_SCRIPT:,} are read"
        yield diagnose(reading.INPUT_LIMIT, why, whole_file(path), help="take out what does not belong there")
    elif is_terraform(path):
        from poolsmith.core.sources.hcl_file import HclProblemError  # on demand
        from poolsmith.core.sources.terraform_files import read_hcl  # on demand

        try:
            read_hcl(path, text)
        except HclProblemError as problem:
            why = f"this is not judged: it can't be read as Terraform ({problem})"
            yield diagnose(NOT_JUDGED, why, whole_file(path), help=_CORRECT)


_CORRECT = "correct it: `terraform fmt` says where, if Terraform refuses it too"


def refused_builds(model: RepositoryModel, scope: Scope, others: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Kustomizations of the stack at which kustomize stops, where none of the `others` is an error at that place."""
    told = {_start(item.primary) for item in others if item.severity is Severity.ERROR}
    for item in dict.fromkeys(item for delivery in model.deliveries for item in delivery.refused):
        if _start(item.place) not in told and (scope.has_unknown(item, model) or scope.has_beside(item, model)):
            why = item.what.partition("it stops here: ")[2] or item.what
            yield diagnose(BUILD_REFUSED, f"kustomize stops here: {why}", item.place, help=item.advice or None)


def _start(place: Location) -> tuple[str, Position | None]:
    return place.span.path, place.span.start


def missing_folders(model: RepositoryModel, scope: Scope) -> Iterator[Diagnostic]:
    """Folders of the stack that an Application takes from this repository, which lacks them."""
    of_values = {unknown.place for item in model.all_installations for unknown in item.unknown}
    for item in model.unknown:
        is_told = item.is_missing and item.place not in of_values and scope.tells(item.place.span.path)
        if is_told and mentions(item.what.encode()):
            yield diagnose(MISSING_FILE, f"{item.what}: nothing is rendered", item.place, help=_ADD)


_ADD = "correct the path, or add the folder"
