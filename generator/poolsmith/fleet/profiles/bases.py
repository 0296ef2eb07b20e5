"""NodePoolBases, and the order in which `extends` stacks them.

The sink for mistakes looks for misplaced keys in the fields of all profiles.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.diagnostics.codes import shape as codes
from poolsmith.core.diagnostics.message_text import did_you_mean, shorten
from poolsmith.core.record import record
from poolsmith.core.shape.documents import FileSink, read_envelope, read_spec
from poolsmith.core.shape.field import BaseMetadata
from poolsmith.fleet.profiles.assumed import assumed_fields
from poolsmith.fleet.profiles.cluster import ClusterSpec
from poolsmith.fleet.profiles.node_pool import PoolSpec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.core.shape.field import Metadata
    from poolsmith.core.shape.layers import Layers
    from poolsmith.core.sources.input_tree import InputTree
    from poolsmith.core.sources.source_file import Content, SourceFile

    SoundPool = tuple[Metadata, PoolSpec, dict[str, tuple[int, str]]]
    """What a pool is called, what it says, and who says it (`Layers.owners`)."""


PROFILE_SPECS = (PoolSpec, ClusterSpec)


def profile_sink(
    place: SourceFile | Layers, *, subject: str = "", partial: bool = False, only_missing: bool = False
) -> FileSink:
    return FileSink(place, subject=subject, partial=partial, only_missing=only_missing, specs=PROFILE_SPECS)


MAX_EXTENDS_DEPTH = 32
_MOST_SOUND = 256


@record(frozen=False, kw_only=False)
class Bases:
    """The bases by name. `problems` are about the base files themselves.

    `sound` is what pools without mistakes say, by the texts of their layers: files with the same texts say the same.
    """

    files: dict[str, SourceFile] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)
    sound: dict[tuple[Content, ...], SoundPool] = field(default_factory=dict)
    _stacks: dict[str, tuple[SourceFile, ...]] = field(default_factory=dict)

    def keep_sound(self, texts: tuple[Content, ...], said: SoundPool) -> None:
        if len(self.sound) >= _MOST_SOUND:
            del self.sound[next(iter(self.sound))]
        self.sound[texts] = said

    def stack(self, file: SourceFile) -> tuple[tuple[SourceFile, ...], list[Diagnostic]]:
        """The layers under and including `file`, lowest first, and what is wrong with its `extends`.

        A base that is reached twice counts where it is reached last: applying it earlier as well would
        change nothing.
        """
        problems: list[Diagnostic] = []
        layers: list[SourceFile] = []
        for pointer, name in _extends(file):
            if name not in self.files:
                known = did_you_mean(name, sorted(self.files)) if self.files else "there are no bases yet"
                message = f"`extends` names `{shorten(name)}`, and no NodePoolBase has that name"
                problems.append(diagnose(codes.UNKNOWN_BASE, message, file.locate(pointer), help=known))
            else:
                layers.extend(self._stacks.get(name, ()))
        layers.append(file)
        return _last_occurrences(layers), problems

    def used_by(self, files: Iterable[SourceFile]) -> set[str]:
        """Names of the bases that `files` reach."""
        return {name for file in files for _, name in _extends(file)}

    def resolve(self) -> None:
        """Order every base under the ones that extend it; report unknown names, circles and long chains."""
        heights: dict[str, int] = {}
        for root in sorted(self.files):
            self._resolve_from(root, heights)

    def _resolve_from(self, root: str, heights: dict[str, int]) -> None:
        trail = {root: self._parents(root)} if root not in heights else {}
        while trail:
            name, parents = next(reversed(trail.items()))
            following = next((up for _, up in parents if up not in heights and up not in trail), None)
            if following is not None:
                trail[following] = self._parents(following)
                continue
            self._report_circles(name, trail)
            del trail[name]
            heights[name] = 1 + max((heights.get(parent, 0) for _, parent in parents), default=0)
            self._close(self.files[name], name, heights[name])

    def _parents(self, name: str) -> tuple[tuple[str, str], ...]:
        return tuple(entry for entry in _extends(self.files[name]) if entry[1] in self.files)

    def _report_circles(self, name: str, trail: dict[str, tuple[tuple[str, str], ...]]) -> None:
        for pointer, parent in trail[name]:
            if parent in trail:
                open_names = list(trail)
                circle = [*open_names[open_names.index(parent) :], parent]
                if len(circle) > MAX_EXTENDS_DEPTH:
                    circle = [*circle[:3], "…", *circle[-3:]]
                message = "bases extend each other in a circle: " + " → ".join(circle)
                self.problems.append(diagnose(codes.EXTENDS_CYCLE, message, self.files[name].locate(pointer)))

    def _close(self, file: SourceFile, name: str, height: int) -> None:
        layers, problems = self.stack(file)
        self.problems.extend(problems)
        if height <= MAX_EXTENDS_DEPTH:
            self._stacks[name] = layers
        elif height == MAX_EXTENDS_DEPTH + 1:
            message = f"bases extend each other over more than {MAX_EXTENDS_DEPTH} steps"
            self.problems.append(diagnose(reading.INPUT_LIMIT, message, file.locate("/spec/extends")))


def load_bases(tree: InputTree, paths: Iterable[str]) -> Bases:
    """Read every base file. Its shape is checked as a part: required fields may come from elsewhere."""
    bases = Bases()
    for path in paths:
        file = tree.read_profile(path)
        if isinstance(file, Diagnostic):
            bases.problems.append(file)
            continue
        bases.problems.extend((*file.problems, *assumed_fields(file)))
        sink = profile_sink(file, partial=True)
        metadata = read_envelope(file, "NodePoolBase", sink, BaseMetadata)
        spec = file.data.get("spec")
        if spec is not None:
            read_spec(PoolSpec, spec, sink)
        else:
            sink.report(codes.MISSING_FIELD, "/spec", "the document lacks `spec`", "add `spec`")
        bases.problems.extend(sink.found)
        if metadata is None:
            continue
        if (first := bases.files.get(metadata.name)) is not None:
            bases.problems.append(
                diagnose(
                    codes.DUPLICATE_NAME,
                    f"two bases have the name `{metadata.name}`",
                    file.locate("/metadata/name"),
                    related=(first.locate("/metadata/name", "the other one"),),
                )
            )
            continue
        bases.files[metadata.name] = file
    bases.resolve()
    return bases


def _extends(file: SourceFile) -> tuple[tuple[str, str], ...]:
    """Pointer and name of each base that `file` extends."""
    spec = file.data.get("spec")
    extends = spec.get("extends") if isinstance(spec, dict) else None
    names = extends if isinstance(extends, list) else ()
    found = ((f"/spec/extends/{index}", name) for index, name in enumerate(names))
    return tuple(entry for entry in found if isinstance(entry[1], str))


def _last_occurrences(layers: list[SourceFile]) -> tuple[SourceFile, ...]:
    seen: set[int] = set()
    kept = []
    for layer in reversed(layers):
        if id(layer) not in seen:
            seen.add(id(layer))
            kept.append(layer)
    return tuple(reversed(kept))
