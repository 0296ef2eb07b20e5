"""GPU products (architecture, PCI ids, passthrough resources, MIG), and the GPUs of clouds' instance types."""

from __future__ import annotations

import re
from typing import Any

from poolsmith.core.diagnostics.message_text import nearest
from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record

_BRACKETS = pattern(r"\[(?P<name>[^\[\]]++)\]")
_MODEL = pattern(r"[a-z]{1,2}\d{1,4}[a-z]?")
"""As L4, A10G, H200 and GH200 are written; what forms and memories are called (SXM5, HBM3e) is longer."""
_SEPARATORS = pattern(r"[\s_()/-]+")
_VERSION = pattern(r"\d{3}(\.\d+){1,2}")
_PREFIXES = ("nvidia", "tesla", "quadro")


@record(kw_only=False)
class Architecture:
    """open and proprietary: required, supported, allowed or unsupported.

    `first_branch` and `last_branch` of drivers that serve it: None where no source names one. `capability` is the
    least compute capability, None where nobody says it.
    """

    name: str
    open: str
    proprietary: str
    last_branch: int | None
    first_branch: str | None = None
    capability: str | None = None


@record(kw_only=False)
class GpuDevice:
    """One PCI device id of a product. `resource` is what the passthrough plugins advertise it as."""

    id: str
    name: str | None
    resource: str | None


@record(kw_only=False)
class GpuEntry:
    """A GPU product. `mig` is True, False or `unknown`; drivers are None where no source names one.

    `first_driver` is the product's own, or the first branch of its architecture.

    `processor` is the kind of the host's processor where the GPU is built together with it.
    """

    product: str
    architecture: str
    devices: tuple[GpuDevice, ...]
    mig: bool | str
    mig_profiles: tuple[str, ...]
    first_driver: str | None = None
    first_mig_driver: str | None = None
    mig_doubt: tuple[str, str] | None = None
    """The last driver on which sources disagree whether it has MIG on this GPU, and what they say."""
    processor: str | None = None


@record(kw_only=False)
class Family:
    """GPUs that no documentation of the operator lists; without `architecture` they are no GPUs of NVIDIA."""

    names: str
    architecture: str | None


@record(kw_only=False)
class Gpus:
    entries: tuple[GpuEntry, ...]
    architectures: dict[str, Architecture]
    by_name: dict[str, GpuEntry]
    by_resource: dict[str, str]
    """Products by the extended resources that the passthrough plugins advertise them as."""
    source: str
    families: tuple[Family, ...] = ()

    def family(self, product: str) -> Family | None:
        """Of a product that is not among the entries."""
        name = " ".join(_SEPARATORS.split(product.lower()))
        return next((family for family in self.families if re.search(family.names, name)), None)

    def architecture_of(self, product: str) -> str | None:
        """Of an entry, or of the family that a product is of; None where nobody knows."""
        known = (self.find(product) or self.family(product)) if product else None
        return None if known is None else known.architecture

    def find(self, product: str) -> GpuEntry | None:
        """By the catalog's name, the PCI database's name, or the label nvidia.com/gpu.product."""
        return self.by_name.get(_normal(product))

    def similar(self, product: str) -> tuple[str, ...]:
        """Products that an unknown name may mean: those of its model, else those whose names hold it, else the closest.

        A model is what stands first: an H200 is no GH200, however much of the rest is alike.
        """
        words = _words(product)
        if model := next((word for word in words if _MODEL.fullmatch(word)), None):
            shared = {
                entry.product: len(words.keys() & _words(entry.product).keys())
                for entry in self.entries
                if model in _words(entry.product)
            }
            if shared:
                return tuple(name for name, count in shared.items() if count == max(shared.values()))
        wanted = _normal(product)
        holding = dict.fromkeys(entry.product for name, entry in self.by_name.items() if wanted in name)
        if holding:
            return tuple(holding)
        match = nearest(wanted, self.by_name, certain=True)
        return (self.by_name[match].product,) if match is not None else ()

    def resource_of(self, device: str) -> str:
        """What the passthrough plugins advertise a PCI device as, by its id in small letters; empty where unknown."""
        found = (item.resource for entry in self.entries for item in entry.devices if item.id == device)
        return next(found, None) or ""

    def names(self) -> tuple[str, ...]:
        return tuple(entry.product for entry in self.entries)


def gpus_from(data: dict[str, Any]) -> Gpus:
    architectures = {
        name: Architecture(
            name,
            facts["open"],
            facts["proprietary"],
            None if facts["lastBranch"] is None else int(facts["lastBranch"]),
            first_branch=facts.get("firstBranch"),
            capability=facts.get("capability"),
        )
        for name, facts in data["architectures"].items()
    }
    entries = tuple(_entry(entry, architectures[entry["architecture"]]) for entry in data["gpus"])
    by_name: dict[str, GpuEntry] = {}
    for entry in entries:
        for device in entry.devices:
            if device.name and (match := _BRACKETS.search(device.name)):
                by_name.setdefault(_normal(match["name"]), entry)
    for entry in entries:
        by_name[_normal(entry.product)] = entry
    for label, product in data.get("productLabels", {}).items():
        by_name[_normal(label)] = by_name[_normal(product)]
    by_resource = {device.resource: entry.product for entry in entries for device in entry.devices if device.resource}
    families = tuple(Family(entry["names"], entry["architecture"]) for entry in data.get("families", ()))
    return Gpus(entries, architectures, by_name, by_resource, data["gpuSource"], families)


def _entry(entry: dict[str, Any], architecture: Architecture) -> GpuEntry:
    return GpuEntry(
        product=entry["product"],
        architecture=entry["architecture"],
        devices=tuple(
            GpuDevice(device["id"], device.get("name"), device.get("resource")) for device in entry["devices"]
        ),
        mig=entry["mig"],
        mig_profiles=tuple(entry.get("migProfiles", ())),
        first_driver=entry.get("minDriver", architecture.first_branch),
        first_mig_driver=_version(entry.get("migMinDriver")),
        mig_doubt=(entry["migDoubt"]["through"], entry["migDoubt"]["because"]) if "migDoubt" in entry else None,
        processor=entry.get("processor"),
    )


def _version(text: str | None) -> str | None:
    """A driver's version; anything else that is noted in its place names none."""
    return text if text and _VERSION.fullmatch(text) else None


def _normal(name: str) -> str:
    words = _SEPARATORS.split(name.lower())
    while len(words) > 1 and words[0] in _PREFIXES:
        words = words[1:]
    return "".join(words)


def _words(name: str) -> dict[str, None]:
    """In order, each once."""
    return dict.fromkeys(_SEPARATORS.split(name.lower()))


@remembered
def instance_types(tool: str = "") -> dict[str, tuple[str, int]]:
    """Model and count by the cloud's name of the machine, as a tool counts them that starts it; of others unknown."""
    table = store.table("neighbours/instance_types.yaml")
    found = {name: (row["model"], count) for row in table["instanceTypes"] for name, count in row["counts"].items()}
    without = (table["none"], table["uncounted"] if tool == "karpenter" else {})
    return found | {name: (model, 0) for part in without for model, names in part.items() for name in names}
