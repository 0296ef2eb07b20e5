"""Every image that a cluster may pull, now or once an operand is switched on, and the line of a profile behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, pod_template_of, word
from poolsmith.fleet.operands.images import images_of, named_images
from poolsmith.fleet.plan.origin import FromProfile, profile_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.fleet.plan.origin import Origin
    from poolsmith.fleet.plan.plan import ValuePath
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.guard.ledger.view import PrivilegeView

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
    """From an image to the line of a profile that names it, or that brings about what pulls it."""

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
        for text in _texts(setting.value):
            yield text, _line(setting.origin, plan.stack_line)
    if cluster.spec.smoke_test.image is not None:
        yield cluster.spec.smoke_test.image, FromProfile(cluster.path, "/spec/smokeTest/image")
    for host, mirror in cluster.spec.registry.mirrors.items():
        yield mirror, FromProfile(cluster.path, f"/spec/registry/mirrors/{host}")
    for pool in plan.pools:
        line = prediction.origins.locate(pool.name, _DRIVER_REPOSITORY)
        if pool.profile.spec.driver.repository is not None and line is not None:
            yield pool.profile.spec.driver.repository, line


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str) and "." in value and value.strip():
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _line(origin: Origin, otherwise: FromProfile) -> FromProfile:
    lines = profile_inputs(origin)
    return lines[0] if lines else otherwise
