"""Use case: judge the project and its committed output, or anyone's manifests. Floor: app."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from poolsmith.app.generate import Progress, generate
from poolsmith.app.output_rules import YAML_ENDINGS, parse_documents
from poolsmith.app.settle import Mode
from poolsmith.check.engine import run_rules
from poolsmith.check.manifest_files import CheckedDocument, CheckedTree
from poolsmith.check.registry import RULES
from poolsmith.diagnostics import Diagnostic, NoInputError, UsageError, sorted_unique
from poolsmith.report.outcome import Outcome, Skipped
from poolsmith.sources.input_tree import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_MANIFEST_BYTES = 32 << 20
_SKIPPED_FOLDERS = frozenset((".git", "node_modules", ".venv", "__pycache__"))


def check_project(root: Path, *, clusters: Sequence[str] = (), jobs: int = 1, progress: Progress) -> Outcome:
    """Profiles, drift of the output, and the manifest rules on what is committed.

    Raises UsageError, NoInputError.
    """
    result = generate(root, clusters=clusters, mode=Mode.JUDGE, jobs=jobs, progress=progress)
    current = not result.changed and not result.removed and not result.outcome.skipped_for_errors
    facts = ("the output is what the profiles generate",) if current else ()
    return replace(result.outcome, facts=facts)


def check_paths(root: Path, paths: Sequence[Path]) -> Outcome:
    """Anyone's files and folders. An explicitly named empty file is counted, not an error.

    Raises UsageError for a path that does not exist, NoInputError when there is no YAML file at all.
    """
    documents: list[CheckedDocument] = []
    diagnostics: list[Diagnostic] = []
    shown_paths: set[str] = set()
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path} does not exist")
        for file in _yaml_files(path):
            shown = _shown(file, root)
            if shown in shown_paths:
                continue
            shown_paths.add(shown)
            content = read_bytes(file, shown, MAX_MANIFEST_BYTES)
            if isinstance(content, Diagnostic):
                diagnostics.append(content)
                continue
            found, problem = parse_documents(shown, content)
            documents.extend(found)
            diagnostics.extend([problem] if problem is not None else [])
    if not shown_paths:
        raise NoInputError("there is no YAML file in " + ", ".join(str(path) for path in paths))
    tree = CheckedTree(tuple(documents), frozenset(shown_paths))
    diagnostics.extend(run_rules(RULES, tree))
    skipped = tuple(
        Skipped(document.path, f"document {document.index + 1} has no apiVersion and kind")
        for document in documents
        if not document.is_object
    )
    return Outcome(
        diagnostics=sorted_unique(diagnostics),
        checked={"manifest files": len(shown_paths), "objects": len(tree.objects), "rules": len(RULES)},
        skipped=skipped,
    )


def _yaml_files(path: Path) -> Iterator[Path]:
    """Sorted; links to folders are not followed."""
    if not path.is_dir():
        yield path
        return
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        for name in sorted(files):
            if name.endswith(YAML_ENDINGS):
                yield Path(folder) / name


def _shown(file: Path, root: Path) -> str:
    absolute = Path(os.path.abspath(file))  # noqa: PTH100 - resolve() would follow links
    try:
        return absolute.relative_to(Path(os.path.abspath(root))).as_posix()  # noqa: PTH100 - as above
    except ValueError:
        return absolute.as_posix()
