"""Parts of the stack that the operator brings to nodes whose image, or whose cloud, has them already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import reached, value_at
from poolsmith.gpu.nodes.node_makers import maker_of
from poolsmith.guard.rules.links.link_view import TALOS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument

RULE = RuleInfo(
    code="PSM782",
    name="part-of-the-host",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="Files beside the operator describe GPU nodes whose image brings a driver, a toolkit or a device plugin "
    "(Talos "
    "with its extensions, Bottlerocket), or whose cloud installs a driver unless it is told not to (AKS, GKE), and the "
    "operator's values bring the same part.",
    why="Two drivers want one GPU, two plugins advertise it, and a toolkit can't write into a system that is "
    "read-only.",
    fix="switch the part off in one of the two places",
    bad="# beside managedNodeGroups: [{amiFamily: Bottlerocket, instanceType: g6.xlarge}]\ndriver: {enabled: true}\n",
    good="# beside managedNodeGroups: [{amiFamily: Bottlerocket, instanceType: g6.xlarge}]\n"
    "driver: {enabled: false}\ntoolkit: {enabled: false}\ndevicePlugin: {enabled: false}\n",
    references=("data/operating_systems.yaml", "data/node_makers.yaml"),
)
_PARTS = ("driver", "toolkit", "devicePlugin")
_EXTENSION = "nvidia"
_SIZES = (("vmSize",), ("sku",), ("forProvider", "vmSize"))
_MACHINES = pattern(r"Standard_N(?![GP])(?!V[0-9]+as_v4)(?!.*_MI[0-9]).*")
"""Of Azure: the series N without FPGAs and without GPUs of AMD."""


@record
class _Host:
    """Nodes, what brings `parts` to them, and where that stands."""

    title: str
    parts: tuple[str, ...]
    place: Location
    advice: str = ""


def check(view: LinkView) -> Iterator[Finding[Location]]:
    operators = [chart for chart in view.charts if chart.is_operator and not chart.partial]
    for chart in operators if view.is_whole and view.is_alone else ():
        told: set[Location] = set()
        for part in _PARTS:
            host = _hosts(view).get(part) if chart.value(f"{part}.enabled") is True else None
            if host is not None and host.place not in told:
                told.add(host.place)
                yield _finding(chart, host, [name for name in host.parts if chart.value(f"{name}.enabled") is True])


def _finding(chart: LinkedChart, host: _Host, doubled: list[str]) -> Finding[Location]:
    off = ", ".join(f"{part}: {{enabled: false}}" for part in doubled)
    return Finding(
        message=f"{host.title} {'have' if host.title.startswith('nodes') else 'brings'} "
        f"{listed(doubled)} already, and the operator brings {'it' if len(doubled) == 1 else 'them'} too",
        place=chart.place(f"{doubled[0]}.enabled"),
        help=f"write `{off}`" + (f", or {host.advice}" if host.advice else ""),
        related=(host.place,),
    )


_MADE = "hosts"


def _hosts(view: LinkView) -> dict[str, _Host]:
    """The first of the files that brings each part; looked for once."""
    if _MADE not in view.machines.made:
        found: dict[str, _Host] = {}
        for document in view.machines.tree.documents:
            for host in _hosts_of(document):
                for part in host.parts:
                    found.setdefault(part, host)
        view.machines.made[_MADE] = found
    return cast("dict[str, _Host]", view.machines.made[_MADE])


def _hosts_of(document: CheckedDocument) -> Iterator[_Host]:
    data = document.data
    if not isinstance(data, dict):
        return
    if not document.is_object:
        if isinstance(data.get("machine"), dict) and _EXTENSION in str(value_at(data, ("machine", "install"))):
            place = document.source.locate("/machine/install")
            yield _Host(title="nodes of Talos with these extensions", parts=_parts_of(TALOS), place=place)
        return
    yield from _of_image(document)
    yield from _of_cloud(document)


def _of_image(document: CheckedDocument) -> Iterator[_Host]:
    for row in store.table("node_makers.yaml")["systems"]:
        if row["kind"] != document.kind:
            continue
        for at, group in reached(document.data, row["group"]):
            image, gpu = (word(value_at(group, row[field])) for field in ("at", "gpu"))
            if image.startswith(row["begins"]) and _is_gpu(row, gpu):
                place = document.source.locate(f"{at}/{row['at'][0]}")
                title = f"nodes of {row['system'].capitalize()}"
                yield _Host(title=title, parts=_parts_of(row["system"]), place=place)


def _is_gpu(row: Mapping[str, Any], said: str) -> bool:
    if "gpuEnds" in row:
        return said.endswith(row["gpuEnds"])
    return said[:1] in row["gpuBegins"] and said[1:2].isdigit()


def _of_cloud(document: CheckedDocument) -> Iterator[_Host]:
    body = mapping(document.data)
    known = maker_of(body)
    if known is None or not _has_gpus(document):
        return
    maker, switch = known
    if not switch.is_off(body):
        said = switch.said(body)
        yield _Host(
            title=f"{maker.cloud}, where {document.name} does not forbid it,",
            parts=("driver",),
            place=document.source.locate(said[0][0] if said else "/spec"),
            advice=f"write {switch.shown} there",
        )


def _has_gpus(document: CheckedDocument) -> bool:
    spec = mapping(mapping(document.data).get("spec"))
    sizes = [word(value_at(spec, path)) for path in _SIZES]
    return any(_MACHINES.fullmatch(size) for size in sizes) or bool(
        reached(spec, ("nodeConfig", "guestAccelerator", "*"))
    )


def _parts_of(system: str) -> tuple[str, ...]:
    systems = store.table("operating_systems.yaml")["operating_systems"]
    known = next(item for item in systems if item["id"] == system)
    latest: dict[str, Any] = dict(known)
    for later in known.get("later", ()):
        latest |= later
    return tuple(part for part in _PARTS if known.get(part) == latest.get(part) == "os")
