"""A release's entries that come from its chart: which values it takes, and which field follows from which of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.gpu.catalog.chart_import import chart_entry, value_map
from poolsmith.gpu.importing.operator_repository import CHART, DEFINITIONS, MANIFESTS, YAML_ENDINGS
from poolsmith.gpu.importing.projection_entry import projection_entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.gpu.importing.operator_repository import OperatorRepository

FILES = ("Chart.yaml", "values.yaml")
TEMPLATES = "templates/"
_LAYOUTS = "state-mig-manager/0400_configmap.yaml"
_DRIVER = "NVIDIADriver"


def chart_files(repository: OperatorRepository) -> dict[str, bytes]:
    """The chart's files by their paths in it; none where the repository does not hold a whole chart."""
    folder = CHART.path
    if repository.folder_of(CHART) != folder:
        return {}
    names = [name for name in repository.names(folder) if name in FILES or name.startswith(TEMPLATES)]
    if not {*FILES} <= {*names} or len(names) == len(FILES):
        return {}
    return repository.texts(folder, names)


def mig_layouts(repository: OperatorRepository) -> dict[str, Any] | None:
    """The layouts that the operator ships, where it ships any as a file. Raises PoolsmithError."""
    folder = repository.folder_of(MANIFESTS)
    if folder is None or _LAYOUTS not in repository.names(folder):
        return None
    text = repository.texts(folder, [_LAYOUTS]).get(_LAYOUTS, b"").decode()
    try:
        layouts: dict[str, Any] = read_documents(read_documents(text)[0]["data"]["config.yaml"])[0]
    except (YamlProblem, LookupError, TypeError):
        raise PoolsmithError(f"{folder}/{_LAYOUTS} holds no layouts") from None
    return layouts


def driver_definition(repository: OperatorRepository) -> dict[str, Any] | None:
    """The CustomResourceDefinition of NVIDIADriver."""
    folder = repository.folder_of(DEFINITIONS)
    if folder is None:
        return None
    names = [name for name in repository.names(folder) if name.endswith(YAML_ENDINGS)]
    for text in repository.texts(folder, names).values():
        for document in read_documents(text.decode()):
            if isinstance(document, dict) and document.get("spec", {}).get("names", {}).get("kind") == _DRIVER:
                return document
    return None


def chart_entries(
    files: dict[str, bytes],
    *,
    release: str,
    source: str,
    crds: Mapping[str, Any],
    overlay: Mapping[str, Any],
    driver_crd: dict[str, Any] | None,
    mig_config: dict[str, Any] | None = None,
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """The entries of `charts/gpu-operator` and `projection`, by these names; and what becomes of each value path.

    `crds` are the compact definitions of the release by kind, `overlay` is that of `projection`. Raises PoolsmithError.
    """
    paths = value_map(files)
    chart, values = (read_documents(files[name].decode())[0] for name in FILES)
    discovery: dict[str, Any] = next((item for item in chart.get("dependencies") or () if item.get("name")), {})
    entry = chart_entry(
        release=release,
        values=values,
        value_paths=paths,
        kube_version=str(chart.get("kubeVersion", "")),
        nfd_chart=str(discovery["version"]) if "version" in discovery else None,
        source=source,
        driver_crd=driver_crd,
        mig_config=mig_config,
    )
    projected = projection_entry(
        release=release, source=source, value_paths=paths, crds=dict(crds), overlay=dict(overlay)
    )
    return {"charts/gpu-operator": entry, "projection": projected}, paths


def entry_text(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, indent=1, ensure_ascii=False) + "\n"
