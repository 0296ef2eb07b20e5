"""What a change does to installations of the stack that no profile asks for: by Flux, Argo CD, Fleet, OLM or a tool.

Only files that differ are read, with those beside them. `data/deliverers.yaml` says what becomes of an installation
when its declaration goes, or means another release.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.change.delivery.effects import cascades
from poolsmith.change.delivery.objects import APPLICATION, DeliveryObject
from poolsmith.change.takeover.deliverers import declares_by_name, deliverer_of
from poolsmith.change.takeover.found import declared
from poolsmith.core.diagnostics import Severity, diagnose
from poolsmith.core.diagnostics.codes.change import LEAVES_THE_DELIVERY
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.record import record
from poolsmith.core.sources.git import Git, is_blob, settled_entries
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import value_at
from poolsmith.guard.policies.revision import folder_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from poolsmith.change.takeover.deliverers import Deliverer
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.sources.git import IndexEntry
    from poolsmith.guard.policies.revision import GitFile
    from poolsmith.kubernetes.repository.delivered import ChartInstallation

_MOST, _MOST_BYTES = 2_000, 1 << 20
_REGULAR = ("100644", "100755")
_HOOK = ("nfd", "enabled"), ("node-feature-discovery", "postDeleteCleanup")


@record(kw_only=False)
class Installed:
    """An installation, who delivers it, and what that one knows it by."""

    item: ChartInstallation
    by: Deliverer

    @property
    def identity(self) -> tuple[str, ...]:
        """Where a tool goes by the place of a file, that is part of it."""
        document = self.item.document
        if document.kind:
            return document.kind, word(document.metadata.get("namespace")), word(document.metadata.get("name"))
        return self.by.called, self.place.rpartition("/")[0] if self.by.by_folder else ""

    @property
    def target(self) -> tuple[str, str]:
        return self.item.namespace or "", self.item.release_name or ""

    @property
    def place(self) -> str:
        return self.item.document.path

    @property
    def is_kept(self) -> bool:
        """Whether what it says itself keeps the release where its declaration goes."""
        data = mapping(self.item.document.data)
        if any(_is(value_at(data, tuple(path)), wanted) for path, wanted in self.by.kept):
            return True
        if self.identity[0] != APPLICATION:
            return self.by.leaves or _object(self.identity, data).is_guarded
        found = _object(self.identity, data)
        return found.is_suspended or found.is_guarded or not (cascades(found) or self._has_hook)

    @property
    def _has_hook(self) -> bool:
        return all(value_at(self.item.values, path) is not False for path in _HOOK)


def _is(value: Any, wanted: Any) -> bool:
    return str(value).lower() == str(wanted).lower()


def _object(identity: tuple[str, ...], body: Mapping[str, Any]) -> DeliveryObject:
    return DeliveryObject(kind=identity[0], namespace=identity[1], name=identity[-1], body=body)


def installed_in(folder: Path) -> tuple[Installed, ...]:
    pairs = ((item, deliverer_of(item)) for item in declared(folder))
    return tuple(Installed(item, by) for item, by in pairs if by is not None)


@record(kw_only=False, slots=False)
class Trees:
    """Both sides of a change, by path from the top of the repository. `top`: where the second one is checked out, with
    what is not in git's index yet. `own` are the folders of poolsmith, of which nothing is told here."""

    git: Git
    base: Mapping[str, GitFile]
    head: Mapping[str, GitFile]
    own: tuple[str, ...]
    top: Path | None

    @cached_property
    def edited(self) -> frozenset[str]:
        """By their bytes: git itself would run the filters of the repository."""
        if self.top is None:
            return frozenset()
        settled = settled_entries(Git(self.top, self.git.flag), (":/",))
        named = (path for path in self.head if self.may_declare(path))
        return frozenset(path for path in named if _differs(self.top / path, self.head[path], settled.get(path)))

    @cached_property
    def untracked(self) -> frozenset[str]:
        if self.top is None:
            return frozenset()
        names = self.git.run("ls-files", "-o", "--exclude-standard", "--full-name", "-z", "--", ":/").stdout
        return frozenset(os.fsdecode(name) for name in names.split(b"\0") if name)

    def may_declare(self, path: str) -> bool:
        return declares_by_name(path) and not path.startswith(self.own)

    @cached_property
    def changed(self) -> frozenset[str]:
        """What may declare an installation, and differs."""
        found = (path for path in {*self.base, *self.head} if self.base.get(path) != self.head.get(path))
        return frozenset(filter(self.may_declare, found)) | self.edited

    def near(self, files: Mapping[str, GitFile], folders: Iterable[str]) -> dict[str, GitFile]:
        """What stands beside something that differs."""
        wanted = set(folders)
        found = (path for path, file in files.items() if file.mode in _REGULAR and path.rpartition("/")[0] in wanted)
        return {path: files[path] for path in sorted(filter(self.may_declare, found))[:_MOST]}

    @contextmanager
    def checked_out(self, files: Mapping[str, GitFile], *, is_head: bool = True) -> Iterator[Path]:
        """A folder with these files; of the second side as they stand on disk. Raises UsageError."""
        plain = {path: file for path, file in files.items() if file.mode in _REGULAR and self.may_declare(path)}
        with folder_with(self.git, plain) as folder:
            if is_head and self.top is not None:
                new = sorted(filter(self.may_declare, self.untracked))[:_MOST]
                for path in (*(self.edited & plain.keys()), *new):
                    _as_checked_out(folder / path, self.top / path, self.top)
            yield folder


def _differs(there: Path, file: GitFile, known: IndexEntry | None) -> bool:
    """Whether what is checked out has another content than git's index; what can't be read has."""
    if file.mode not in _REGULAR:
        return False
    try:
        found = there.lstat()
        if known is not None and known.blob == file.blob and known.is_as(found):
            return False
        is_read = stat.S_ISREG(found.st_mode) and found.st_size <= _MOST_BYTES
        return not (is_read and is_blob(there.read_bytes(), file.blob))
    except OSError:
        return True


def left_elsewhere(trees: Trees) -> Iterator[Diagnostic]:
    """Raises UsageError."""
    if trees.changed.isdisjoint(trees.base):
        return
    folders = {path.rpartition("/")[0] for path in trees.changed}
    before, after = trees.near(trees.base, folders), trees.near(trees.head, folders)
    with trees.checked_out(before, is_head=False) as was, trees.checked_out(after) as now:
        yield from departures_elsewhere(installed_in(was), installed_in(now))


def _as_checked_out(copy: Path, there: Path, top: Path) -> None:
    """What can't be read, or is reached by a link, is not there."""
    copy.unlink(missing_ok=True)
    copy.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError):
        is_plain = there.resolve() == top.resolve() / there.relative_to(top) and there.is_file()
        if is_plain and there.stat().st_size <= _MOST_BYTES:
            copy.write_bytes(there.read_bytes())


def departures_elsewhere(was: Iterable[Installed], now: Iterable[Installed]) -> Iterator[Diagnostic]:
    after = {item.identity: item for item in now}
    before = {item.identity: item for item in was}
    for identity, old in sorted(before.items()):
        new = after.get(identity)
        if new is None:
            yield _gone(old, [item for key, item in after.items() if key not in before])
        elif new.target != old.target and new.item.chart == old.item.chart:
            yield _moved(old, new)


def _gone(old: Installed, come: list[Installed]) -> Diagnostic:
    """A rename is an error, since nobody means the end of what comes again."""
    instead = next((item for item in come if item.item.chart == old.item.chart), None)
    then = f"; `{shorten(instead.place)}` is to take its place, to which it is nobody's" if instead is not None else ""
    severity = Severity.ERROR if instead is not None else Severity.WARNING
    is_said = old.is_kept and not old.by.leaves
    words = "it says itself that its release stays" if is_said else f"that {old.by.removed}"
    return diagnose(
        LEAVES_THE_DELIVERY,
        f"{old.by.called} delivers `{shorten(old.item.chart)}` by this, and the change takes it away: {words}{then}",
        old.item.document.source.locate(old.item.pointer),
        help=f"see docs/takeover.md#{old.by.page}" if old.is_kept else old.by.keep_words(old.item),
        severity=Severity.NOTE if old.is_kept else severity,
    )


def _moved(old: Installed, new: Installed) -> Diagnostic:
    names = [f"`{shorten('/'.join(filter(None, item.target)))}`" for item in (old, new)]
    return diagnose(
        LEAVES_THE_DELIVERY,
        f"{old.by.called} delivers `{shorten(old.item.chart)}` by this as {names[1]}, and no longer as {names[0]}: "
        f"that {old.by.moved}",
        new.item.document.source.locate(new.item.pointer),
        help="take it back, or drain the nodes first: every driver goes",
    )
