"""Generated files before they are bytes."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping

YamlValue = Any
"""A tree of dict (string keys), list, str, int, float, bool and None."""


@record
class Manifest:
    """One generated file. `path` is relative to the cluster's output folder, with forward slashes.

    `documents` are what the file holds, in order; `text` is set instead for prose. `header` are the lines of
    its opening comment, `comments` maps JSON pointers of the first document to lines above a key.
    `applied` says whether the file holds Kubernetes objects that a sync applies.
    """

    path: str
    documents: tuple[YamlValue, ...] = ()
    text: str | None = None
    header: tuple[str, ...] = ()
    comments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    applied: bool = True


@record(kw_only=False)
class ManifestTree:
    """All generated files of one cluster, sorted by path."""

    manifests: tuple[Manifest, ...]

    def objects(self) -> tuple[tuple[str, YamlValue], ...]:
        """Every Kubernetes object that some sync applies, with the file that holds it."""
        return tuple(
            (manifest.path, document)
            for manifest in self.manifests
            if manifest.applied
            for document in manifest.documents
        )
