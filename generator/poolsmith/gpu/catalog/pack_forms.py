"""Whether the catalog's readers take what a pack holds: each entry and table is read once before it counts.

The readers see the pack alone, beside what is built in.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.facts import store
from poolsmith.core.facts.pack_merge import LIKE, OF_LINE
from poolsmith.core.facts.packs import (
    ENTRIES,
    FACTS,
    FORM_ERRORS,
    OTHER_CHARTS,
    STACK_CHARTS,
    TABLES,
    VALUES,
    Pack,
    Packs,
    active,
    using,
)
from poolsmith.core.facts.table_merge import TABLES as TABLE_NAMES
from poolsmith.core.facts.versions import line_of
from poolsmith.gpu.catalog.chart_contents import image_components, nulls_of
from poolsmith.gpu.catalog.chart_workloads import read_chart_workloads, read_child_pods
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.container_runtimes import runtimes_from
from poolsmith.gpu.catalog.drift_facts import list_defaults, null_defaults
from poolsmith.gpu.catalog.driver_images import read_driver_images
from poolsmith.gpu.catalog.gpu_clusters import read_dra, read_gpu_cluster
from poolsmith.gpu.catalog.gpus import gpus_from
from poolsmith.gpu.catalog.limits import limits
from poolsmith.gpu.catalog.operands import read_nvidia_drivers, read_operands, whole
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART, OPERATOR_NAMESPACE
from poolsmith.gpu.catalog.pack_kinds import VERSION
from poolsmith.gpu.catalog.pack_tables import chart_problem, table_problem
from poolsmith.gpu.catalog.platforms import distributions_from, support_matrices_from
from poolsmith.gpu.catalog.projections import read_crds, read_projection
from poolsmith.gpu.catalog.releases import releases_from
from poolsmith.gpu.catalog.value_paths import ValuePaths

if TYPE_CHECKING:
    from collections.abc import Callable


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
    return _table_form_problem(pack)


def _table_form_problem(pack: Pack) -> tuple[str, str] | None:
    """First the form of each row by itself, then whether the catalog's readers take all of them together."""
    for name in pack.tables:
        if problem := table_problem(name, pack.table(name)):
            return f"{TABLES}/{name}.json", problem
    with using(Packs((pack,))):
        for chart, version in pack.charts:
            try:
                if problem := chart_problem(pack.entry(f"{STACK_CHARTS}/{chart}", version), version):
                    raise ValueError(problem)
                _stack_chart(chart, version)
            except (*FORM_ERRORS, RecursionError) as error:
                return f"{STACK_CHARTS}/{chart}/{version}.json", f"{type(error).__name__} {str(error)[:80]}".strip()
        for name in pack.tables:
            try:
                _READ_TABLES[TABLE_NAMES[name].file](pack)
            except (*FORM_ERRORS, RecursionError) as error:
                return f"{TABLES}/{name}.json", f"{type(error).__name__} {str(error)[:80]}".strip()
    return None


def _limits(pack: Pack) -> None:
    del pack
    limits()


def _gates(pack: Pack) -> None:
    del pack
    read_dra()


def _gpus(pack: Pack) -> None:
    del pack
    found = gpus_from(store.read_yaml("gpus.yaml"))
    if any(entry.architecture not in found.architectures for entry in found.entries):
        raise ValueError("a product names an architecture that is not known")


def _platforms(pack: Pack) -> None:
    del pack
    platforms = store.read_yaml("distributions.yaml")
    distributions_from(platforms)
    runtimes_from(platforms)
    support_matrices_from(store.read_yaml("platforms.yaml"))
    releases_from(store.read_yaml("releases.yaml"))


def _charts(pack: Pack) -> None:
    """Each new version has its workloads and, where the catalog keeps a chart's values, these."""
    for chart in _CHARTS:
        for version, facts in pack.table(chart).get("entries", {}).items():
            if read_chart_workloads(chart, version) is None:
                raise ValueError(f"{chart} {version} is not known")
            key = facts.get("release", version)
            if f"charts/{chart}" in OTHER_CHARTS and read_chart(chart, key) is None:
                raise ValueError(f"the pack has no charts/{chart}/{key}.json")


_CHARTS = ("kata-deploy", "nvidia-device-plugin", "dcgm-exporter", "node-feature-discovery")
_READ_TABLES: dict[str, Callable[[Pack], object]] = {
    "gpus.yaml": _gpus,
    "support/limits.yaml": _limits,
    "releases.yaml": _platforms,
    "platforms.yaml": _platforms,
    "distributions.yaml": _platforms,
    "dra.yaml": _gates,
    **dict.fromkeys((TABLE_NAMES[chart].file for chart in _CHARTS), _charts),
}


def _chart(tag: str) -> None:
    chart = read_chart(OPERATOR_CHART, tag)
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
            whole(item, OPERATOR_NAMESPACE)


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
    read_chart_workloads(OPERATOR_CHART, tag)
    read_child_pods(tag)
    if tag in known.by_tag and known.by_tag[tag].line not in known.lines:
        raise ValueError("its line is not known")


def _values(tag: str) -> None:
    found = ValuePaths().release(tag)
    if found is None:
        raise ValueError("it has no value paths of the release")
    found.root.children.keys()
    found.paths.subchart(tag)


def _stack_chart(chart: str, version: str) -> None:
    found = ValuePaths(chart).release(version)
    if found is None or not found.root.children:
        raise ValueError("it has no value paths of the version")


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
