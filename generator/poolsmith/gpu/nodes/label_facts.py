"""What the labels of a node say of it, and the labels by which feature discovery would say it.

The names of the labels are those of Node Feature Discovery, of GPU feature discovery and of Kubernetes itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.sources.pointer import join
from poolsmith.gpu.catalog.node_labels import (
    ARCHITECTURE,
    DRIVER_VERSION,
    DRIVER_VERSION_PARTS,
    FEATURE,
    GPU_COUNT,
    GPU_PRODUCT,
    KERNEL,
    OS_ID,
    OS_MAJOR,
    OS_MINOR,
    OS_VERSION,
    driver_version,
    product_of,
)
from poolsmith.gpu.nodes.node_facts import NodeFacts, System, Told, first, value_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEVICE, _PRESENT = f"{FEATURE}pci-", ".present"
LABELS = "/metadata/labels"


def facts_of_labels(labels: Mapping[str, str]) -> NodeFacts:
    def told(key: str, value: str | None = None) -> tuple[Told, ...]:
        given = labels.get(key) if value is None else value
        return (Told(given, join(LABELS, key)),) if given else ()

    identity, version = told(OS_ID), told(OS_VERSION)
    product, part = product_of(labels)
    driver_key = next((key for key in (DRIVER_VERSION, *DRIVER_VERSION_PARTS) if labels.get(key)), DRIVER_VERSION)
    return NodeFacts(
        systems=(System(identity[0] if identity else None, version[0] if version else None),)
        if identity or version
        else (),
        kernels=told(KERNEL),
        architectures=told(ARCHITECTURE),
        products=told(GPU_PRODUCT, product),
        slices=told(GPU_PRODUCT, part),
        counts=() if part else told(GPU_COUNT),
        pci=tuple(
            item
            for key in labels
            if key.startswith(_DEVICE) and key.endswith(_PRESENT) and labels[key] == "true"
            for item in told(key, key.removeprefix(_DEVICE).removesuffix(_PRESENT))
        ),
        drivers=told(driver_key, driver_version(labels)),
        labels=labels,
    )


def discovered_labels(facts: NodeFacts) -> dict[str, str]:
    """Labels of Kubernetes and of Node Feature Discovery that say the system, kernel, processor and devices."""
    labels = {f"{_DEVICE}{device.value}{_PRESENT}": "true" for device in facts.pci}
    version = value_of(facts.system_version)
    found = {
        ARCHITECTURE: first(facts.architectures),
        KERNEL: first(facts.kernels),
        OS_ID: value_of(facts.system_id),
        OS_VERSION: version,
    }
    major, dot, rest = version.partition(".")
    if version:
        labels[OS_MAJOR] = major
    if dot:
        labels[OS_MINOR] = rest.partition(".")[0]
    return labels | {key: value for key, value in found.items() if value}
