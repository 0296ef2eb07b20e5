"""A pack of facts of one release, made from its chart, or from the operator's own repository at its tag.

What no file says is as in another release, where somebody says which one; else it is unknown, and told.
"""

from __future__ import annotations

import json
import re
from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, PoolsmithError, UsageError, sorted_unique
from poolsmith.core.diagnostics.message_text import did_you_mean, listed
from poolsmith.core.facts import store
from poolsmith.core.facts.packs import ENTRIES, FACTS, MANIFEST, VALUES
from poolsmith.core.facts.versions import covers, line_of, version_key
from poolsmith.core.record import record
from poolsmith.core.shape.field import API_VERSION
from poolsmith.core.sources.chart_files import read_chart_files
from poolsmith.core.sources.source_file import digest
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.gpu.catalog.pack_files import built_in_releases
from poolsmith.gpu.catalog.pack_kinds import PACK, RELEASE
from poolsmith.gpu.importing.chart_entries import chart_entries, chart_values_entry, entry_text
from poolsmith.gpu.importing.chart_import import crds_entry, definitions_in
from poolsmith.gpu.importing.operator_repository import CHART, MANIFESTS, OperatorRepository
from poolsmith.gpu.importing.release_import import ReleaseImport

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_DISCOVERY = "node-feature-discovery"
_ABOUT = {
    "charts/gpu-operator": "which values the chart takes: nothing can be generated",
    "crds": "custom resources: their fields are not judged",
    "operands": "what the operator creates: privileges, images and labels are unknown",
    "nvidia_driver": "drivers of NVIDIADriver objects",
    "projection": "what the chart makes of its values",
    FACTS: "how the release behaves: nothing can be generated; name a release that is like it with --like",
}
"""What is unknown without a folder of a pack; a GPUCluster only newer releases have."""


@record(frozen=False)
class MadePack:
    """The files by their paths in the pack, and what there is to say of them."""

    name: str
    release: str
    files: dict[str, bytes] = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def failed(self) -> bool:
        return bool(self.errors or self.diagnostics)


def make_pack(
    source: Path,
    release: str | None,
    *,
    name: str | None = None,
    version: str = "1",
    like: str | None = None,
    facts: Mapping[str, Any] | None = None,
) -> MadePack:
    """A pack of `source`: a chart's folder, an archive of it, or a checkout of the operator's repository.

    `facts` are what somebody knows of the release, over what it has from the one that it is like.
    Raises UsageError, PoolsmithError.
    """
    if like is not None and like not in built_in_releases():
        raise UsageError(f"--like names `{like}`, which is not built in; {did_you_mean(like, built_in_releases())}")
    has_manifests = (source / MANIFESTS.path).is_dir()
    files = read_chart_files(source / CHART.path if has_manifests else source)
    chart = _chart(files)
    release = _tag(release or str(chart.get("version", "")))
    made = MadePack(name=name or f"gpu-operator-{release.replace('.', '-')}", release=release)
    written = f"NVIDIA/gpu-operator@{release}" if has_manifests else f"chart {chart.get('name')} {release}"
    if has_manifests:
        values, kinds = _of_repository(made, source)
    else:
        values, kinds = _of_chart(made, files, written)
    if values:
        _take_values(made, values, kinds, chart, written)
    if not made.failed:
        _take_facts(made, chart, like, facts or {}, has_layouts=has_manifests)
        made.unknown += [
            f"{folder}: {about}" for folder, about in _ABOUT.items() if f"{folder}/{release}.json" not in made.files
        ]
        built_in = [f"{folder}/{release}.json" for folder in ENTRIES if release in store.built_in(folder)]
        made.files = {path: made.files[path] for path in sorted(made.files) if path not in built_in}
        made.files[MANIFEST] = manifest_text(made, version, written).encode()
    return made


def manifest_text(made: MadePack, version: str, source: str) -> str:
    """pack.yaml"""
    lines = [
        f"apiVersion: {API_VERSION}",
        f"kind: {PACK}",
        f"metadata: {{name: {made.name}}}",
        "spec:",
        f"  version: {json.dumps(version)}",
        f"  source: {json.dumps(source)}",
        f"  releases: [{made.release}]" if made.release else "  releases: []",
        "  files:",
        *(f"    - {{path: {path}, sha256: {digest(made.files[path])}}}" for path in sorted(made.files)),
    ]
    return "\n".join(lines) + "\n"


def _tag(version: str) -> str:
    tag = version if version.startswith("v") else f"v{version}"
    if not re.fullmatch(RELEASE, tag):
        raise UsageError(f"`{version}` is no tag of a release; they look like v26.7.0: give --release")
    if tag in built_in_releases():
        raise UsageError(f"{tag} is built in; a pack can't change what is known of it")
    return tag


def _chart(files: Mapping[str, bytes]) -> dict[str, Any]:
    try:
        found = read_documents(files["Chart.yaml"].decode())[0]
    except (KeyError, IndexError, UnicodeDecodeError, YamlProblem):
        raise PoolsmithError("there is no Chart.yaml that can be read: this is neither chart nor repository") from None
    if not isinstance(found, dict):
        raise PoolsmithError("Chart.yaml is not a mapping")
    return found


def _of_repository(made: MadePack, source: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    repository = OperatorRepository(source, made.release)
    run = ReleaseImport(repository, store.read_own_yaml, made.release)
    found = run.run()
    made.files |= found.files
    made.taken += found.taken
    made.errors += found.errors
    made.diagnostics = sorted_unique(repository.diagnostics)
    return run.values, run.kinds


def _of_chart(made: MadePack, files: dict[str, bytes], source: str) -> tuple[dict[str, Any], dict[str, Any]]:
    definitions = list(definitions_in(files))
    crds = crds_entry(release=made.release, source=source, definitions=definitions)
    overlay = store.read_own_yaml("projection/overlay.yaml")
    rendered = [item["kind"] for item in overlay["objects"] if covers(item, made.release)]
    if missing := [kind for kind in rendered if kind not in crds["kinds"]]:
        raise PoolsmithError(
            f"crds/ of the chart has no {listed(missing)}, which {made.release} renders: is it another release?"
        )
    driver = next((item for item in definitions if item["spec"]["names"]["kind"] == "NVIDIADriver"), None)
    try:
        entries, values = chart_entries(
            files,
            release=made.release,
            source=source,
            crds=crds["kinds"],
            overlay=overlay,
            driver_crd=driver,
        )
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise PoolsmithError(f"the chart has a form that is not understood: {type(error).__name__}") from None
    entries["crds"] = crds
    for folder, entry in entries.items():
        made.files[f"{folder}/{made.release}.json"] = entry_text(entry).encode()
        made.taken.append(f"{folder}/{made.release}.json: {len(files)} files of the chart")
    return values, crds["kinds"]


def _take_values(
    made: MadePack, values: dict[str, Any], kinds: dict[str, Any], chart: Mapping[str, Any], source: str
) -> None:
    if made.release in store.read_json("chart_values.json")["tags"]:
        return
    recorded = {"paths": values, "nodeFeatureDiscoveryChart": _discovery(chart)}
    entry = chart_values_entry({made.release: recorded}, {made.release: kinds}, source=source)
    made.files[f"{VALUES}/{made.release}.json"] = entry_text(entry).encode()
    made.taken.append(f"{VALUES}/{made.release}.json: {len(entry['paths'])} value paths")


def _take_facts(
    made: MadePack, chart: Mapping[str, Any], like: str | None, known_facts: Mapping[str, Any], *, has_layouts: bool
) -> None:
    """What only documentation and code say, as another release has it."""
    known = store.read_own_yaml("releases.yaml")
    line = line_of(made.release)
    same_line = [tag for tag, entry in known["releases"].items() if entry["line"] == line]
    like = like or max(same_line, key=version_key, default=None)
    if like is None:
        return
    entry = {**known["releases"][like], "line": line, "date": None, "source": f"as {like}"}
    facts: dict[str, Any] = {"like": like}
    defaults = json.loads(made.files.get(f"charts/gpu-operator/{made.release}.json", b"{}")).get("defaults", {})
    for key, path in (("cdiDefault", ("cdi", "enabled")), ("ccManagerDefault", ("ccManager", "enabled"))):
        value = defaults.get(path[0], {}).get(path[1])
        if isinstance(value, bool):
            entry[key] = value
    if line not in known["lines"]:
        facts["line"] = {"like": known["releases"][like]["line"]}
        entry["kubernetes"] = None
    packaged = str(chart.get("version")) == made.release  # the repository has a version of its own, until it is packed
    application = str(chart["appVersion"]) if packaged and "appVersion" in chart else made.release
    facts |= {"release": entry, "chart": {"appVersion": application}}
    if (discovery := _discovery(chart)) is not None:
        facts["chart"]["nodeFeatureDiscovery"] = discovery.removeprefix("v")
    for key, value in known_facts.items():
        facts[key] = {**facts[key], **value} if isinstance(value, dict) and key in facts else value
    made.files[f"{FACTS}/{made.release}.json"] = entry_text(facts).encode()
    if not has_layouts:
        _take_layouts(made, like)
    told = f" but for what --facts has: {', '.join(known_facts)}" if known_facts else ""
    made.assumed.append(
        f"what neither chart nor manifests say is as in {like}: NVIDIADriver objects, sandbox era, paths of runtimes, "
        "what the chart's templates install beside custom resources, how the operator behaves" + told
    )
    if discovery and facts["chart"]["nodeFeatureDiscovery"] not in _known_discovery():
        made.assumed.append(f"{_DISCOVERY} {discovery} installs what older versions install")


def _take_layouts(made: MadePack, like: str) -> None:
    """A chart alone does not name the MIG layouts that come with the release."""
    path = f"{ENTRIES[0]}/{made.release}.json"
    entry, other = json.loads(made.files[path]), store.read_json(f"{ENTRIES[0]}/{like}.json")
    made.files[path] = entry_text({**entry, "migLayouts": other["migLayouts"]}).encode()
    made.assumed.append(f"the MIG layouts are those of {like}")


def _known_discovery() -> Mapping[str, Any]:
    versions: dict[str, Any] = store.read_own_yaml("chart_workloads/node_feature_discovery.yaml")["versions"]
    return versions


def _discovery(chart: Mapping[str, Any]) -> str | None:
    dependencies = chart.get("dependencies")
    found: Iterator[str] = (
        str(item["version"])
        for item in (dependencies if isinstance(dependencies, list) else ())
        if isinstance(item, dict) and item.get("name") == _DISCOVERY and "version" in item
    )
    return next(found, None)
