"""Whether the readers of the catalog understand what a pack holds: each entry is read once, before it counts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.facts import store
from poolsmith.core.facts.pack_merge import LIKE, OF_LINE
from poolsmith.core.facts.packs import ENTRIES, FACTS, FORM_ERRORS, VALUES, Packs, active, using
from poolsmith.core.facts.versions import line_of
from poolsmith.gpu.catalog.chart_images import image_components
from poolsmith.gpu.catalog.chart_nulls import nulls_of
from poolsmith.gpu.catalog.chart_workloads import read_chart_workloads, read_child_pods
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.crds import read_crds
from poolsmith.gpu.catalog.drift_facts import list_defaults, null_defaults
from poolsmith.gpu.catalog.driver_images import read_driver_images
from poolsmith.gpu.catalog.gpu_clusters import read_gpu_cluster
from poolsmith.gpu.catalog.nvidia_drivers import read_nvidia_drivers
from poolsmith.gpu.catalog.operands import read_operands, whole
from poolsmith.gpu.catalog.pack_kinds import VERSION
from poolsmith.gpu.catalog.platforms import distributions_from, support_matrices_from
from poolsmith.gpu.catalog.projections import read_projection
from poolsmith.gpu.catalog.releases import releases_from
from poolsmith.gpu.catalog.runtimes import runtimes_from
from poolsmith.gpu.catalog.value_paths import ValuePaths

if TYPE_CHECKING:
    from collections.abc import Callable

    from poolsmith.core.facts.packs import Pack

_CHART = "gpu-operator"


def form_problem(pack: Pack) -> tuple[str, str] | None:
    """The path of a file that is not understood, and what was raised over it."""
    with using(Packs((pack,))):
        for tag in pack.releases:
            for folder, read in _READERS.items():
                if not pack.has(folder, tag):
                    continue
                try:
                    read(tag)
                except (*FORM_ERRORS, RecursionError) as error:
                    return f"{folder}/{tag}.json", f"{type(error).__name__} {str(error)[:80]}".strip()
    return None


def _chart(tag: str) -> None:
    chart = read_chart(_CHART, tag)
    if (
        chart is None
        or not isinstance(chart.defaults, dict)
        or not all(isinstance(kind, str) for kind in chart.paths.values())
    ):
        raise TypeError("it needs `defaults` and `paths`")
    image_components(tag)


def _operands(tag: str) -> None:
    found = read_operands(tag)
    for state in found.states if found is not None else ():
        for item in state.objects:
            whole(item, "gpu-operator")


def _facts(tag: str) -> None:
    """All files that facts go into. Nothing may reach a line or a release that is built in."""
    pack = active().of(tag)
    facts, own = pack.entry(FACTS, tag) if pack is not None else {}, store.read_own_yaml("releases.yaml")
    if LIKE in facts and facts[LIKE] not in own["releases"]:
        raise ValueError("`like` names no built-in release")
    if line_of(tag) in own["lines"] and (given := [key for key in OF_LINE if key in facts]):
        raise ValueError(f"`{given[0]}` is for a new line, and {line_of(tag)} is built in")
    if "line" in facts and facts["line"][LIKE] not in own["lines"]:
        raise ValueError("`line` names no built-in line")
    for key, version in facts.get("chart", {}).items():
        if not isinstance(version, str) or not re.fullmatch(VERSION, version):
            raise ValueError(f"`{key}` is no version")
    known = releases_from(store.read_yaml("releases.yaml"))
    platforms = store.read_yaml("distributions.yaml")
    distributions_from(platforms)
    runtimes_from(platforms)
    support_matrices_from(store.read_yaml("platforms.yaml"))
    read_driver_images()
    list_defaults(tag)
    null_defaults(tag)
    nulls_of(tag)
    read_chart_workloads(_CHART, tag)
    read_child_pods(tag)
    if tag in known.by_tag and known.by_tag[tag].line not in known.lines:
        raise ValueError("its line is not known")


def _values(tag: str) -> None:
    found = ValuePaths().release(tag)
    if found is None:
        raise ValueError("it has no value paths of the release")
    found.root.children.keys()
    found.paths.subchart(tag)


_READERS: dict[str, Callable[[str], object]] = {
    ENTRIES[0]: _chart,
    "crds": read_crds,
    "gpu_cluster": read_gpu_cluster,
    "nvidia_driver": read_nvidia_drivers,
    "operands": _operands,
    "projection": read_projection,
    FACTS: _facts,
    VALUES: _values,
}
