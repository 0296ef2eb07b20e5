"""Generated files against what stands in the output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, Location, Severity, diagnose, point_in, whole_file
from poolsmith.core.diagnostics.codes import hygiene as codes
from poolsmith.core.diagnostics.message_text import counted, listed
from poolsmith.core.record import record
from poolsmith.core.sources.secret_scalars import secrets_of_text
from poolsmith.core.sources.source_file import digest
from poolsmith.project.output.lock_file import LOCK, Lock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_REPORTED = 20
_FEW = 3


@record
class Comparison:
    """Paths relative to the cluster's folder. `present` are contents on disk, None for links and the like."""

    folder: str
    generated: Mapping[str, bytes]
    present: Mapping[str, bytes | None]
    lock: Lock

    @property
    def owned(self) -> frozenset[str]:
        return frozenset((*self.lock.files, LOCK))

    @property
    def is_current(self) -> bool:
        """Nothing to write and nothing to remove."""
        return all(self.present.get(path) == content for path, content in self.generated.items()) and not any(
            path in self.present for path in self.owned if path not in self.generated
        )

    def foreign(self) -> list[str]:
        return sorted(path for path in self.present if path not in self.owned and path not in self.generated)

    def occupied(self) -> list[str]:
        """What no lock owns and stands where a generated file, or a folder for one, has to go."""
        folders = {folder for path in self.generated for folder in _folders_of(path)}
        return [
            path
            for path in sorted(self.present.keys() - self.owned)
            if path in folders
            or (path in self.generated and self.present[path] != self.generated[path])
            or not self.generated.keys().isdisjoint(_folders_of(path))
        ]

    def hand_edited(self) -> list[str]:
        """Owned files whose bytes are neither what the lock recorded nor what is generated now."""
        return sorted(
            path
            for path, recorded in self.lock.files.items()
            if path in self.present and self._differs_from_both(path, recorded)
        )

    def _differs_from_both(self, path: str, recorded: str) -> bool:
        content = self.present[path]
        if content is None:
            return True
        return digest(content) != recorded and content != self.generated.get(path)

    def differs_in_line_ends(self, path: str) -> bool:
        """Whether the file is as generated, now or when the lock was written, save that its lines end in CRLF."""
        content = self.present.get(path)
        if content is None or b"\r\n" not in content:
            return False
        bare = content.replace(b"\r\n", b"\n")
        return bare == self.generated.get(path) or digest(bare) == self.lock.files.get(path)

    def out_of_date(self) -> Iterator[tuple[str, str]]:
        """Paths that generate would change, and how."""
        for path in sorted({*self.generated, *self.owned}):
            if path not in self.generated:
                if path in self.present:
                    yield path, "is no longer generated"
            elif path not in self.present:
                yield path, "is missing"
            elif self.present[path] != self.generated[path]:
                yield path, "is not what the profiles generate"


def _folders_of(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:length]) for length in range(1, len(parts))]


def drift_diagnostics(comparison: Comparison, subject: str, *, together: bool = False) -> list[Diagnostic]:
    """Findings of a run that writes nothing; `together`: one on all files that are merely out of date."""
    edited = set(comparison.hand_edited())
    found: list[Diagnostic] = []
    changes = list(comparison.out_of_date())
    if windows := {path for path, _ in changes if comparison.differs_in_line_ends(path)}:
        found.append(_line_ends(comparison, len(windows), subject))
        changes = [(path, how) for path, how in changes if path not in windows]
    if together:
        stale = [path for path, _ in changes if path not in edited]
        if stale:
            how = "is not what the profiles generate" if len(stale) == 1 else "are not what the profiles generate"
            message = f"{listed(stale, _FEW)} {how}"
            found.append(diagnose(codes.OUT_OF_DATE, message, whole_file(comparison.folder), subject=subject))
        changes = [(path, how) for path, how in changes if path in edited]
    for path, how in changes[:MAX_REPORTED]:
        if path in edited:
            found.append(hand_edit(comparison, path, subject))
        else:
            place = _first_difference(comparison, path)
            found.append(diagnose(codes.OUT_OF_DATE, f"`{path}` {how}", place, subject=subject))
    if len(changes) > MAX_REPORTED:
        rest = f"{len(changes) - MAX_REPORTED} more files of this cluster are out of date"
        found.append(diagnose(codes.OUT_OF_DATE, rest, whole_file(comparison.folder), subject=subject))
    return found + foreign_diagnostics(comparison, subject)


def _line_ends(comparison: Comparison, files: int, subject: str) -> Diagnostic:
    """Of a checkout that turned LF into CRLF, in one finding."""
    message = f"lines of {counted(files, 'file')} here end in CRLF: git's `core.autocrlf` changed them at the checkout"
    advice = "write `output/** text eol=lf` into .gitattributes, then run `poolsmith generate`"
    return diagnose(codes.HAND_EDITED, message, whole_file(comparison.folder), subject=subject, help=advice)


def hand_edit(comparison: Comparison, path: str, subject: str, severity: Severity | None = None) -> Diagnostic:
    return diagnose(
        codes.HAND_EDITED,
        f"`{path}` was edited by hand",
        _first_difference(comparison, path),
        subject=subject,
        severity=severity,
    )


def foreign_diagnostics(comparison: Comparison, subject: str) -> list[Diagnostic]:
    return [
        diagnose(
            codes.FOREIGN_FILE,
            f"`{path}` is in a generated folder, and no lock owns it",
            whole_file(f"{comparison.folder}/{path}"),
            subject=subject,
        )
        for path in comparison.foreign()[:MAX_REPORTED]
    ]


def _first_difference(comparison: Comparison, path: str) -> Location:
    where = f"{comparison.folder}/{path}"
    present, generated = comparison.present.get(path), comparison.generated.get(path)
    if present is None or generated is None:
        return whole_file(where)
    found = present.decode("utf-8", "replace").split("\n")
    wanted = generated.decode("utf-8", "replace").split("\n")
    pairs = zip(found, wanted, strict=False)
    index = next((index for index, (left, right) in enumerate(pairs) if left != right), min(len(found), len(wanted)))
    if index >= len(found):
        return point_in(where, index + 1, 1)
    return point_in(where, index + 1, 1, secrets_of_text("\n".join(found)).shown(index + 1, found[index]))
