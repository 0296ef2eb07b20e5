"""Use case: profiles that generate what a repository installs today, and what of it they can't."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.change.takeover.answers import drivers_are_precompiled, folders_named, possible_drafts
from poolsmith.change.takeover.destinations import argo_cluster_of
from poolsmith.change.takeover.found import find_present, tag_of
from poolsmith.change.takeover.generated import read_again
from poolsmith.change.takeover.planning import Planner
from poolsmith.change.takeover.report import report_lines
from poolsmith.change.takeover.settle import drop_values, score, settle, write_values
from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.listing import listed
from poolsmith.core.record import record
from poolsmith.core.shape.field import DNS_LABEL, matches
from poolsmith.core.sources.nested import MISSING, value_at
from poolsmith.core.sources.pod_template import mapping
from poolsmith.gpu.catalog import Catalog
from poolsmith.kubernetes.repository.installations import merged

if TYPE_CHECKING:
    from pathlib import Path as Folder

    from poolsmith.change.takeover.answers import Answers
    from poolsmith.change.takeover.draft import ClusterDraft, ProfileDraft
    from poolsmith.change.takeover.found import Present
    from poolsmith.change.takeover.settle import Settled
    from poolsmith.gpu.catalog import Chart
    from poolsmith.project.run.surroundings import Surroundings

_TEMPLATES = ("{{", "${")


@record(kw_only=False)
class Takeover:
    """The profiles of one cluster by their paths, and what is to be said of them. `place` declares the installation.

    `texts` is empty where nothing can be proposed, which `lines` says.
    """

    name: str
    place: str
    texts: dict[str, str]
    lines: tuple[str, ...]
    settled: Settled | None = None

    @property
    def refused(self) -> bool:
        """Whether something keeps the profiles from being generated."""
        return self.settled is None or bool(self.settled.errors)


def take_over(
    root: Folder, source: Folder, answers: Answers, around: Surroundings, cluster: str | None, fallback: str
) -> list[Takeover]:
    """One for each installation below `source`; `cluster` names the only one. Raises UsageError where there is none."""
    if not source.exists():
        raise UsageError(f"there is no {source}")
    found, unknown = find_present(root, source, cluster or fallback)
    if not found:
        raise UsageError(
            f"nothing below {source} installs the chart gpu-operator: name a file with its values, with a HelmRelease "
            "or an Application, or the folder of a whole repository"
        )
    if cluster is not None:
        if not matches(DNS_LABEL, cluster):
            raise UsageError(f"`{cluster}` is no cluster name: use lower-case letters, digits and `-`, at most 63")
        if len(found) > 1:
            places = listed([item.place for item in found])
            raise UsageError(f"there are {len(found)} installations, in {places}: name the file of one of them")
        found = (replace(found[0], name=cluster),)
    catalog = Catalog()
    planner = Planner(root, catalog)
    taken: list[Takeover] = []
    for item in found:
        taken.append(_one(item, answers, around, catalog, planner))
        settled = taken[-1].settled
        if settled is not None and (told := argo_cluster_of(settled.draft.cluster)) is not None:
            around = replace(around, argo_clusters=(*around.argo_clusters, told))
    unseen = tuple(f"unknown {item.place.span}: {item.what}" for item in unknown)
    if unseen:
        last = taken[-1]
        taken[-1] = Takeover(last.name, last.place, last.texts, (*last.lines, *unseen), last.settled)
    return taken


def _one(present: Present, answers: Answers, around: Surroundings, catalog: Catalog, planner: Planner) -> Takeover:
    known = catalog.releases.by_tag
    written = answers.release or present.installation.version
    tag = tag_of(written, known)
    lines: list[str] = []
    if tag is None and written is None:
        tag = list(known)[-1]
        lines.append(f"assumed release {tag}: nothing says which one is installed; --release says it")
    chart = catalog.chart(catalog.releases.chart_name, tag) if tag is not None else None
    if tag is None or chart is None:
        recent = listed(list(known)[-4:])
        why = f"refused: `{written}` is not one release that the catalog knows, such as {recent}; --release says which"
        return Takeover(present.name, present.place, {}, (why,))
    values, unsettled = _plain_values(present)
    lines += unsettled
    drivers = [mapping(mapping(item.data).get("spec")) for item in present.drivers]
    draft = _nearest(present, tag, answers, around, catalog, planner, values, chart)
    settled = settle(draft, values, chart, planner, drivers)
    if written is None:
        settled.draft.cluster.assumed.add(("stack", "release"))
    made = read_again(planner.generate(settled.draft), present) if settled.plan is not None else None
    while made is not None and made.errors and drop_values(settled, made.errors):
        write_values(settled)
        settled.plan = planner.plan(settled.draft).plan
        made = read_again(planner.generate(settled.draft), present)
    if made is not None and made.errors:
        settled.errors = made.errors
    lines += report_lines(present, settled, chart, made.values if made is not None else None)
    lines += made.added if made is not None else ()
    profiles = (settled.draft.cluster, *settled.draft.pools)
    lines += [f"assumed {_spelt(profile, path)}" for profile in profiles for path in sorted(profile.assumed)]
    return Takeover(present.name, present.place, settled.draft.texts(), tuple(lines), settled)


def _spelt(profile: ProfileDraft, path: tuple[str, ...]) -> str:
    return f"{profile.name}: {'.'.join(path)} is {profile.fields.get(path)}"


def _nearest(
    present: Present,
    tag: str,
    answers: Answers,
    around: Surroundings,
    catalog: Catalog,
    planner: Planner,
    values: dict[str, Any],
    chart: Chart,
) -> ClusterDraft:
    """The kind of nodes whose values come nearest to those of today; of equals the commonest."""
    best, least = None, (1 << 30, 0, 0)
    drivers = [mapping(mapping(item.data).get("spec")) for item in present.drivers]
    for draft in possible_drafts(present, tag, answers, around, catalog):
        if value_at(values, ("driver", "nvidiaDriverCRD", "enabled")) is True:
            draft.cluster.fields["stack", "driverMode"] = "nvidia-driver"
        if value_at(values, ("driver", "usePrecompiled")) is True:
            drivers_are_precompiled(draft.pools)
        by_object = zip(draft.pools, drivers, strict=False)
        drivers_are_precompiled(pool for pool, spec in by_object if spec.get("usePrecompiled") is True)
        refused, far = score(draft, values, chart, planner, drivers)
        told = folders_named(draft, values, catalog, tag)
        distance = (refused, -told if far else -1 << 10, far)
        if distance < least:
            best, least = draft, distance
        if not refused and not far:
            break
    assert best is not None, "there is always a first kind of nodes"
    return best


def _plain_values(present: Present) -> tuple[dict[str, Any], list[str]]:
    """Without what somebody fills in later, and lines that say so."""
    values = merged([present.installation.values])
    told = []
    for path in list(_filled_in(values, ())):
        node = value_at(values, path[:-1])
        if value_at(values, path, MISSING) is not MISSING and isinstance(node, dict):
            del node[path[-1]]
            place = present.installation.locate(path).span
            told.append(f"unknown {place}: {'.'.join(path)} is filled in by another tool; not in the profiles")
    return values, told


def _filled_in(node: Any, path: tuple[str, ...]) -> list[tuple[str, ...]]:
    if isinstance(node, dict):
        return [found for key, value in node.items() for found in _filled_in(value, (*path, str(key)))]
    if isinstance(node, list):
        return [path] if any(_filled_in(item, ("",)) for item in node) else []
    is_template = isinstance(node, str) and any(mark in node for mark in _TEMPLATES)
    return [path] if is_template and path else []
