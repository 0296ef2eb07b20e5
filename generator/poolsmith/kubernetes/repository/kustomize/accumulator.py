"""What a build has brought together.

Source: kustomize api/internal/accumulator/resaccumulator.go.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.kubernetes.repository.delivered import Delivered, Unknown
from poolsmith.kubernetes.repository.kustomize.kustomization_file import first_line
from poolsmith.kubernetes.repository.kustomize.transform import stopped
from poolsmith.kubernetes.repository.kustomize.transformer_config import TransformerConfig, with_config

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.kubernetes.repository.kustomize.item import Item
    from poolsmith.kubernetes.repository.kustomize.kustomization_file import Place
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument


@record(slots=False)
class Build:
    """`kustomizations` are those that were read, `files` all files that were taken in.

    `refused` are those among `unknown` at which kustomize stops: it prints nothing at all.
    """

    objects: tuple[Delivered, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    refused: tuple[Unknown, ...] = ()
    kustomizations: tuple[CheckedDocument, ...] = ()
    files: frozenset[str] = frozenset()
    items: tuple[Item, ...] = ()
    """The objects before the last steps, as a kustomization that takes in this one gets them."""
    config: TransformerConfig = field(default_factory=TransformerConfig)
    top: Mapping[str, Any] = field(default_factory=dict)
    variables: tuple[tuple[Place, str, Any], ...] = ()
    is_partial: bool = False
    """Whether objects are missing that kustomize would have: of what lies elsewhere, or of a chart."""


@record(frozen=False)
class Accumulator:
    """A build on its way."""

    items: list[Item] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)
    refused: list[Unknown] = field(default_factory=list)
    kustomizations: list[CheckedDocument] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    config: TransformerConfig = field(default_factory=TransformerConfig)
    variables: list[tuple[Place, str, Any]] = field(default_factory=list)
    names: dict[tuple[str, ...], str] = field(default_factory=dict)
    """Of each object the file that it comes from."""
    is_partial: bool = False
    taken: dict[int, Build] = field(default_factory=dict)
    told: set[tuple[Any, ...]] = field(default_factory=set)

    def take(self, build: Build, place: Place, pointer: str) -> None:
        """All of another build."""
        self.take_told(build)
        self.add(build.items, place, pointer)

    def take_told(self, build: Build) -> None:
        """All of another build but its objects; what several builds tell is told once."""
        if id(build) not in self.taken:
            self.taken[id(build)] = build
            self.unknown += self._new(build.unknown)
            self.refused += self._new(build.refused, "refused")
            known = {document.path for document in self.kustomizations}
            self.kustomizations += [document for document in build.kustomizations if document.path not in known]
            names = {(of.source.path, at) for of, at, _ in self.variables}
            self.variables += [told for told in build.variables if (told[0].source.path, told[1]) not in names]
            self.files |= build.files
            self.is_partial |= build.is_partial
            self.config = with_config(self.config, build.config)

    def _new(self, told: tuple[Unknown, ...], sort: str = "") -> list[Unknown]:
        found: list[Unknown] = []
        for unknown in told:
            key = (sort, unknown.what, unknown.place.span.path, unknown.place.pointer)
            if key not in self.told:
                self.told.add(key)
                found.append(unknown)
        return found

    def add(self, items: tuple[Item, ...] | list[Item], place: Place, pointer: str) -> None:
        """An object that is there already is refused; the first one is told."""
        is_told = False
        for item in items:
            own = item.identity
            name = (*own[:4], own.place)
            if name not in self.names:
                self.names[name] = item.object.path
                self.items.append(item)
            elif not is_told:
                is_told = True
                first = first_line(self.names[name])
                self.refuse(place, pointer, f"{own.kind} `{own.name[:60]}` is there already, of {first}")

    def refuse(self, place: Place, pointer: str, why: str) -> None:
        self.halt(stopped(place, pointer, why))

    def halt(self, told: Unknown) -> None:
        self.refused.append(told)
        self.unknown.append(told)

    def lack(self, place: Place, pointer: str, path: Any) -> None:
        """Objects that are not among the files."""
        what = f"what `{first_line(str(path))}` brings, which is not among the files"
        self.unknown.append(Unknown(place.locate(pointer), what))
        self.is_partial = True

    def done(self, top: Mapping[str, Any]) -> Build:
        return Build(
            unknown=tuple(self.unknown),
            refused=tuple(self.refused),
            kustomizations=tuple(self.kustomizations),
            files=frozenset(self.files),
            items=tuple(self.items),
            config=self.config,
            top=top,
            variables=tuple(self.variables),
            is_partial=self.is_partial,
        )
