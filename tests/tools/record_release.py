"""Record what the files of a release of the operator say, and the tables that are made of all releases.

    PYTHONPATH=generator:tests python tests/tools/record_release.py REPOSITORY TAG...

`REPOSITORY` is a git directory of NVIDIA/gpu-operator. `gpu_operator` and `chart_values` of `tests/recorded/` get the
tags; `data/chart_values.json` and `data/values/images.json` follow from all that are recorded, with the definitions
that `tools.import_operands` has made.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import version_key
from poolsmith.core.sources.chart_files import read_chart_files
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.gpu.importing.chart_entries import chart_values_entry, chart_values_text
from poolsmith.gpu.importing.chart_import import declared_values, value_map
from recorded.record import restated
from support.recordings import DATA, ENDING, packed, recording

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CHART = "deployments/gpu-operator"
FOLDERS = {
    "Chart.yaml": f"{CHART}/Chart.yaml",
    "values.yaml": f"{CHART}/values.yaml",
    "crds": f"{CHART}/crds",
    "operands": "assets",
    "golden-driver": "internal/state/testdata/golden",
}
"""What is kept of a tag, by its name in the recording."""
_IMAGE = ("repository", "image", "version")


def files_of(checkout: Path, tag: str) -> dict[str, Any]:
    """The documents of the release by their paths in the recording."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / OPERATOR_CHART / tag
        place.mkdir(parents=True)
        for name, path in FOLDERS.items():
            if (checkout / path).exists():
                (checkout / path).rename(place / name)
        return restated(Path(folder), OPERATOR_CHART)


def values_of(checkout: Path, tag: str) -> dict[str, Any]:
    """What is known of each value path, with its default where that is no tree."""
    files = read_chart_files(checkout / CHART)
    chart, values = (yaml.safe_load(files[name]) for name in ("Chart.yaml", "values.yaml"))
    defaults = {path: value for path, value in declared_values(values) if not isinstance(value, dict | list)}
    paths = {
        path: fact | ({"default": defaults[path]} if defaults.get(path) is not None else {})
        for path, fact in value_map(files).items()
    }
    return {
        "release": tag,
        "kubeVersion": chart.get("kubeVersion", ""),
        "nodeFeatureDiscoveryChart": str(chart["dependencies"][0]["version"]),
        "source": f"NVIDIA/gpu-operator@{tag}:{CHART}/{{values.yaml,templates/}}",
        "paths": paths,
    }


def value_table(charts: Mapping[str, Any]) -> str:
    """`data/chart_values.json`, of the charts by tag."""
    definitions = {tag: store.read_json(f"crds/{tag}.json")["kinds"] for tag in store.names("crds")}
    return chart_values_text(chart_values_entry(dict(charts), definitions, source=_source("chart_values.json")))


def image_table(charts: Mapping[str, Any]) -> str:
    """`data/values/images.json`: of each part of an image the first tag of each run of equal defaults."""
    tags = sorted(charts, key=version_key)
    found: dict[str, list[list[str | None]]] = {}
    for path in sorted({path for chart in charts.values() for path in chart["paths"] if _is_image(path)}):
        runs: list[list[str | None]] = []
        for tag in tags:
            value = charts[tag]["paths"].get(path, {}).get("default")
            if value != (runs[-1][1] if runs else None):
                runs.append([tag, value])
        if runs:
            found[path] = runs
    lines = ",\n".join(f"  {json.dumps(path)}: {json.dumps(runs)}" for path, runs in found.items())
    return f'{{\n "source": {json.dumps(_source("values/images.json"))},\n "images": {{\n{lines}\n }}\n}}\n'


def _is_image(path: str) -> bool:
    return "." in path and path.rpartition(".")[2] in _IMAGE


def _source(table: str) -> str:
    source: str = json.loads((store.DATA / table).read_text("utf-8"))["source"]
    return source


def recorded_charts() -> dict[str, Any]:
    """By tag."""
    charts = recording("chart_values")
    return {key.partition("/")[2]: charts[key] for key in charts.below(OPERATOR_CHART)}


def main(repository: str, *tags: str) -> None:
    kept = {name: {key: recording(name)[key] for key in recording(name)} for name in ("gpu_operator", "chart_values")}
    for tag in tags:
        with tempfile.TemporaryDirectory() as folder:
            _check_out(repository, tag, FOLDERS.values(), Path(folder))
            kept["chart_values"][f"{OPERATOR_CHART}/{tag}"] = values_of(Path(folder), tag)
            kept["gpu_operator"] |= files_of(Path(folder), tag)
    for name, values in kept.items():
        (DATA / f"{name}{ENDING}").write_bytes(packed(values))
    recording.cache_clear()
    charts = recorded_charts()
    (store.DATA / "chart_values.json").write_text(value_table(charts), "utf-8")
    (store.DATA / "values/images.json").write_text(image_table(charts), "utf-8")


def _check_out(repository: str, tag: str, paths: Iterable[str], folder: Path) -> None:
    git = ["git", "--git-dir", repository, "archive", tag, CHART, *(path for path in paths if CHART not in path)]
    archive = subprocess.run(git, capture_output=True, check=True)
    subprocess.run(["tar", "x", "-C", folder], input=archive.stdout, check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
