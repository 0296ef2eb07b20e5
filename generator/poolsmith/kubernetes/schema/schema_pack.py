"""Compact files of structural schemas: how they are read.

A pack is zlib over lines of text. The first line is a JSON header (source, licence, versions); each other line is one
definition: name, versions it holds for (ranges of indices into the header's versions, or `*`), the kind that it is
the root of (`apps/v1 DaemonSet`, or empty), and its schema as JSON. Definitions refer to each other by name, within
one version. Nothing is parsed before it is needed.

Keys of a schema: those of OpenAPI (type, properties, items, required, additionalProperties, enum, pattern, format,
nullable, default, bounds), `$ref` with a definition's name, and our short forms of what Kubernetes adds:
`intOrString`, `quantity`, `preserve` (unknown fields), `listType`, `listMapKeys`, `rules` (CEL texts).
"""

from __future__ import annotations

import json
import zlib
from functools import cached_property
from typing import Any

from poolsmith.core.facts.store import DATA

FOLDER = DATA / "schemas"
ENDING = ".schemas.z"
Schema = dict[str, Any]


class SchemaPack:
    """One pack. `versions` are oldest first; `text` is what the importers make."""

    def __init__(self, text: str) -> None:
        self.text = text
        head, _, body = text.partition("\n")
        self.header: dict[str, Any] = json.loads(head)
        self.versions: tuple[str, ...] = tuple(self.header["versions"])
        self._lines = body.splitlines()
        self._views: dict[str, PackView] = {}

    @cached_property
    def groups(self) -> frozenset[str]:
        """The API groups of all kinds in all versions; the core group is the empty string."""
        kinds = (line.split("\t", 3)[2] for line in self._lines)
        return frozenset(kind.partition(" ")[0].rpartition("/")[0] for kind in kinds if kind)

    def view(self, version: str) -> PackView:
        """The definitions of one version. Raises KeyError."""
        if version not in self._views:
            if version not in self.versions:
                raise KeyError(version)
            self._views[version] = PackView(self._lines, self.versions.index(version))
        return self._views[version]


class PackView:
    """What a pack says for one version: kinds, and definitions by name."""

    def __init__(self, lines: list[str], index: int) -> None:
        self._texts: dict[str, str] = {}
        self.kinds: dict[str, str] = {}
        for line in lines:
            name, ranges, kind, text = line.split("\t", 3)
            if ranges != "*" and not _covers(ranges, index):
                continue
            self._texts[name] = text
            if kind:
                self.kinds[kind] = name

    def definition(self, name: str) -> Schema:
        schema: Schema = json.loads(self._texts[name])
        return schema


def read_pack(family: str) -> SchemaPack:
    return SchemaPack(zlib.decompress((FOLDER / f"{family}{ENDING}").read_bytes()).decode())


def families() -> tuple[str, ...]:
    return tuple(sorted(path.name.removesuffix(ENDING) for path in FOLDER.glob(f"*{ENDING}")))


def _covers(ranges: str, index: int) -> bool:
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        if int(first) <= index <= int(last):
            return True
    return False
