"""A data folder of the catalog: what people keep there is read, what importers make is written."""

from __future__ import annotations

import json
import os
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, PoolsmithError, WriteError
from poolsmith.core.facts.versions import version_key
from poolsmith.core.sources.input_tree import InputTree, read_bytes
from poolsmith.kubernetes.schema.schemas import ENDING, SchemaPack

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_MAX_PACK_BYTES = 4 << 20
_MAX_ENTRY_BYTES = 4 << 20
_MAX_PACK_TEXT = 64 << 20


class CatalogData:
    """The folder, and what was wrong in it so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.diagnostics: list[Diagnostic] = []
        self._tree = InputTree(folder)

    def has(self, path: str) -> bool:
        return os.path.isfile(self.folder / path)  # noqa: PTH113 - never raises

    def mapping(self, path: str) -> dict[str, Any]:
        """A YAML file; empty where it can't be read, which is a diagnostic."""
        found = self._tree.read_profile(path)
        if isinstance(found, Diagnostic):
            self.diagnostics.append(found)
            return {}
        self.diagnostics.extend(found.problems)
        data: dict[str, Any] = found.data
        return data

    def pack(self, family: str) -> SchemaPack:
        """Raises PoolsmithError."""
        path = pack_path(family)
        content = read_bytes(self.folder / path, path, _MAX_PACK_BYTES)
        if isinstance(content, Diagnostic):
            raise PoolsmithError(f"{path}: {content.message}")
        try:
            return SchemaPack(zlib.decompressobj().decompress(content, _MAX_PACK_TEXT).decode())
        except (zlib.error, ValueError, LookupError, TypeError):
            raise PoolsmithError(f"{path} is no pack of schemas") from None

    def entry(self, folder: str, release: str) -> Any:
        """An entry of a release as it is written. Raises PoolsmithError."""
        name = f"{folder}/{release}.json"
        content = read_bytes(self.folder / name, name, _MAX_ENTRY_BYTES)
        if isinstance(content, Diagnostic):
            raise PoolsmithError(f"{name}: {content.message}")
        try:
            return json.loads(content)
        except ValueError:
            raise PoolsmithError(f"{name} is no JSON") from None

    def releases(self, folder: str) -> list[str]:
        """Those with an entry in a folder, the newest first."""
        tags = (path.stem for path in (self.folder / folder).glob("*.json"))
        return sorted(tags, key=version_key, reverse=True)

    def holds(self, path: str, content: bytes) -> bool:
        """Whether a file has exactly this content."""
        return read_bytes(self.folder / path, path, len(content)) == content


def pack_path(family: str) -> str:
    return f"schemas/{family}{ENDING}"


def write_entries(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files below the folder: each as a whole, and none before all of them are on the disk. Raises WriteError."""
    staged: list[tuple[Path, Path]] = []
    try:
        for path, content in files.items():
            target = folder / path
            target.parent.mkdir(exist_ok=True)
            if target.parent.is_symlink():
                raise WriteError(f"{target.parent} is a symbolic link; nothing was written")
            staged.append((target.parent / f".poolsmith-new-{target.name}", target))
            _write(staged[-1][0], content)
        for new, target in staged:
            os.replace(new, target)  # noqa: PTH105 - it takes the place of a link, and does not follow it
    except OSError as error:
        raise WriteError(f"{folder} can't be written: {error.strerror or error}") from None
    finally:
        for new, _ in staged:
            with suppress(OSError):
                new.unlink()


def _write(path: Path, content: bytes) -> None:
    with suppress(FileNotFoundError):
        path.unlink()
    with path.open("xb") as stream:
        stream.write(content)
