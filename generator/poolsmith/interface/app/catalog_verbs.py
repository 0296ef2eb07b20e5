"""Use cases over the catalog: what it knows of releases, an entry from a chart, and the JSON Schema of Helm values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.core.facts import store
from poolsmith.core.facts.packs import ENTRIES, FACTS, active
from poolsmith.core.record import record
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.gpu.catalog.value_paths import value_paths

if TYPE_CHECKING:
    from pathlib import Path

    from poolsmith.core.facts.packs import Pack


@record
class CatalogRelease:
    """One release: how much is known of it. `generated` says whether clusters can be generated for it.

    `pack` is where its facts come from; None for a built-in one. `unknown` are the facts that nobody has.
    """

    release: str
    values: int
    dead: tuple[str, ...]
    comes: tuple[str, ...]
    goes: tuple[str, ...]
    node_feature_discovery: str
    generated: bool
    pack: Pack | None = None
    unknown: tuple[str, ...] = ()


def catalog_releases() -> tuple[CatalogRelease, ...]:
    """All recorded releases, oldest first."""
    return tuple(_release(tag) for tag in value_paths().tags)


def catalog_release(release: str) -> CatalogRelease:
    """One of them. Raises UsageError."""
    found = value_paths().release(release)
    if found is None:
        tags = tuple(reversed(value_paths().tags))
        raise UsageError(f"there is no release `{release}` in the catalog; {did_you_mean(release, tags)}")
    return _release(found.tag)


def release_json(item: CatalogRelease) -> dict[str, Any]:
    return {
        "release": item.release,
        "generated": item.generated,
        "values": item.values,
        "dead": list(item.dead),
        "comes": list(item.comes),
        "goes": list(item.goes),
        "nodeFeatureDiscoveryChart": item.node_feature_discovery,
        **(
            {
                "pack": {
                    "name": item.pack.name,
                    "version": item.pack.version,
                    "source": item.pack.source,
                    "sha256": item.pack.sha256,
                },
                "unknown": list(item.unknown),
            }
            if item.pack
            else {}
        ),
    }


def import_chart(path: Path, release: str | None) -> str:
    """The catalog entry of a chart as JSON. Raises UsageError, PoolsmithError."""
    from poolsmith.core.sources.chart_files import read_chart_files  # on demand
    from poolsmith.gpu.importing.chart_import import entry_from_chart  # on demand

    entry = entry_from_chart(read_chart_files(path), release=release)
    return json.dumps(entry, indent=1, ensure_ascii=False) + "\n"


def _release(tag: str) -> CatalogRelease:
    paths = value_paths()
    index = paths.tags.index(tag)
    here = paths.read_paths(tag)
    before = paths.read_paths(paths.tags[index - 1]) if index else here
    return CatalogRelease(
        release=tag,
        values=len(here),
        dead=paths.dead(tag),
        comes=_tops(here - before),
        goes=_tops(before - here),
        node_feature_discovery=paths.subchart(tag),
        generated=tag in store.names(f"charts/{OPERATOR_CHART}")
        and tag in store.read_yaml("releases.yaml")["releases"],
        pack=active().of(tag),
        unknown=tuple(folder for folder in (*ENTRIES, FACTS) if not _is_known(folder, tag)) if active().of(tag) else (),
    )


def _is_known(folder: str, tag: str) -> bool:
    """A GPUCluster only newer releases have."""
    pack = active().of(tag)
    return folder == "gpu_cluster" or tag in store.names(folder) or (pack is not None and pack.has(folder, tag))


def _tops(paths: frozenset[str]) -> tuple[str, ...]:
    """Without what stands below another one of them."""
    return tuple(sorted(path for path in paths if not any(path.startswith(f"{other}.") for other in paths)))


def values_schema_text(release: str | None) -> str:
    """Raises UsageError for a release that is not recorded."""
    tags = tuple(reversed(value_paths().tags))
    if release is None:
        raise UsageError(f"the schema of values is that of a release: --release TAG, such as {tags[0]}")
    found = value_paths().release(release)
    if found is None:
        raise UsageError(f"`{release}` is no gpu-operator release; {did_you_mean(release, tags)}")
    from poolsmith.gpu.values.values_schema import values_schema  # on demand

    return json.dumps(values_schema(found), indent=2, ensure_ascii=False) + "\n"
