"""Definitions of the operator that are delivered by themselves, and channels of OLM, of another release than what is
installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts.versions import version_key
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mapping, word, words
from poolsmith.core.sources.pointer import join, value_at
from poolsmith.gpu.catalog.projections import read_crds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo.of("PSM765")
_REPOSITORY = pattern(r"(?:.*[/:])?NVIDIA/gpu-operator(?:\.git)?/?", 2)
_REMOTE = pattern(
    r".*NVIDIA/gpu-operator(?:\.git)?//?deployments/gpu-operator/crds/?\?(?:.*&)?ref=(?P<ref>[^&]+)(?:&.*)?"
    r"|.*NVIDIA/gpu-operator/(?:raw/|blob/)?(?:refs/tags/)?(?P<tag>v[0-9.]+)/deployments/gpu-operator/crds/.*",
    2,
)
"""A folder, or a file, that kustomize takes from the repository."""
_CHANNEL, _START = pattern(r"v(\d+\.\d+)"), pattern(r"gpu-operator[\w-]*\.v(\d+\.\d+)\..*")
_FOLDER = "crds"
_RELEASE = pattern(r"v\d+\.\d+\.\d+(?:[-+.].*)?")
_FEW = 3
_KIND = "ClusterPolicy"
_SPEC = ("properties", "spec", "properties")


def check(view: LinkView) -> Iterator[Finding[Location]]:
    yield from _of_channels(view)
    charts = [chart for chart in view.charts if chart.is_operator and _RELEASE.fullmatch(chart.version or "")]
    definitions = [item for item in _definitions(view) if _RELEASE.fullmatch(item[0])] if charts else []
    for chart in charts:
        for revision, place in definitions:
            if version_key(revision) != version_key(chart.version or ""):
                yield _finding(chart, revision, place)


def _of_channels(view: LinkView) -> Iterator[Finding[Location]]:
    for item in view.of_kind("Subscription"):
        channel = _CHANNEL.fullmatch(word(item.spec.get("channel")))
        start = _START.fullmatch(word(item.spec.get("startingCSV")))
        if item.group == "operators.coreos.com" and channel and start and channel[1] != start[1]:
            yield Finding(
                message=f"{item.name} starts at `{shorten(start[0])}`, and the channel `{channel[0]}` has no release "
                f"of v{start[1]}",
                place=item.place("/spec/channel"),
                help=f"write `channel: v{start[1]}`, or start at a release of {channel[0]}",
                related=(item.place("/spec/startingCSV", "where it starts"),),
                severity=Severity.WARNING,
            )


def _finding(chart: LinkedChart, revision: str, place: Location) -> Finding[Location]:
    there = _fields(revision)
    lacking = sorted(_fields(chart.version or "") - there) if there else []
    fields = f": they lack {listed([f'spec.{name}' for name in lacking], _FEW)}" if lacking else ""
    return Finding(
        message=f"the definitions are those of {revision}, and the chart beside them is {chart.version}{fields}",
        place=place,
        help=f"write `{chart.version}` here as well",
        related=(chart.declared_at,),
    )


def _fields(release: str) -> frozenset[str]:
    """Fields of a ClusterPolicy's spec; none of a release that the catalog does not know."""
    found = read_crds(release).get(_KIND)
    return frozenset() if found is None else frozenset(mapping(value_at(found.schema, _SPEC)))


def _definitions(view: LinkView) -> Iterator[tuple[str, Location]]:
    """Revisions of the repository whose folder of definitions is delivered, and where they are said."""
    for item in view.objects:
        if item.kind == "Application":
            yield from _of_application(item)
        elif item.kind == "Kustomization" and _is_folder(item.spec.get("path")):
            yield from _of_kustomization(view, item)
    for item in view.kustomizations:
        for field in ("resources", "bases"):
            for index, entry in enumerate(words(item.data.get(field), empty=True)):
                if (found := _REMOTE.fullmatch(entry)) is not None:
                    yield found["ref"] or found["tag"], item.place(join("", field, index))


def _of_application(item: SetupObject) -> Iterator[tuple[str, Location]]:
    several = item.spec.get("sources")
    if isinstance(several, list):
        sources = [(join("/spec/sources", index), source) for index, source in enumerate(several)]
    else:
        sources = [("/spec/source", item.spec.get("source"))]
    for at, source in sources:
        found = mapping(source)
        if _is_folder(found.get("path")) and _REPOSITORY.fullmatch(word(found.get("repoURL"))):
            yield word(found.get("targetRevision")), item.place(f"{at}/targetRevision")


def _of_kustomization(view: LinkView, item: SetupObject) -> Iterator[tuple[str, Location]]:
    name = value_at(item.spec, ("sourceRef", "name"))
    for source in view.of_kind("GitRepository"):
        if source.own_name == name and _REPOSITORY.fullmatch(word(source.spec.get("url"))):
            yield word(value_at(source.spec, ("ref", "tag"))), source.place("/spec/ref/tag")


def _is_folder(path: Any) -> bool:
    return word(path).rstrip("/").rpartition("/")[2] == _FOLDER
