"""What an engine does otherwise from one of its versions on, seen in the objects that it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.gpu.catalog.engines import differences, engine_facts, holds
from poolsmith.gpu.catalog.stack_objects import CHARTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo.of("PSM930")


_SOURCES = ("HelmRepository", "OCIRepository")
_NOTHING: tuple[Any, ...] = (MISSING, None, [], {})


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for row in differences():
        does = holds(row, view.engines)
        if "rule" in row or not _may_hold(row, does) or (row.get("upgrade") and not view.is_upgrade):
            continue
        for place in _places(view, row):
            yield Finding(
                message=f"{_since(row, does)}, {row['says']}",
                place=place,
                help=row["do"],
                severity=_severity(row, does),
            )


def _may_hold(row: Mapping[str, Any], does: bool | None) -> bool:
    """What is missing in a file is no sign of anything while nobody knows the version, nor is what others serve."""
    return row.get("set") is not False and "refused" not in row if does is None else does


def _severity(row: Mapping[str, Any], does: bool | None) -> Severity | None:
    if "refused" in row:
        return Severity.ERROR
    return Severity.NOTE if does is None or row.get("harmless") or row.get("upgrade") else None


def _since(row: Mapping[str, Any], does: bool | None) -> str:
    known = "as is installed here" if does else "but which version runs is not known"
    name = engine_facts(row["engine"])["name"]
    return f"from {name} {row['since']} on, {known}" if "since" in row else f"before {name} {row['before']}, {known}"


def _places(view: LinkView, row: Mapping[str, Any]) -> Iterator[Location]:
    if "kind" in row:
        for item in view.of_kind(row["kind"]):
            if item.group == row["group"] and _is_of_stack(view, item, row) and _is_so(item.data, row):
                yield item.place(_deepest(item.data, row["path"]))
    elif "value" in row:
        for chart in view.named(*row["chart"]):
            if chart.engine == row["engine"] and chart.value(row["value"]) == row["is"] and chart.says(row["value"]):
                yield chart.place(row["value"])


def _is_of_stack(view: LinkView, item: SetupObject, row: Mapping[str, Any]) -> bool:
    if item.kind in _SOURCES:
        return any(_takes(release, item) for release in view.of_kind("HelmRelease"))
    charts = row.get("chart", CHARTS)
    said = value_at(item.spec, ("chart", "spec", "chart")) or value_at(item.spec, ("source", "chart"))
    return word(said).rpartition("/")[2] in charts


def _takes(release: SetupObject, source: SetupObject) -> bool:
    """Whether a release of the stack takes its chart there."""
    chart = mapping(value_at(release.spec, ("chart", "spec")))
    reference = mapping(chart.get("sourceRef") or release.spec.get("chartRef"))
    home = release.metadata.get("namespace")
    wanted = (source.kind, source.own_name, source.metadata.get("namespace"))
    named = (reference.get("kind"), reference.get("name"), reference.get("namespace", home))
    name = word(chart.get("chart", source.spec.get("url"))).rpartition("/")[2]
    return named == wanted and name in CHARTS


def _is_so(data: Any, row: Mapping[str, Any]) -> bool:
    if any(_at(data, path) is not MISSING for path in row.get("without", ())):
        return False
    value = _at(data, row["path"])
    return bool(value == row["is"]) if "is" in row else (value not in _NOTHING) is row["set"]


def _at(data: Any, path: str) -> Any:
    return value_at(data, tuple(path.split(".")), MISSING)


def _deepest(data: Any, path: str) -> str:
    """The pointer of what is there of a path."""
    pointer, node = "", data
    for step in path.split("."):
        if step not in mapping(node):
            break
        pointer, node = f"{pointer}/{step}", node[step]
    return pointer
