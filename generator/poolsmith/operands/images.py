"""Every image that the pods of an installation pull. Floor: operands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.model.image_use import ImageUse
from poolsmith.model.installation import Maker
from poolsmith.operands.privileges.pod_privileges import containers_of, mapping, mappings, pod_template_of, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.model.expansion import KubernetesObject
    from poolsmith.model.installation import Installation

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


def image_uses(
    installation: Installation, landing: Mapping[str, tuple[str, ...]], systems: Mapping[str, str]
) -> tuple[ImageUse, ...]:
    """By image. `landing` are the pools of each workload by its key, `systems` the operating system of each pool."""
    used: dict[str, list[str]] = {}
    for made in installation.made:
        # the operator's own variables are for objects that it creates, and these are here
        variables = made.maker is Maker.OPERATOR
        for image in dict.fromkeys(images_of(made.body, variables=variables)):
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
