"""Changed files that run this check, decide its result, or decide who sees and approves a change.

Workflows (of GitHub and similar forges) that do not run the check may still decide its result.

Source: the documentation of GitHub on required status checks (a check is known by the name of its job), on
`permissions`, and on events that run with the rights of the base.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.change.review.git_attributes import hiding_lines, is_less_hidden, shows_less
from poolsmith.change.review.job_names import job_names, taken_by
from poolsmith.change.review.judge_closure import GitTexts, Part, Pipelines, part_of
from poolsmith.core.diagnostics import Diagnostic, Severity, diagnose, whole_file
from poolsmith.core.diagnostics.codes.change import JUDGE_CHANGE
from poolsmith.core.diagnostics.message_text import counted, cut, joined, listed, printable, shorten
from poolsmith.core.facts.packs import FOLDER, LOCK_NAME, MANIFEST, TABLES
from poolsmith.core.sources.git import is_blob
from poolsmith.core.sources.pod_template import mapping, mappings
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.fleet.profiles.fleet import TEAMS_FILE
from poolsmith.guard.policies.revision import SUBMODULE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from poolsmith.change.review.beside_output import HeadTree
    from poolsmith.guard.policies.revision import BaseRevision, GitFile


_EVENTS = frozenset(("pull_request_target", "workflow_run"))
_RIGHTS = frozenset(("actions", "checks", "contents", "pull-requests", "statuses"))
_WRITE, _ALL = "write", "write-all"


def decides(old: str | None, new: str | None, taken: Collection[str]) -> Iterator[str]:
    """What a workflow may do to the check after the change and not before, in words that follow its name.

    `taken` are the names under which the check reports.
    """
    if new is None:
        return
    body = _body(new)
    if body is None:
        yield "can't be read, so that what it runs is unknown"
        return
    before = _body(old) or {}
    jobs = job_names(body)
    had = taken_by(job_names(before), taken)
    certain = taken_by([name for name in jobs if name.is_certain], taken) - had
    if certain:
        yield (
            f"has a job of the name {listed(sorted(certain))}, under which the check reports: it could report in its "
            "place"
        )
    if possible := sorted(taken_by(jobs, taken) - had - certain):
        yield (
            f"has a job whose name is an expression that could become {listed(possible)}, under which the check "
            "reports: it could report in its place"
        )
    if events := sorted(_events(body) - _events(before)):
        yield f"runs on {listed(events)}, with the rights of the base and on changes of strangers"
    if rights := sorted(_rights(body) - _rights(before)):
        yield f"may write {listed(rights)}: it could change what is delivered, or what is reported of a change"


def _body(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        documents = [item for item in read_documents(text) if item is not None]
    except YamlProblem:
        return None
    return documents[0] if len(documents) == 1 and isinstance(documents[0], dict) else None


def _events(body: dict[str, Any]) -> frozenset[str]:
    """The key `on`, which a reader of YAML 1.1 takes for a boolean."""
    on = next((value for key, value in body.items() if str(key).casefold() in ("on", "true")), None)
    found = [on] if isinstance(on, str) else on if isinstance(on, (list, dict)) else []
    return frozenset(item for item in found if isinstance(item, str)) & _EVENTS


def _rights(body: dict[str, Any]) -> frozenset[str]:
    found: set[str] = set()
    for holder in (body, *mappings(list(mapping(body.get("jobs")).values()))):
        rights = holder.get("permissions")
        if rights == _ALL:
            found |= _RIGHTS
        found |= {key for key, value in mapping(rights).items() if value == _WRITE and key in _RIGHTS}
    return frozenset(found)


_OWN = ("output/", "profiles/", "policies/")
_PACKS = f"{FOLDER}/"
_GUARDED = ("output", "profiles", "policies", ".github", ".gitlab", ".circleci", "docs")
_WORKFLOWS = (".github/workflows/", ".gitea/workflows/", ".forgejo/workflows/")
_FEW = 3
_LONGEST = 200
_MOST_REPORTED = 100
_MOST_BYTES = 1 << 20


def judge_files(root: Path, head: HeadTree, base: BaseRevision, *, is_accepted: bool) -> Iterator[Diagnostic]:
    """Each file with what it decides. Those that decide nothing are notes, and so are accepted ones."""
    found = list(_Change(root, head, base).findings())
    for path, message, is_grave in found[:_MOST_REPORTED]:
        severity = Severity.NOTE if is_accepted or not is_grave else None
        where = printable(path.removeprefix(base.prefix))
        yield diagnose(
            JUDGE_CHANGE, f"`{_shown(path)}` {message}", whole_file(where), subject=printable(path), severity=severity
        )
    if rest := found[_MOST_REPORTED:]:
        grave = any(item[2] for item in rest) and not is_accepted
        message = f"{counted(len(rest), 'more file')} like these are in the change"
        yield diagnose(JUDGE_CHANGE, message, whole_file("."), severity=None if grave else Severity.NOTE)


def _corrected(content: bytes | None) -> list[str]:
    """Keys under `corrects` of a table's file; none of a file that is no such text."""
    try:
        found = json.loads(content or b"{}").get("corrects", [])
    except (ValueError, AttributeError, RecursionError):
        return []
    return [shorten(key) for key in found if isinstance(key, str)] if isinstance(found, list) else []


class _Change:
    """What a change does to files beside the project's own."""

    def __init__(self, root: Path, head: HeadTree, base: BaseRevision) -> None:
        self._root = root
        self._head = head
        self._base = base
        self._own = tuple(f"{base.prefix}{name}" for name in _OWN)
        self._old = GitTexts(root, base.files)
        self._new = GitTexts(root, head.files)

    def findings(self) -> Iterator[tuple[str, str, bool]]:
        """Path, message, and whether it is more than a note."""
        for path in self._changed:
            found = self._judged(path)
            if found is not None:
                yield path, f"{self._how(path)}: {found[0]}", found[1]

    @cached_property
    def _changed(self) -> list[str]:
        """New, changed and gone: by the index, and by what is checked out of files that matter."""
        by_index = {*self._head.added(self._base), *self._head.gone(self._base)}
        watched = {path for path in self._head.files if part_of(path) is not None or path in self._pipelines.judging}
        watched |= {path for path in self._head.files if self._is_of_pack(path)}
        edited = {path for path in watched - by_index if self._is_edited(path)}
        untracked = {path for path in self._head.untracked if part_of(path) is not None or self._is_of_pack(path)}
        return sorted(path for path in by_index | edited | untracked if not self._is_own(path))

    def _is_own(self, path: str) -> bool:
        """Files of the project are judged elsewhere, but for those that hide profiles and policies from review."""
        hides = part_of(path) is Part.ATTRIBUTES and not path.startswith(self._own[0])
        return path.startswith(self._own) and not hides and not self._is_of_pack(path)

    def _is_of_pack(self, path: str) -> bool:
        """Manifests and the lock of packs of facts, whose files count by their hashes; and what teams may bring."""
        if path == f"{self._base.prefix}{TEAMS_FILE}":
            return True
        below = path.removeprefix(f"{self._base.prefix}{_PACKS}")
        return below != path and (below == LOCK_NAME or below.endswith(f"/{MANIFEST}"))

    def _corrections(self, path: str) -> str:
        """The built-in rows that a pack says otherwise, by its manifest's path; empty for other files."""
        tables = f"{path.rpartition('/')[0]}/{TABLES}/"
        known = {*self._head.files, *self._head.untracked}
        found = [
            f"{key} ({name.removeprefix(tables).removesuffix('.json')})"
            for name in sorted(item for item in known if item.startswith(tables) and path.endswith(f"/{MANIFEST}"))
            for key in _corrected(self._new_content(name))
        ]
        return f"; it corrects built-in facts: {listed(found)}" if found else ""

    @cached_property
    def _pipelines(self) -> Pipelines:
        return Pipelines(self._old, self._base.prefix, self._own)

    def _is_edited(self, path: str) -> bool:
        content = self._checked_out(path)
        blob = self._head.files[path].blob
        return content is not None and not is_blob(content, blob)

    def _checked_out(self, path: str) -> bytes | None:
        """None of what is not there, no regular file, or too large."""
        if not self._head.is_checked_out:
            return None
        depth = self._base.prefix.count("/")
        file = self._root.resolve().joinpath(*[".."] * depth, path)
        try:
            if file.is_symlink() or not file.is_file() or file.stat().st_size > _MOST_BYTES:
                return None
            return file.read_bytes()
        except (OSError, ValueError):
            return None

    def _new_text(self, path: str) -> str | None:
        content = self._checked_out(path)
        if content is not None and (path not in self._head.files or self._is_edited(path)):
            return content.decode("utf-8", "replace")
        return self._new.text(path)

    def _new_content(self, path: str) -> bytes | None:
        content = self._checked_out(path)
        if content is not None and (path not in self._head.files or self._is_edited(path)):
            return content
        return self._new.content(path)

    def _how(self, path: str) -> str:
        before, after = self._base.files.get(path), self._head.files.get(path)
        if before is None:
            return "is new" if after is not None else "is new, and not tracked yet"
        if after is None:
            return "is gone"
        return f"has mode {after.mode}, and not {before.mode}" if before.mode != after.mode else "is changed"

    def _judged(self, path: str) -> tuple[str, bool] | None:
        part = part_of(path)
        if SUBMODULE in (_mode(self._head.files.get(path)), _mode(self._base.files.get(path))):
            return _SUBMODULE if path in self._head.files else _NO_SUBMODULE
        if path.endswith(TEAMS_FILE) and self._is_of_pack(path):
            return "it decides which team may bring which clusters", True
        if self._is_of_pack(path):
            told = "it decides what is known beside what is built in, or instead of it: what runs, with which power"
            return told + self._corrections(path), True
        if path in self._pipelines.judging:
            return "it runs this check, or is run or read by what does", True
        if part is None:
            return None
        return {
            Part.APPROVAL: self._approval,
            Part.VIEW: self._view,
            Part.ATTRIBUTES: self._attributes,
            Part.PIPELINE: self._pipeline,
            Part.HOOK: self._named,
            Part.PIN: self._pin,
            Part.BOT: self._bot,
        }[part](path)

    def _approval(self, _: str) -> tuple[str, bool]:
        return "it decides who has to approve a change, or what merges it", True

    def _view(self, path: str) -> tuple[str, bool]:
        if path not in self._head.files and path not in self._head.untracked:
            return "nothing of it is left", False
        return "it decides what delivery engines and reviewers get to see of the repository", True

    def _attributes(self, path: str) -> tuple[str, bool]:
        folder = path.rpartition("/")[0]
        guarded = {*_GUARDED, *(part.casefold() for part in self._base.prefix.split("/")[:1] if part)}
        old_text, new_text = _as_text(self._old.content(path)), _as_text(self._new_content(path))
        old, new = hiding_lines(old_text, folder, guarded), hiding_lines(new_text, folder, guarded)
        more = [line for line in new if line not in old] or ([] if is_less_hidden(old, new) else new)
        more = more or shows_less(old_text, new_text)
        if more:
            lines = joined((f"`{_shown(line)}`" for line in more), _FEW)
            return f"it may hide files from review or change what is checked out: {lines}", True
        return "it hides nothing that is delivered", False

    def _pipeline(self, path: str) -> tuple[str, bool]:
        if self._names_us(path):
            return "it names poolsmith, and may run this check, or say that it ran", True
        old, new = self._old.text(path), self._new_text(path)
        if new is None and path in self._head.files:
            return "it can't be read, so that what it runs is unknown", True
        if path.casefold().startswith(_WORKFLOWS):
            reasons = list(decides(old, new, self._taken))
            if reasons:
                return f"it {'; it '.join(reasons)}", True
        return _NOTHING

    @cached_property
    def _taken(self) -> frozenset[str]:
        """Names under which the check reports."""
        roots = (path for path in self._pipelines.judging if path.casefold().startswith(_WORKFLOWS))
        jobs = (name for path in roots for name in job_names(_body(self._old.text(path))))
        return frozenset(name.parts[0] for name in jobs if name.is_certain) - {""}

    def _named(self, path: str) -> tuple[str, bool]:
        if self._names_us(path):
            return "it names poolsmith: it decides what runs before a change is seen", True
        return _NOTHING

    def _pin(self, path: str) -> tuple[str, bool] | None:
        if self._names_us(path):
            return "it names poolsmith: it decides which one is installed, or how it is run", True
        return None

    def _bot(self, path: str) -> tuple[str, bool]:
        old, new = (self._old.text(path) or "").casefold(), (self._new_text(path) or "").casefold()
        if new.count("automerge") > old.count("automerge"):
            return "it lets changes in that nobody approves", True
        return "it decides what a bot proposes; each proposal is a change of its own", False

    def _names_us(self, path: str) -> bool:
        return any("poolsmith" in (text or "").casefold() for text in (self._old.text(path), self._new_text(path)))


_NOTHING = "it has nothing to do with this check", False
_SUBMODULE = "it is a submodule: another repository decides what is checked out there", True
_NO_SUBMODULE = "the submodule is left out", False


def _mode(file: GitFile | None) -> str:
    return file.mode if file is not None else ""


def _as_text(content: bytes | None) -> str:
    """Of a file that git reads byte by byte: what is no UTF-8 stays what it is."""
    return (content or b"").decode("utf-8", "surrogateescape")


def _shown(text: str) -> str:
    return cut(printable(text), _LONGEST)
