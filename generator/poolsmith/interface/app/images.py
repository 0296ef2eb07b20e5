"""Use cases: every image that the nodes of a project's clusters will pull, and what to copy into mirrors.

Mirrors are for clusters without the internet: images, charts and packages are copied before the installation.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, Severity, UsageError, sorted_unique
from poolsmith.core.diagnostics.message_text import counted
from poolsmith.core.record import record
from poolsmith.core.shape.field import REGISTRY, matches
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.guard.ledger.ledger import ANY_NODE, NO_KNOWN_NODE
from poolsmith.project.output.batches import rarely_collecting
from poolsmith.project.output.prediction import image_entry
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from poolsmith.fleet.operands.pulled_images import ImageUse
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.project.run.cluster_run import PlannedCluster


@record(kw_only=False)
class ImagesResult:
    """Images by cluster, and per cluster what is unknown; or what is wrong with the profiles."""

    clusters: tuple[tuple[str, tuple[ImageUse, ...]], ...] = ()
    unknown: tuple[tuple[str, str], ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def planned_clusters(root: Path, clusters: Sequence[str]) -> tuple[list[PlannedCluster], tuple[Diagnostic, ...]]:
    """The clusters named, or all, and the errors of their profiles. Raises UsageError, NoInputError."""
    project = open_project(root)
    with rarely_collecting():
        runs = [plan_cluster(project, files) for files in project.select(clusters)]
    return runs, sorted_unique(item for run in runs for item in run.diagnostics if item.severity is Severity.ERROR)


def images(root: Path, clusters: Sequence[str]) -> ImagesResult:
    """Raises UsageError, NoInputError."""
    runs, errors = planned_clusters(root, clusters)
    predicted = [(run.loaded.name, run.prediction) for run in runs if run.prediction is not None]
    return ImagesResult(
        clusters=tuple((name, prediction.images()) for name, prediction in predicted),
        unknown=tuple((name, text) for name, prediction in predicted for text in _unlisted(prediction)),
        diagnostics=errors,
    )


def _unlisted(prediction: Prediction) -> tuple[str, ...]:
    return *prediction.unknown, *prediction.unpublished()


def images_text(result: ImagesResult) -> str:
    """Each image once, one a line."""
    return "".join(f"{image}\n" for image in sorted({use.image for _, uses in result.clusters for use in uses}))


def images_json(result: ImagesResult) -> str:
    """The machine-readable list, version 1."""
    return json.dumps(_body(result), indent=2, ensure_ascii=False) + "\n"


def images_yaml(result: ImagesResult) -> str:
    return emit(_body(result))


def _body(result: ImagesResult) -> dict[str, Any]:
    return {
        "version": 1,
        "clusters": [{"cluster": name, "images": [image_entry(use) for use in uses]} for name, uses in result.clusters],
        "unknown": [{"cluster": name, "what": text} for name, text in result.unknown],
    }


_DIGEST = "@sha256:"


@record(kw_only=False)
class ImageCopy:
    """`source` is where its publisher has it, `destination` what the nodes pull; empty where no mirror is named.

    `digest` is empty unless the reference has it. `architectures` are those of the pools that pull it.
    """

    source: str
    destination: str
    digest: str
    architectures: tuple[str, ...]
    clusters: tuple[str, ...]


@record(kw_only=False)
class ChartCopy:
    """A Helm chart, as `source` and `destination` repositories have it; the latter is empty where there is no other."""

    name: str
    version: str
    source: str
    destination: str
    clusters: tuple[str, ...]


@record(kw_only=False)
class PackageNeed:
    """Packages that a driver container fetches on the node. `config`: the ConfigMap that says where from, or empty."""

    system: str
    what: str
    config: str
    pools: tuple[str, ...]


@record(kw_only=False)
class CopyPlan:
    images: tuple[ImageCopy, ...] = ()
    charts: tuple[ChartCopy, ...] = ()
    packages: tuple[PackageNeed, ...] = ()
    repositories: tuple[str, ...] = ()
    """Git repositories of others that manifests are taken from; what images those name, they tell themselves."""
    unknown: tuple[tuple[str, str], ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def copy_plan(root: Path, clusters: Sequence[str], to: str | None) -> CopyPlan:
    """`to` is a mirror for all hosts that the profiles name none for. Raises UsageError, NoInputError."""
    if to is not None and not matches(REGISTRY, to):
        raise UsageError(f"`{to}` is no registry: write a host, with a path where needed")
    runs, errors = planned_clusters(root, clusters)
    known = [(run.plan, run.prediction) for run in runs if run.plan is not None and run.prediction is not None]
    return CopyPlan(
        images=_images(known, to),
        charts=_charts(plan for plan, _ in known),
        packages=_packages(plan for plan, _ in known),
        repositories=tuple(
            sorted({unit.source.repository for plan, _ in known for unit in plan.units if unit.source is not None})
        ),
        unknown=tuple((plan.name, text) for plan, prediction in known for text in _unlisted(prediction)),
        diagnostics=errors,
    )


def _images(known: Iterable[tuple[ClusterPlan, Prediction]], to: str | None) -> tuple[ImageCopy, ...]:
    found: dict[tuple[str, str], tuple[set[str], set[str]]] = {}
    for plan, prediction in known:
        arches = {pool.name: pool.profile.spec.arch.value for pool in plan.pools}
        for use in prediction.images():
            source = _published(use.image, plan.cluster.spec.registry.mirrors)
            pulled = use.image if source != use.image else f"{to}/{source}" if to is not None else ""
            here, where = found.setdefault((source, pulled), (set(), set()))
            everywhere = not use.pools or {ANY_NODE, NO_KNOWN_NODE}.intersection(use.pools)
            here.update(arches.values() if everywhere else (arches[pool] for pool in use.pools))
            where.add(plan.name)
    return tuple(
        ImageCopy(source, pulled, _digest(source), tuple(sorted(arches)), tuple(sorted(where)))
        for (source, pulled), (arches, where) in sorted(found.items())
    )


def _published(image: str, mirrors: dict[str, str]) -> str:
    """An image as its publisher names it; of mirrors below one another, the nearest is meant."""
    for host, mirror in sorted(mirrors.items(), key=lambda item: -len(item[1])):
        if image.startswith(f"{mirror}/"):
            return host + image[len(mirror) :]
    return image


def _digest(image: str) -> str:
    return image.partition("@")[2] if _DIGEST in image else ""


def _charts(plans: Iterable[ClusterPlan]) -> tuple[ChartCopy, ...]:
    found: dict[tuple[str, str, str, str], set[str]] = {}
    for plan in plans:
        for chart in (plan.chart, *(unit.chart for unit in plan.units)):
            if chart is not None:
                other = chart.repository if chart.repository != chart.publisher else ""
                found.setdefault((chart.name, chart.version, chart.publisher, other), set()).add(plan.name)
    return tuple(ChartCopy(*key, tuple(sorted(where))) for key, where in sorted(found.items()))


def _packages(plans: Iterable[ClusterPlan]) -> tuple[PackageNeed, ...]:
    """Of drivers that are compiled on the node, whose container fetches the headers of the node's kernel."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for plan in plans:
        for pool in plan.pools:
            if pool.driver is None or pool.driver.source != "container":
                continue
            spec = pool.profile.spec
            for system in spec.systems:
                kernel = system.kernel or "(not declared)"
                what = f"headers and modules of kernel {kernel}"
                config = spec.driver.repo_config
                key = (f"{spec.os.id} {system.version}", what, config.name if config is not None else "")
                found.setdefault(key, []).append(f"{plan.name}/{pool.name}")
    return tuple(PackageNeed(*key, tuple(sorted(pools))) for key, pools in sorted(found.items()))


def copy_plan_json(plan: CopyPlan) -> str:
    """The machine-readable plan, version 1."""
    body: dict[str, Any] = {
        "version": 1,
        "images": [
            {
                "source": item.source,
                "destination": item.destination or None,
                "digest": item.digest or None,
                "architectures": list(item.architectures),
                "clusters": list(item.clusters),
            }
            for item in plan.images
        ],
        "charts": [
            {
                "name": item.name,
                "version": item.version,
                "source": item.source,
                "destination": item.destination or None,
                "clusters": list(item.clusters),
            }
            for item in plan.charts
        ],
        "packages": [
            {"system": item.system, "what": item.what, "config": item.config or None, "pools": list(item.pools)}
            for item in plan.packages
        ],
        "repositories": list(plan.repositories),
        "unknown": [{"cluster": name, "what": text} for name, text in plan.unknown],
    }
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


_COPY = {
    "skopeo": "skopeo copy --all docker://{0} docker://{1}",
    "crane": "crane copy {0} {1}",
    "oras": "oras copy {0} {1}",
    "text": "{0} {1}",
}


def copy_plan_text(plan: CopyPlan, form: str) -> str:
    """Commands of a tool, all platforms of an image; or, as `text`, source and destination a line. Comments tell the
    rest."""
    return "".join(f"{line}\n" for line in (*_image_lines(plan, form), *_chart_lines(plan, form), *_other_lines(plan)))


def _image_lines(plan: CopyPlan, form: str) -> Iterator[str]:
    without: dict[str, list[ImageCopy]] = {}
    for item in plan.images:
        if item.destination:
            yield _COPY[form].format(item.source, item.destination)
        else:
            without.setdefault(item.source.partition("/")[0], []).append(item)
    for host, items in without.items():
        where = ", ".join(sorted({name for item in items for name in item.clusters}))
        yield (
            f"# {counted(len(items), 'image')} of {host} without a mirror in {where}: `registry.mirrors` names one, or "
            "`--to`"
        )


def _chart_lines(plan: CopyPlan, form: str) -> Iterator[str]:
    for item in plan.charts:
        pull = _pulled(item)
        if not item.destination:
            yield f"# chart {item.name} {item.version} comes from {item.source}: no `delivery.chartRepo`"
        elif form == "text":
            yield f"{item.source} {item.destination} {item.name} {item.version}"
        elif item.destination.startswith("oci://"):
            yield pull
            yield f"helm push {item.name}-{item.version}.tgz {item.destination}"
        else:
            yield pull
            yield f"# put {item.name}-{item.version}.tgz into {item.destination}"


def _pulled(item: ChartCopy) -> str:
    if item.source.startswith("oci://"):
        return f"helm pull {item.source}/{item.name} --version {item.version}"
    return f"helm pull {item.name} --repo {item.source} --version {item.version}"


def _other_lines(plan: CopyPlan) -> Iterator[str]:
    for need in plan.packages:
        where = f"ConfigMap {need.config} says where from" if need.config else "from the system's package repositories"
        yield f"# packages for {need.system}: {need.what}, {where} ({', '.join(need.pools)})"
    for repository in plan.repositories:
        yield f"# manifests of {repository}: it names its images itself"
    for cluster, text in plan.unknown:
        yield f"# unknown: {cluster}: {text}"
