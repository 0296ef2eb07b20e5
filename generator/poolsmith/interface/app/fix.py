"""Use case: write the edits of which findings are certain. What is not written is named, with the reason.

Only files that git tracks and that have no uncommitted edits are written, unless somebody asks for those too; never a
link, a file that is generated or a template, and nothing outside of the root. Comments, order and quoting stay, since
nothing but the words is written.
"""

from __future__ import annotations

import os
import re
from itertools import groupby, takewhile
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.certain_edits import certain_edit, is_certain
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.git import Git
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.interface.app.new_files import replace_file
from poolsmith.project.run.project import OUTPUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.diagnostics.certain_edits import Edit

_YAML = (".yaml", ".yml")
_TEMPLATE = pattern(r"\{%|^[^\S\n]*+#[^\n]*?\{\{", re.MULTILINE)
"""Of what fills in whole lines. Braces within quotes are a text to YAML: of an ApplicationSet, of a play."""
_HEAD = 4096
_GENERATED = pattern(
    r"\bdo not (?:edit|modify)\b|@generated\b|\bauto-?generated\b|\bansible managed\b"
    r"|\b(?:managed|generated|rendered) by (?:terraform|ansible|puppet|chef|salt|helm|copier|projen|cdk8s|jsonnet)",
    re.IGNORECASE,
)
_MOST_BYTES = 1 << 20


@record
class Fixed:
    """`texts` are the old and the new text of each file, by its path; `edits` how many there are.

    `left` says why a file with certain edits is not touched.
    """

    texts: Mapping[str, tuple[str, str]]
    edits: int
    left: tuple[str, ...]


def fixes(root: Path, found: Iterable[Diagnostic], *, dirty: bool = False) -> Fixed:
    """Nothing is written. Raises UsageError where git can't be asked."""
    by_finding = {item: certain_edit(item) for item in found}
    edits = sorted({edit for edit in by_finding.values() if edit is not None}, key=lambda edit: edit.order)
    by_file = {path: list(group) for path, group in groupby(edits, key=lambda edit: edit.path)}
    clean = _clean(root, by_file) if by_file and not dirty else frozenset(by_file)
    texts: dict[str, tuple[str, str]] = {}
    left: list[str] = []
    count = 0
    for path, several in by_file.items():
        why = why_not(root, path) or ("" if path in clean else "git has not this text of it; --dirty writes it too")
        edited = None if why else _edited(root / path, several)
        if edited is None:
            left.append(f"{path}: {why or 'none of its edits leads to a sound file'}")
        else:
            texts[path], applied = edited
            count += applied
    others = {item.primary.span.path for item, edit in by_finding.items() if edit is None and is_certain(item)}
    left += (f"{path}: {why_not(root, path) or _ANOTHER_FORM}" for path in sorted(others - by_file.keys()))
    return Fixed(texts=texts, edits=count, left=tuple(left))


_ANOTHER_FORM = "what is meant stands there in another form than a key and its value"


def write_fixes(root: Path, fixed: Fixed) -> None:
    """Each file as a whole, or not at all. Raises WriteError."""
    for path, (_, text) in fixed.texts.items():
        replace_file(root / path, text)


def shown_fixes(fixed: Fixed) -> Iterator[str]:
    """As a patch."""
    from difflib import unified_diff  # on demand

    for path, (old, new) in fixed.texts.items():
        lines = unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{path}", f"b/{path}")
        yield from (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def why_not(root: Path, path: str) -> str:
    """Why nothing is written to a file; empty where something may be."""
    parts = path.split("/")
    if path.startswith("/") or ".." in parts:
        return "it is outside of the root"
    if not path.endswith(_YAML):
        return "it is no YAML file"
    if parts[0] == OUTPUT or "/templates/" in f"/{path}":
        return "it is generated, or a template"
    if any((root / "/".join(parts[:depth])).is_symlink() for depth in range(1, len(parts) + 1)):
        return "it is reached by a symbolic link"
    return "its first lines say that a tool writes it" if _says_generated(root / path) else ""


def _says_generated(file: Path) -> bool:
    """Whether one of the comments above all else says so."""
    try:
        with file.open(encoding="utf-8-sig", errors="replace") as stream:
            head = stream.read(_HEAD).splitlines()
    except OSError:
        return False
    comments = takewhile(lambda line: not line.strip() or line.lstrip().startswith(("#", "---")), head)
    return any(_GENERATED.search(line) for line in comments)


def _clean(root: Path, paths: Iterable[str]) -> frozenset[str]:
    """Those that git tracks, and that stand as it has them."""
    git, names = Git(root, "--fix"), [path for path in paths if not path.startswith("/")]
    tracked = _names(git.run("ls-files", "-z", "--", *names).stdout)
    edited = _names(git.run("diff", "--name-only", "--relative", "-z", "HEAD", "--", *names).stdout)
    return frozenset(tracked - edited)


def _names(listing: bytes) -> set[str]:
    return {os.fsdecode(name) for name in listing.split(b"\0") if name}


def _edited(file: Path, edits: Sequence[Edit]) -> tuple[tuple[str, str], int] | None:
    """The old text and the new one, and how many edits are in it; None where none fits and comes to sound YAML."""
    try:
        if file.stat().st_size > _MOST_BYTES:
            return None
        with file.open(encoding="utf-8", newline="") as stream:
            old = stream.read()
    except (OSError, UnicodeDecodeError):
        return None
    new, done = applied(old, edits)
    return ((old, new), len(done)) if done else None


def applied(text: str, edits: Sequence[Edit]) -> tuple[str, list[Edit]]:
    """The text with those that fit it and leave sound YAML, and which these are. `edits` are in their order."""
    done: list[Edit] = []
    if _TEMPLATE.search(text) or not _is_yaml(text):
        return text, done  # of two keys with one name nobody knows which was meant
    for edit in _apart(edits):
        tried = _with(text, edit)
        if tried is not None and _is_yaml(tried):
            text = tried
            done.append(edit)
    return text, done


def _with(text: str, edit: Edit) -> str | None:
    """None where the text has something else at that place."""
    lines = text.splitlines(keepends=True)
    line = lines[edit.start.line - 1] if edit.start.line <= len(lines) else ""
    if line[edit.start.column - 1 : edit.end.column - 1] != edit.old:
        return None
    text = edit.text.replace("\n", "\r\n") if line.endswith("\r\n") else edit.text
    lines[edit.start.line - 1] = f"{line[: edit.start.column - 1]}{text}{line[edit.end.column - 1 :]}"
    return "".join(lines)


def _apart(edits: Sequence[Edit]) -> Iterator[Edit]:
    """From the end, so that places stay right; of two that overlap the later one alone."""
    before = None
    for edit in reversed(edits):
        if before is None or edit.end <= before.start:
            yield edit
            before = edit


def _is_yaml(text: str) -> bool:
    try:
        read_documents(text)
    except YamlProblem:
        return False
    return True
