"""Write packs of schemas; `catalog.schema_pack` reads them, and describes their form."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from poolsmith.kubernetes.schema.scalars import Schema


@dataclass(frozen=True, slots=True)
class Entry:
    """One definition as it is written. `kind` is `apiVersion Kind` for roots."""

    name: str
    versions: tuple[int, ...]
    kind: str
    schema: Schema


def pack_text(header: dict[str, Any], entries: Iterable[Entry]) -> str:
    """The text of a pack; the same for the same entries in any order."""
    count = len(header["versions"])
    lines = [
        f"{entry.name}\t{_ranges(entry.versions, count)}\t{entry.kind}\t{_json(entry.schema)}"
        for entry in sorted(entries, key=lambda entry: (entry.name, entry.versions))
    ]
    return "\n".join([_json(header), *lines]) + "\n"


def write_pack(path: Path, text: str) -> None:
    """NOTE: other builds of zlib may give other bytes; compare texts, not files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zlib.compress(text.encode(), 9))


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _ranges(versions: tuple[int, ...], count: int) -> str:
    if len(versions) == count:
        return "*"
    parts: list[list[int]] = []
    for index in sorted(versions):
        if parts and parts[-1][1] == index - 1:
            parts[-1][1] = index
        else:
            parts.append([index, index])
    return ",".join(f"{first}-{last}" for first, last in parts)
