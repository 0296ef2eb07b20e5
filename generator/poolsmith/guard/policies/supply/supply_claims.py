"""What a cluster takes from where (charts, git, deliveries, mirrors, images), each with the profile line behind it.

Images are all that a cluster may pull, now or once an operand is switched on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, pod_template_of, word
from poolsmith.core.sources.pointer import texts_in
from poolsmith.fleet.operands.pulled_images import images_of, named_images
from poolsmith.fleet.plan.origin import FromProfile, profile_inputs
from poolsmith.fleet.profiles.cluster import Engine

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.fleet.plan.origin import Origin
    from poolsmith.fleet.plan.plan import ClusterPlan, HelmChart, UnitPlan, ValuePath
    from poolsmith.guard.ledger.ledger_view import PrivilegeView
    from poolsmith.guard.ledger.prediction import Prediction


_DELIVERY = "/spec/delivery"
_NAMESPACES = {Engine.ARGOCD: "argocd", Engine.FLUX: "flux-system"}


@record
class ChartClaim:
    """A chart of a repository, at a version."""

    name: str
    version: str
    repository: str
    line: FromProfile
    version_line: FromProfile


@record
class GitClaim:
    """A Git repository at a revision; `path` is that of output/ in it, None where only a unit is taken from it."""

    url: str
    revision: str
    path: str | None
    line: FromProfile
    revision_line: FromProfile
    path_line: FromProfile


@record
class DeliveryClaim:
    """Where it is applied. `source_ref` is Kind/namespace/name."""

    namespace: str
    project: str
    name: str | None
    server: str | None
    instance: str | None
    source_ref: str | None
    path: str

    def line(self, field: str) -> FromProfile:
        return FromProfile(self.path, f"{_DELIVERY}/{field}")


@record
class MirrorClaim:
    """A registry's host and its mirror."""

    host: str
    mirror: str
    line: FromProfile


@record
class SupplyClaims:
    """All of one cluster."""

    charts: tuple[ChartClaim, ...]
    repositories: tuple[GitClaim, ...]
    delivery: DeliveryClaim
    mirrors: tuple[MirrorClaim, ...]
    images: tuple[ImageClaim, ...]


def chart_claims(plan: ClusterPlan) -> Iterator[ChartClaim]:
    if plan.chart is not None:
        repository = FromProfile(plan.cluster.path, f"{_DELIVERY}/chartRepo")
        yield _chart(plan.chart, repository, FromProfile(plan.cluster.path, "/spec/stack/release"))
    for unit in plan.units:
        if unit.chart is not None:
            line = _unit_line(plan, unit)
            yield _chart(unit.chart, line, line)


def _chart(chart: HelmChart, line: FromProfile, version_line: FromProfile) -> ChartClaim:
    return ChartClaim(
        name=chart.name, version=chart.version, repository=chart.repository, line=line, version_line=version_line
    )


def _unit_line(plan: ClusterPlan, unit: UnitPlan) -> FromProfile:
    """Units of a stack without an operator have lines of their own."""
    fields = {"dcgm-exporter": "dcgmExporter/release", "node-feature-discovery": "gpuFeatureDiscovery"}
    if unit.chart is not None and unit.chart.name in fields:
        return FromProfile(plan.cluster.path, f"/spec/stack/{fields[unit.chart.name]}")
    return plan.stack_line


def git_claims(plan: ClusterPlan) -> Iterator[GitClaim]:
    delivery, path = plan.cluster.spec.delivery, plan.cluster.path
    yield GitClaim(
        url=delivery.repo_url,
        revision=delivery.revision,
        path=delivery.path,
        line=FromProfile(path, f"{_DELIVERY}/repoURL"),
        revision_line=FromProfile(path, f"{_DELIVERY}/revision"),
        path_line=FromProfile(path, f"{_DELIVERY}/path"),
    )
    if delivery.hydrate is not None:  # whoever may write to that branch decides what is applied
        line = FromProfile(path, f"{_DELIVERY}/hydrate/branch")
        yield GitClaim(
            url=delivery.repo_url,
            revision=f"refs/heads/{delivery.hydrate.branch}",
            path=delivery.path,
            line=line,
            revision_line=line,
            path_line=line,
        )
    for unit in plan.units:
        if unit.source is not None:
            line = plan.stack_line
            yield GitClaim(
                url=unit.source.repository,
                revision=unit.source.revision,
                path=None,
                line=line,
                revision_line=line,
                path_line=line,
            )


def delivery_claim(plan: ClusterPlan) -> DeliveryClaim:
    """Defaults are filled in, but for the destination: without one it is the cluster that the engine runs in."""
    delivery = plan.cluster.spec.delivery
    namespace = delivery.namespace or _NAMESPACES[delivery.engine]
    reference, destination = delivery.source_ref, delivery.destination
    elsewhere = destination if not delivery.argo_target.is_own_cluster else None
    name = elsewhere.name if elsewhere is not None else None
    server = elsewhere.server if elsewhere is not None and name is None else None
    return DeliveryClaim(
        namespace=namespace,
        project=delivery.project,
        name=name,
        server=server,
        instance=delivery.instance,
        source_ref=f"{reference.kind}/{reference.namespace or namespace}/{reference.name}" if reference else None,
        path=plan.cluster.path,
    )


def mirror_claims(plan: ClusterPlan) -> Iterator[MirrorClaim]:
    for host, mirror in plan.cluster.spec.registry.mirrors.items():
        yield MirrorClaim(
            host=host, mirror=mirror, line=FromProfile(plan.cluster.path, f"/spec/registry/mirrors/{host}")
        )


_VARIABLE = "_IMAGE"
_DRIVER_REPOSITORY = "/spec/driver/repository"
_REPOSITORY, _IMAGE, _REFERENCES = "repository", "image", ("image", "url", "reference")


@record
class ImageClaim:
    """A reference as it is written, with or without tag and digest; `by` says what pulls it, for messages."""

    image: str
    by: str
    line: FromProfile


def image_claims(prediction: Prediction, view: PrivilegeView) -> Iterator[ImageClaim]:
    """Each image and line once; those that a profile names itself come first."""
    found: dict[tuple[str, FromProfile], ImageClaim] = {}
    lines = _Lines(prediction, view)
    for claim in (*_named_by_profiles(prediction), *_pulled(prediction, lines)):
        found.setdefault((claim.image, claim.line), claim)
    yield from found.values()


def _pulled(prediction: Prediction, lines: _Lines) -> Iterator[ImageClaim]:
    for made in prediction.installation.made:
        for image in dict.fromkeys(_images_in(made.body)):
            yield ImageClaim(image=image, by=made.workload, line=lines.of(image, made.key))
    for use in prediction.images():
        for key in use.workloads:
            if key not in prediction.shared.made or use.image not in _images_in(prediction.shared.made[key].body):
                by = key.partition("/")[2] or key
                yield ImageClaim(image=use.image, by=by, line=lines.of(use.image, key))


def _images_in(body: KubernetesObject) -> tuple[str, ...]:
    """Of containers, of variables for pods that are started from there, and of volumes that are images."""
    template = pod_template_of(body)
    if template is None:
        return tuple(named_images(body))
    volumes = mappings(mapping(template.get("spec")).get("volumes"))
    references = (word(mapping(volume.get("image")).get("reference")) for volume in volumes)
    return (*images_of(body, variables=True), *filter(None, references))


def _named_by_profiles(prediction: Prediction) -> Iterator[ImageClaim]:
    """What values and driver objects name, whether or not anything pulls it today."""
    plan = prediction.plan
    for setting in plan.values:
        line = _line(setting.origin, plan.stack_line)
        block = prediction.origins.value(setting.path[:-1]) if len(setting.path) > 1 else None
        name = setting.path[-1]
        by = f"the value {setting.dotted}"
        if name in (_REPOSITORY, _IMAGE) and isinstance(setting.value, str):
            around = _around(prediction, setting.path[:-1]) if block is None else mapping(block)
            yield from _claims((_joined({**around, name: setting.value}),), by, line)
        else:
            yield from _claims(_named_in({name: setting.value}), by, line)
    for driver in plan.driver_objects:
        line = prediction.origins.locate(driver.pool, _DRIVER_REPOSITORY) or _line(driver.origin, plan.stack_line)
        yield from _claims(_named_in(driver.spec), f"NVIDIADriver/{driver.name}", line)
    for unit in plan.units:
        for setting in unit.values:
            line = _line(setting.origin, plan.stack_line)
            by = f"the value {setting.dotted} of {unit.title}"
            tree: Any = setting.value
            for key in reversed(setting.path):
                tree = {key: tree}
            yield from _claims(_named_in(tree), by, line)


def _claims(images: tuple[str, ...] | Iterator[str], by: str, line: FromProfile) -> Iterator[ImageClaim]:
    for image in images:
        if image:
            yield ImageClaim(image=image, by=by, line=line)


def _around(prediction: Prediction, path: ValuePath) -> Mapping[str, Any]:
    """The values beside one, as the chart is given them."""
    keys = (_REPOSITORY, _IMAGE, "version")
    return {key: prediction.origins.value((*path, key)) for key in keys}


def _named_in(node: Any) -> Iterator[str]:
    """Wherever a tree of values or a custom resource names images, as repository and image or as one reference."""
    if isinstance(node, list):
        for item in node:
            yield from _named_in(item)
    if not isinstance(node, dict):
        return
    if word(node.get(_REPOSITORY)):
        yield _joined(node)
    for key, value in node.items():
        if isinstance(value, str):
            is_whole = key in _REFERENCES and not word(node.get(_REPOSITORY)) and "/" in value and "://" not in value
            if is_whole:
                yield value
        else:
            yield from _named_in(value)
    if word(node.get("name")).endswith(_VARIABLE) and (value := word(node.get("value"))):
        yield value


def _joined(block: Mapping[str, Any]) -> str:
    """The repository of one image; without the image's name the repository is that of the image itself."""
    repository, image = word(block.get(_REPOSITORY)), word(block.get(_IMAGE))
    if not repository:
        return image if "/" in image else ""
    return f"{repository}/{image}" if image else repository


class _Lines:
    """From an image to the line of a profile that names it, or that causes what pulls it."""

    def __init__(self, prediction: Prediction, view: PrivilegeView) -> None:
        self._prediction = prediction
        self._view = view
        self._named = tuple(_naming(prediction))

    def of(self, image: str, key: str) -> FromProfile:
        fitting = [
            (len(text), line)
            for text, line in self._named
            if image == text or image.startswith((f"{text}/", f"{text}:"))
        ]
        if fitting:
            return max(fitting)[1]
        if key not in self._prediction.shared.made:  # the job that proves a pool
            return FromProfile(self._prediction.plan.cluster.path, "/spec/smokeTest")
        return self._view.line_of(key, self._prediction.origins.of_workload(key))


def _naming(prediction: Prediction) -> Iterator[tuple[str, FromProfile]]:
    """Texts of profiles that begin references."""
    plan = prediction.plan
    cluster = plan.cluster
    for setting in plan.values:
        for text in (text for text in texts_in(setting.value) if "." in text and text.strip()):
            yield text, _line(setting.origin, plan.stack_line)
    if cluster.spec.smoke_test.image is not None:
        yield cluster.spec.smoke_test.image, FromProfile(cluster.path, "/spec/smokeTest/image")
    for host, mirror in cluster.spec.registry.mirrors.items():
        yield mirror, FromProfile(cluster.path, f"/spec/registry/mirrors/{host}")
    for pool in plan.pools:
        line = prediction.origins.locate(pool.name, _DRIVER_REPOSITORY)
        if pool.profile.spec.driver.repository is not None and line is not None:
            yield pool.profile.spec.driver.repository, line


def _line(origin: Origin, otherwise: FromProfile) -> FromProfile:
    lines = profile_inputs(origin)
    return lines[0] if lines else otherwise
