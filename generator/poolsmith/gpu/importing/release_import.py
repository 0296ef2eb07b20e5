"""A release's entries from the operator's own repository, checked out at its tag.

What the files do not say stands in the overlays of the catalog; what those do not say is told, never guessed.
"""

from __future__ import annotations

import json
from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, PoolsmithError
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.facts.versions import covers
from poolsmith.core.record import record
from poolsmith.gpu.importing.chart_entries import chart_entries, chart_files, driver_definition, entry_text, mig_layouts
from poolsmith.gpu.importing.chart_import import crds_entry
from poolsmith.gpu.importing.custom_resource_entry import CASES, cases, gpu_cluster_entry, nvidia_driver_entry
from poolsmith.gpu.importing.object_entry import documents_of, is_for_openshift, operand_entry, states_text
from poolsmith.gpu.importing.operator_repository import CHART, DEFINITIONS, MANIFESTS, RENDERED, YAML_ENDINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from poolsmith.gpu.importing.operator_repository import OperatorRepository

REPOSITORY = "NVIDIA/gpu-operator"
_CRD = "CustomResourceDefinition"
_SHOWN = 4
_SHAPE = (LookupError, TypeError, ValueError, AttributeError, StopIteration)
"""What the importers raise over files that have another form than they know."""


@record(frozen=False)
class ImportedRelease:
    """What became of a release. `files` are the entries by their paths in the data folder.

    `written` are those that differed from what stood there; None when nothing was to be written.
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


class ReleaseImport:
    """One import. `overlays` reads the overlays by path; empty for one that can't be used."""

    def __init__(self, repository: OperatorRepository, overlays: Callable[[str], dict[str, Any]], release: str) -> None:
        self.repository = repository
        self.release = release
        self.made = ImportedRelease(release=release)
        self.behaviours: dict[str, int] = {}
        self.kinds: dict[str, Any] = {}
        self.values: dict[str, dict[str, Any]] = {}
        self._overlays = overlays

    def run(self) -> ImportedRelease:
        """Everything that the repository has of the release."""
        self._operands()
        self._rendered()
        self._definitions()
        self._chart()
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
        self.take("operands", "".join(states_text(entry, _dump)), f"{count} objects of {len(there)} states, {folder}/")
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
            self.take("nvidia_driver", text, f"{len(drivers)} cases, {folder}/driver-*")
        if gpu_clusters:
            found = self._read(folder, names, gpu_clusters)
            entry = self._entry("gpu_cluster", gpu_cluster_entry, f"{RENDERED.path}/", found)
            if entry:
                text = "".join(states_text(entry, _dump))
                self.take("gpu_cluster", text, f"{len(gpu_clusters)} cases, {folder}/gpucluster-*")

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
        kinds = self.kinds = entry["kinds"]
        if not kinds or len(kinds) < len(definitions):
            raise PoolsmithError(f"{folder}/: {len(definitions)} definitions of {len(kinds)} kinds")
        crds = json.dumps(entry, sort_keys=True, separators=(",", ":")) + "\n"
        self.take("crds", crds, f"{len(kinds)} custom resources, {folder}/")
        self.take_schemas([content.decode() for content in texts.values()])

    def _chart(self) -> None:
        """Which values the chart takes, and what it does with them; only where the whole chart is there."""
        overlay = self._overlay("projection")
        files = chart_files(self.repository) if overlay and self.kinds else {}
        if not files:
            return
        source = f"{REPOSITORY}@{self.release}:{CHART.path}/{{values.yaml,templates/}}"
        try:
            entries, self.values = chart_entries(
                files,
                release=self.release,
                source=source,
                crds=self.kinds,
                overlay=overlay,
                driver_crd=driver_definition(self.repository),
                mig_config=mig_layouts(self.repository),
            )
        except PoolsmithError as error:
            self.made.errors.append(f"{CHART.path}/: {error}")
        except _SHAPE:
            self.made.errors.append(f"{CHART.path}/ or projection/overlay.yaml has a form that is not understood")
        else:
            for kind, entry in entries.items():
                self.take(kind, entry_text(entry), f"{len(files)} files, {CHART.path}/")

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
        return self._overlays(f"{kind}/overlay.yaml")

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
            self.behaviours[kind] = len(entry["behaviour"])
            return entry
        return {}

    def _misshapen(self, kind: str) -> None:
        self.made.errors.append(f"{kind}/overlay.yaml has a form that the importer does not know")

    def take(self, kind: str, text: str, from_where: str) -> None:
        """An entry, made."""
        self.made.files[f"{kind}/{self.release}.json"] = text.encode()
        self.made.taken.append(f"{kind}/{self.release}.json: {from_where}")

    def take_schemas(self, definitions: list[str]) -> None:
        """The texts of the definitions, for who keeps a pack of schemas. Raises ValueError."""

    def _leave_out(self, folder: str, names: Iterable[str], what: str) -> None:
        left = sorted(names)
        if left:
            self.made.left_out.append(f"{folder}/: {what}: {listed(left, _SHOWN)}")


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
