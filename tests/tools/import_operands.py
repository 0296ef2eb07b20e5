"""Make a release's operand entries from the operator's own repository, checked out at its tag.

    PYTHONPATH=tests .venv/bin/python -m tools.import_operands FOLDER --release v26.7.0 [--into DATA_FOLDER]

What the files do not say stands in the overlays of the data folder; what those do not say is told, never guessed. With
any mistake nothing is written.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolsmith.catalog import store
from poolsmith.catalog.crd_entry import crds_entry
from poolsmith.catalog.versions import covers
from poolsmith.diagnostics import Diagnostic, PoolsmithError, UsageError, sorted_unique
from poolsmith.diagnostics.listing import listed
from poolsmith.diagnostics.outcome import Outcome
from poolsmith.diagnostics.printable import printable
from poolsmith.report.text import format_text
from tools.catalog_data import CatalogData, pack_path, write_entries
from tools.chart_release import chart_entries, chart_files, entry_text
from tools.entry_changes import entry_file
from tools.gpu_cluster_entry import cases, gpu_cluster_entry
from tools.import_by_hand import by_hand
from tools.nvidia_driver_entry import CASES, nvidia_driver_entry
from tools.object_entry import documents_of
from tools.operand_entry import is_for_openshift, operand_entry, states_text
from tools.operator_repository import CHART, DEFINITIONS, MANIFESTS, RENDERED, YAML_ENDINGS, OperatorRepository
from tools.schema_pack_entry import pack_with_release

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

REPOSITORY = "NVIDIA/gpu-operator"
FAMILY = "gpu-operator"
_CRD = "CustomResourceDefinition"
_TAG = re.compile(r"v\d{1,4}\.\d{1,4}\.\d{1,4}")
_SHOWN = 4
_LONGEST = 500
_SHAPE = (LookupError, TypeError, ValueError, AttributeError, StopIteration)
"""What the importers raise over files that have another form than they know."""


@dataclass(slots=True, kw_only=True)
class OperandImport:
    """What became of a release.

    `files` are the entries by their paths in the data folder, `written` those that differed from what stood there;
    None when nothing was to be written.
    """

    release: str
    files: dict[str, bytes] = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    by_hand: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    diagnostics: tuple[Diagnostic, ...] = ()
    written: tuple[str, ...] | None = None

    @property
    def failed(self) -> bool:
        return bool(self.errors or self.diagnostics)


def import_operands(folder: Path, release: str, into: Path | None = None) -> OperandImport:
    """Make the entries, and write them into a data folder of the catalog if one is named.

    Raises UsageError for a tag or a folder that can't be meant, WriteError.
    """
    if not _TAG.fullmatch(release):
        raise UsageError(f"`{release}` is no tag of a release; they look like v26.7.0")
    data = CatalogData(into or store.DATA)
    if not data.has("operands/overlay.yaml"):
        raise UsageError(f"{into} is no data folder of the catalog: it has no operands/overlay.yaml")
    repository = OperatorRepository(folder, release)
    if repository.folder_of(MANIFESTS) is None:
        raise UsageError(f"{folder} is no folder of the gpu-operator's repository: it has no {MANIFESTS}")
    result = _Run(repository, data, release).result()
    if into is not None and not result.failed:
        changed = {path: content for path, content in result.files.items() if not data.holds(path, content)}
        write_entries(into, changed)
        result.written = tuple(changed)
    return result


class _Run:
    """One import."""

    def __init__(self, repository: OperatorRepository, data: CatalogData, release: str) -> None:
        self.repository = repository
        self.data = data
        self.release = release
        self.made = OperandImport(release=release)
        self._behaviours: dict[str, int] = {}
        self._kinds: dict[str, Any] = {}

    def result(self) -> OperandImport:
        self._operands()
        self._rendered()
        self._definitions()
        self._chart()
        made = self.made
        made.by_hand += by_hand(self.release, self._behaviours, self.repository.chart(), self.data, made.files)
        self.made.diagnostics = sorted_unique([*self.repository.diagnostics, *self.data.diagnostics])
        return self.made

    def _operands(self) -> None:
        """The static manifests, by states."""
        folder = self.repository.folder_of(MANIFESTS)
        assert folder is not None, "asked before"
        names = self.repository.names(folder)
        kept = self._yaml(folder, names)
        self._leave_out(folder, filter(is_for_openshift, kept), "what only OpenShift gets")
        kept = tuple(name for name in kept if not is_for_openshift(name))
        entry = self._entry("operands", operand_entry, f"{MANIFESTS.path}/", self._read(folder, names, kept))
        if not entry:
            return
        there = {state["name"] for state in entry["states"]}
        count = sum(len(state["objects"]) for state in entry["states"])
        self._take("operands", "".join(states_text(entry, _dump)), f"{count} objects of {len(there)} states, {folder}/")
        ordered = {state["name"] for state in self._overlay("operands")["states"] if covers(state, self.release)}
        self.made.by_hand += [
            f"operands/overlay.yaml: {name} is ordered for {self.release}, and there is no {folder}/{name}/"
            for name in sorted(ordered - there)
        ]

    def _rendered(self) -> None:
        """What the operator's own tests expect: entries of NVIDIADriver and of GPUCluster."""
        folder = self.repository.folder_of(RENDERED)
        if folder is None:
            self.made.errors.append(f"there is no {RENDERED}, and so nothing is known of NVIDIADriver objects")
            return
        names = self.repository.names(folder)
        drivers, gpu_clusters = [f"driver-{case}.yaml" for case in CASES], self._gpu_cluster_cases()
        self._leave_out(folder, set(names) - {*drivers, *gpu_clusters}, "cases that no entry is made from")
        found = self._read(folder, names, drivers)
        by_case = found and {name.removeprefix("driver-").removesuffix(".yaml"): text for name, text in found.items()}
        entry = self._entry("nvidia_driver", nvidia_driver_entry, RENDERED.path, by_case)
        if entry:
            text = json.dumps(entry, indent=1, ensure_ascii=False) + "\n"
            self._take("nvidia_driver", text, f"{len(drivers)} cases, {folder}/driver-*")
        if gpu_clusters:
            found = self._read(folder, names, gpu_clusters)
            entry = self._entry("gpu_cluster", gpu_cluster_entry, f"{RENDERED.path}/", found)
            if entry:
                text = "".join(states_text(entry, _dump))
                self._take("gpu_cluster", text, f"{len(gpu_clusters)} cases, {folder}/gpucluster-*")

    def _gpu_cluster_cases(self) -> tuple[str, ...]:
        """None where no state of the overlay covers the release: there was no GPUCluster yet."""
        overlay = self._overlay("gpu_cluster")
        try:
            return cases(overlay, self.release) if overlay else ()
        except _SHAPE:
            self._misshapen("gpu_cluster")
            return ()

    def _definitions(self) -> None:
        """The custom resources: how they are pruned, and by what they are validated."""
        folder = self.repository.folder_of(DEFINITIONS)
        if folder is None:
            self.made.errors.append(f"there is no {DEFINITIONS}, and so no custom resource is known")
            return
        names = self._yaml(folder, self.repository.names(folder))
        files = self._read(folder, names, names)
        if files is None:
            return
        defining = {name: text for name, text in files.items() if _CRD in self.repository.kinds(f"{folder}/{name}")}
        self._leave_out(folder, set(names) - set(defining), "what defines no custom resource")
        documents = [item for name, text in defining.items() for item in documents_of(name, text)]
        try:
            self._take_definitions(folder, [item for item in documents if item["kind"] == _CRD], defining)
        except PoolsmithError as error:
            self.made.errors.append(str(error))
        except ValueError as error:  # what packs do not hold, with its place
            self.made.errors.append(f"{folder}/: {error}")
        except _SHAPE:
            self.made.errors.append(f"{folder}/: a definition has a form that is not understood")

    def _take_definitions(self, folder: str, definitions: list[dict[str, Any]], texts: Mapping[str, bytes]) -> None:
        source = f"{REPOSITORY}@{self.release}:{DEFINITIONS.path}/"
        entry = crds_entry(release=self.release, source=source, definitions=definitions)
        kinds = self._kinds = entry["kinds"]
        if not kinds or len(kinds) < len(definitions):
            raise PoolsmithError(f"{folder}/: {len(definitions)} definitions of {len(kinds)} kinds")
        pack = self.data.pack(FAMILY)
        text = pack_with_release(pack, self.release, (content.decode() for content in texts.values()))
        crds = json.dumps(entry, sort_keys=True, separators=(",", ":")) + "\n"
        self._take("crds", crds, f"{len(kinds)} custom resources, {folder}/")
        self.made.taken.append(f"{pack_path(FAMILY)}: the same")
        if text != pack.text:  # another build of zlib gives other bytes for the same text
            self.made.files[pack_path(FAMILY)] = zlib.compress(text.encode(), 9)

    def _chart(self) -> None:
        """What values the chart takes, and what becomes of them; only where the whole chart is there."""
        overlay = self._overlay("projection") if self.data.has("projection/overlay.yaml") else {}
        files = chart_files(self.repository) if overlay and self._kinds else {}
        if not files:
            return
        source = f"{REPOSITORY}@{self.release}:{CHART.path}/{{values.yaml,templates/}}"
        try:
            entries = chart_entries(
                self.repository, files, release=self.release, source=source, crds=self._kinds, overlay=overlay
            )
        except PoolsmithError as error:
            self.made.errors.append(f"{CHART.path}/: {error}")
        except _SHAPE:
            self.made.errors.append(f"{CHART.path}/ or projection/overlay.yaml has a form that is not understood")
        else:
            for kind, entry in entries.items():
                self._take(kind, entry_text(entry), f"{len(files)} files, {CHART.path}/")

    def _read(self, folder: str, names: Collection[str], wanted: Collection[str]) -> dict[str, bytes] | None:
        """Those of the wanted files that are there; None when one of them can't be used."""
        there = tuple(name for name in wanted if name in names)
        found = self.repository.manifests(folder, there)
        return found if len(found) == len(there) else None

    def _yaml(self, folder: str, names: tuple[str, ...]) -> tuple[str, ...]:
        kept = tuple(name for name in names if name.endswith(YAML_ENDINGS))
        self._leave_out(folder, set(names) - set(kept), "what is no YAML")
        return kept

    def _overlay(self, kind: str) -> dict[str, Any]:
        return self.data.mapping(f"{kind}/overlay.yaml")

    def _entry(
        self, kind: str, make: Callable[..., dict[str, Any]], source: str, files: Mapping[str, bytes] | None
    ) -> dict[str, Any]:
        """Empty where it can't be made; why not is told."""
        overlay = self._overlay(kind)
        if files is None or not overlay:
            return {}
        where = f"{REPOSITORY}@{self.release}:{source}"
        try:
            entry = make(release=self.release, source=where, files=files, overlay=overlay)
        except PoolsmithError as error:
            self.made.errors.append(f"{kind}: {error}")
        except _SHAPE:
            self._misshapen(kind)
        else:
            self._behaviours[kind] = len(entry["behaviour"])
            return entry
        return {}

    def _misshapen(self, kind: str) -> None:
        self.made.errors.append(f"{kind}/overlay.yaml has a form that the importer does not know")

    def _take(self, kind: str, text: str, from_where: str) -> None:
        path = f"{kind}/{self.release}.json"
        try:
            self.made.files[path] = entry_file(self.data, kind, self.release, text)
        except PoolsmithError as error:
            self.made.errors.append(str(error))
        self.made.taken.append(f"{path}: {from_where}")

    def _leave_out(self, folder: str, names: Iterable[str], what: str) -> None:
        left = sorted(names)
        if left:
            self.made.left_out.append(f"{folder}/: {what}: {listed(left, _SHOWN)}")


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def main(arguments: list[str] | None = None) -> int:
    """Print what was taken, left out and remains to be done by hand; mistakes go to standard error.

    0: done. 1: mistakes in the files, and nothing was written. 2: a wrong argument.
    """
    parser = argparse.ArgumentParser(prog="tools.import_operands", description="Make the operand entries of a release.")
    parser.add_argument("folder", type=Path, help="a checkout of the gpu-operator's repository")
    parser.add_argument("--release", required=True, help="the tag that the folder holds, as v26.7.0")
    parser.add_argument("--into", type=Path, help="generator/poolsmith/catalog/data; else nothing is written")
    given = parser.parse_args(arguments)
    try:
        result = import_operands(given.folder, given.release, given.into)
    except PoolsmithError as error:
        _say(str(error))
        return error.exit_code
    if result.failed:
        if result.diagnostics:
            sys.stderr.write(format_text(Outcome(diagnostics=result.diagnostics)))
        for line in (*result.errors, "nothing was written"):
            _say(line)
        return 1
    for title, lines in (("took", result.taken), ("left out", result.left_out), ("by hand", result.by_hand)):
        for line in lines:
            sys.stdout.write(f"{title:<9} {printable(line)}\n")
    for path in result.written or ():
        sys.stdout.write(f"wrote     {path}\n")
    if not result.written:
        why = "name a data folder with --into" if given.into is None else "all of it stands there already"
        sys.stdout.write(f"wrote     nothing: {why}\n")
    return 0


def _say(line: str) -> None:
    sys.stderr.write(f"{printable(line)[:_LONGEST]}\n")


if __name__ == "__main__":
    sys.exit(main())
