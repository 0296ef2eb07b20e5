"""What a revision, or a checkout, holds in a cluster's delivery folder, whoever wrote it.

Where that is what is generated, nothing is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.delivery_objects import ELEMENT, KUSTOMIZATION_FILES, listed, of_files
from poolsmith.change.diff.folder_ids import blob_id
from poolsmith.core.diagnostics import Diagnostic
from poolsmith.core.record import record
from poolsmith.core.sources.git import Git
from poolsmith.core.sources.input_tree import InputTree
from poolsmith.guard.policies.base_revision import LINK, SUBMODULE
from poolsmith.project.output.delivery import FOLDER
from poolsmith.project.run.project import CLUSTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from poolsmith.change.diff.delivery_objects import DeliveryObject, Identity
    from poolsmith.guard.policies.base_revision import BaseRevision, GitFile
    from poolsmith.interface.app.diff_side import Side

_MOST_FILES = 200
_MOST_BYTES = 1 << 20
_NO_FILE = (LINK, SUBMODULE)


@record(kw_only=False)
class _InGit:
    """Files of a revision, by path from the folder that git is asked about."""

    git: Git
    files: Mapping[str, GitFile]
    folder: str

    def names(self) -> list[str]:
        start = f"{self.folder}/"
        found = (path.removeprefix(start) for path in self.files if path.startswith(start))
        return sorted(name for name in found if "/" not in name)

    def has(self, name: str) -> bool:
        return self._file(name) is not None

    def is_same(self, name: str, content: bytes) -> bool:
        file = self._file(name)
        return file is not None and blob_id(content, len(file.blob)) == file.blob

    def texts(self, names: Iterable[str]) -> dict[str, str]:
        """What is too large, or no regular file, is left out."""
        files = [(name, file.blob) for name in names if (file := self._file(name)) is not None]
        sizes = self.git.sizes([blob for _, blob in files])
        small = [entry for entry, size in zip(files, sizes, strict=True) if size is not None and size <= _MOST_BYTES]
        contents = self.git.contents([blob for _, blob in small])
        return {name: content.decode("utf-8", "replace") for (name, _), content in zip(small, contents, strict=True)}

    def _file(self, name: str) -> GitFile | None:
        file = self.files.get(f"{self.folder}/{name}")
        return None if file is None or file.mode in _NO_FILE else file


@record(kw_only=False)
class _OnDisk:
    """The same of what is checked out."""

    tree: InputTree
    folder: str

    def names(self) -> list[str]:
        return list(self.tree.listing(self.folder).files)

    def has(self, name: str) -> bool:
        return bool(self.texts((name,)))

    def is_same(self, name: str, content: bytes) -> bool:
        return self.texts((name,)).get(name, "").encode() == content

    def texts(self, names: Iterable[str]) -> dict[str, str]:
        found = {name: self.tree.read_text(f"{self.folder}/{name}", limit=_MOST_BYTES) for name in names}
        return {name: text for name, text in found.items() if not isinstance(text, Diagnostic)}


@record
class Made:
    """What is generated for a cluster: files by path in its folder, and the objects of its delivery."""

    files: Mapping[str, bytes]
    objects: Mapping[Identity, DeliveryObject]


def held_by_side(side: Side, cluster: str, made: Made) -> Mapping[Identity, DeliveryObject] | None:
    """Of one side of a change; None where it has no such folder. Raises UsageError."""
    if side.repository is None:
        return held_on_disk(side.project.output_root, cluster, made)
    return _held(_InGit(Git(side.repository, side.flag), side.files, _folder(cluster)), made)


def held_by_base(root: Path, base: BaseRevision, cluster: str) -> Mapping[Identity, DeliveryObject] | None:
    """Of the revision that a check is held against. Raises UsageError."""
    return _held(_InGit(Git(root, "--policies-from"), base.files, f"{base.prefix}{_folder(cluster)}"), _NOTHING)


def held_on_disk(root: Path, cluster: str, made: Made | None = None) -> Mapping[Identity, DeliveryObject] | None:
    return _held(_OnDisk(InputTree(root), _folder(cluster)), made or _NOTHING)


def _folder(cluster: str) -> str:
    return f"{CLUSTERS}/{cluster}/{FOLDER}"


_NOTHING = Made(files={}, objects={})


def _held(there: _InGit | _OnDisk, made: Made) -> Mapping[Identity, DeliveryObject] | None:
    start = f"{FOLDER}/"
    generated = {path.removeprefix(start): content for path, content in made.files.items() if path.startswith(start)}
    same = {name for name, content in generated.items() if there.is_same(name, content)}
    if generated and len(same) == len(generated):
        return {identity: item for identity, item in made.objects.items() if item.kind != ELEMENT}
    named = [name for name in KUSTOMIZATION_FILES if there.has(name)]
    texts = {name: generated[name].decode() for name in same}
    texts |= there.texts(name for name in named if name not in same)
    names = sorted(name for name in listed(texts) or () if "/" not in name) if named else there.names()
    texts |= there.texts([name for name in names if name not in texts][:_MOST_FILES])
    return of_files(texts) if texts else None
