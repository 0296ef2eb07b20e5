"""Every image that the pods of an installation pull."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import containers_of, mapping, mappings, pod_template_of, word
from poolsmith.core.sources.pointer import BRANCHES
from poolsmith.fleet.operands.expansion import Maker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.fleet.operands.expansion import Installation, KubernetesObject


@record
class ImageUse:
    """`workloads` are namespace/Kind/name; `pools` are names of pools, ANY_NODE or NO_KNOWN_NODE."""

    image: str
    workloads: tuple[str, ...]
    pools: tuple[str, ...]
    systems: tuple[str, ...] = ()
    """Operating systems of those pools, as `ubuntu 22.04`."""


_IMAGE_VARIABLE = "_IMAGE"


def images_of(body: KubernetesObject, *, variables: bool = True) -> Iterator[str]:
    """Of its containers, and with `variables` those that one names for pods which it starts itself."""
    template = pod_template_of(body)
    if template is None:
        return
    for container in containers_of(mapping(template.get("spec"))):
        if image := word(container.get("image")):
            yield image
        for variable in mappings(container.get("env")) if variables else ():
            if word(variable.get("name")).endswith(_IMAGE_VARIABLE) and (image := word(variable.get("value"))):
                yield image


def named_images(body: Any) -> Iterator[str]:
    """Images that an object of no known kind names: texts below keys like `image` and `payloadImage`."""
    if isinstance(body, dict):
        for key, value in body.items():
            if isinstance(value, BRANCHES):
                yield from named_images(value)
            elif isinstance(value, str) and "/" in value and key.lower().endswith("image"):
                yield value
    elif isinstance(body, list):
        for item in body:
            yield from named_images(item)


def image_uses(
    installation: Installation,
    landing: Mapping[str, tuple[str, ...]],
    systems: Mapping[str, str],
    others: Iterable[tuple[str, str, tuple[str, ...]]] = (),
) -> tuple[ImageUse, ...]:
    """By image. `landing` are the pools of each workload by its key, `systems` the operating system of each pool.

    `others` are further images, each with who pulls it and on which pools.
    """
    used: dict[str, list[str]] = {}
    landing = dict(landing)
    for image, key, places in others:
        used.setdefault(image, []).append(key)
        landing.setdefault(key, places)
    for made in installation.made:
        # the operator's own variables are for objects that it creates, and these are here
        variables = made.maker is Maker.OPERATOR
        found = images_of(made.body, variables=variables)
        if made.maker is Maker.POOLSMITH and pod_template_of(made.body) is None:
            found = named_images(made.body)
        for image in dict.fromkeys(found):
            used.setdefault(image, []).append(made.key)
    uses = []
    for image in sorted(used):
        pools = sorted({pool for key in used[image] for pool in landing.get(key, ())})
        uses.append(
            ImageUse(
                image=image,
                workloads=tuple(sorted(used[image])),
                pools=tuple(pools),
                systems=tuple(sorted({systems[pool] for pool in pools if pool in systems})),
            )
        )
    return tuple(uses)
