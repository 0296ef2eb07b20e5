"""Which GPUs the machines of a provider have: by labels, requirements, annotations and names of machines.

Sources: karpenter.sh, well-known labels of the providers for AWS and Azure; Google Kubernetes Engine, page "Run GPUs in
GKE Standard node pools"; Cluster Autoscaler, annotations of Cluster API.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import join, reach
from poolsmith.core.sources.scalars import text_of
from poolsmith.gpu.catalog.platforms import distributions
from poolsmith.gpu.nodes.node_facts import Told

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from poolsmith.kubernetes.repository.node_templates import NodeTemplate

_COUNTS = ("karpenter.k8s.aws/instance-gpu-count", "karpenter.azure.com/sku-gpu-count")
_MODELS = ("karpenter.k8s.aws/instance-gpu-name", "karpenter.azure.com/sku-gpu-name")
_TYPES = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_FAMILIES = ("karpenter.k8s.aws/instance-family", "eks.amazonaws.com/instance-family")
_SIZES = "karpenter.k8s.aws/instance-size"
_CAPACITY = "metadata/annotations/capacity.cluster-autoscaler.kubernetes.io~1gpu-count"
_MACHINE_FIELDS = (
    "instanceType",
    "instanceTypes",
    "instancesDistribution/instanceTypes",
    "spec/instanceType",
    "spec/instanceTypes",
    "spec/machineType",
    "spec/forProvider/instanceTypes",
    "spec/forProvider/vmSize",
    "spec/forProvider/nodeConfig/machineType",
    "spec/forProvider/nodeConfig/0/machineType",
    "spec/sku",
    "spec/vmSize",
    "spec/nodeConfig/machineType",
)
_NUMBER = pattern(r"[0-9]{1,6}")
_ACCELERATORS = (
    "spec/nodeConfig/guestAccelerator",
    "spec/forProvider/nodeConfig/guestAccelerator",
    "spec/forProvider/nodeConfig/0/guestAccelerator",
)


@record(kw_only=False)
class GpuClaim:
    """`counts` and `models` are those that nodes may have, models in capital letters; empty: nothing is said of it."""

    counts: frozenset[int]
    models: frozenset[str]
    pointer: str
    said: str


def gpu_claims(template: NodeTemplate, machines: Mapping[str, tuple[str, int]]) -> Iterator[GpuClaim]:
    """`machines` are models and counts of known machines; of others nothing is said."""
    by_key: dict[str, list[tuple[str, str]]] = {}
    for mark in (*template.labels, *template.choices):
        if mark.value is not None:
            by_key.setdefault(mark.key, []).append((mark.value, mark.pointer))
    yield from claims_of_labels(by_key, machines)
    data = template.document.data
    count, is_there = reach(data, f"{template.top}/{_CAPACITY}")
    if template.announces and is_there and _is_number(text_of(count)):
        place = f"{template.top}/{_CAPACITY}"
        yield GpuClaim(frozenset((int(text_of(count)),)), frozenset(), place, f"gpu-count {count}")
    for field in _MACHINE_FIELDS:
        value, is_there = reach(data, f"{template.top}/{field}")
        if is_there and not template.announces:
            yield from _of_machines(_texts(value), machines, f"{template.top}/{field}")
    for place, item in _accelerators(template):
        if _is_number(text_of(item.get("count"))):
            count = int(text_of(item["count"]))
            yield GpuClaim(frozenset((count,)), frozenset(), join(place, "count"), f"count {count}")


def accelerator_claims(template: NodeTemplate) -> Iterator[Told]:
    """The provider's own names of the accelerators that a template asks for."""
    for place, item in _accelerators(template):
        if isinstance(name := item.get("type"), str):
            yield Told(name, join(place, "type"))


def _accelerators(template: NodeTemplate) -> Iterator[tuple[str, dict[str, Any]]]:
    for field in _ACCELERATORS:
        listed, is_there = reach(template.document.data, f"{template.top}/{field}")
        for index, item in enumerate(listed if is_there and isinstance(listed, list) else ()):
            if isinstance(item, dict):
                yield join(f"{template.top}/{field}", index), item


def claims_of_labels(
    by_key: Mapping[str, list[tuple[str, str]]], machines: Mapping[str, tuple[str, int]]
) -> Iterator[GpuClaim]:
    """By the labels of a provider: of each key the values that nodes may have, each with its pointer."""
    for key, found in by_key.items():
        values, place = [value for value, _ in found], found[0][1]
        said = f"{key} {', '.join(values)}"
        if key in _COUNTS and all(map(_is_number, values)):
            yield GpuClaim(frozenset(map(int, values)), frozenset(), place, said)
        elif key in _MODELS:
            yield GpuClaim(frozenset(), frozenset(value.upper() for value in values), place, said)
        elif key in _TYPES:
            yield from _of_machines(values, machines, place)
        elif key in _FAMILIES:
            sizes = {size for size, _ in by_key.get(_SIZES, ())}
            names = [_of_family(family, sizes, machines) for family in values]
            yield from _of_machines([name for some in names for name in some], machines, place) if all(names) else ()


def _of_family(family: str, sizes: Collection[str], machines: Mapping[str, object]) -> list[str]:
    """Those of a family that are known; empty where it is not."""
    known = [name for name in machines if name.startswith(f"{family}.")]
    return [name for name in known if not sizes or name.partition(".")[2] in sizes]


def _of_machines(names: list[str], machines: Mapping[str, tuple[str, int]], place: str) -> Iterator[GpuClaim]:
    """Nothing where one of them is not known: it may be the one."""
    if names and all(name in machines for name in names):
        found = [machines[name] for name in names]
        yield GpuClaim(
            frozenset(count for _, count in found), frozenset(model for model, _ in found), place, ", ".join(names)
        )


def accelerator_names() -> frozenset[str]:
    """Those of all providers."""
    return frozenset(name for entry in distributions().values() for name in entry.accelerators.values())


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _texts(value: Any) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, str)] if all(isinstance(item, str) for item in items) else []
