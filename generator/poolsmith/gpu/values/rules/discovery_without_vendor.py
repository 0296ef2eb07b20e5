"""Node feature discovery that no longer labels GPU nodes as the operator looks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import dotted
from poolsmith.gpu.values.effective_values import is_off, is_on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM294")
_NFD = "node-feature-discovery"
_FIELDS = (_NFD, "worker", "config", "sources", "pci", "deviceLabelFields")
_CLASSES = (_NFD, "worker", "config", "sources", "pci", "deviceClassWhitelist")
_SOURCES = tuple((_NFD, "worker", "config", "core", name) for name in ("sources", "labelSources"))
"""The first one, which is the older, takes the place of the other."""
_OWN_RULES = (_NFD, "worker", "config", "sources", "custom")
_NAMESPACES = (_NFD, "master", "config", "extraLabelNs")
_KNOWN_FIELDS = frozenset(("class", "vendor", "device", "subsystem_vendor", "subsystem_device"))
_GPU_CLASSES = ("0300", "0302")
_NIC_CLASSES = ("0200", "0207")
"""PCI classes of display and 3D controllers, of Ethernet and InfiniBand controllers."""


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    if is_off(document, "nfd.enabled"):
        return
    fields = document.get(_FIELDS)
    if isinstance(fields, list) and (known := _KNOWN_FIELDS.intersection(map(str, fields))):
        if known - {"class", "vendor"} or "vendor" not in known:
            message = f"`{dotted(_FIELDS)}` gives labels that the operator does not know, as pci-10de_2330.present"
            yield Finding(place=_FIELDS, message=message, help="write `deviceLabelFields: [vendor]`")
        elif known == {"class", "vendor"} and is_on(document, "driver.rdma.enabled"):
            message = f"`{dotted(_FIELDS)}` gives pci-0200_15b3.present; RDMA looks for pci-15b3.present"
            yield Finding(place=_FIELDS, message=message, help="write `deviceLabelFields: [vendor]`")
    classes = document.get(_CLASSES)
    if isinstance(classes, list):
        wanted = _GPU_CLASSES + (_NIC_CLASSES if is_on(document, "driver.rdma.enabled") else ())
        if missing := [name for name in wanted if not _is_listed(name, classes)]:
            message = f"`{dotted(_CLASSES)}` leaves out {listed(missing)}: nodes with such devices are not labelled"
            yield Finding(place=_CLASSES, message=message, help=f"add {listed(missing)}")
    sources = next((path for path in _SOURCES if isinstance(document.get(path), list)), None)
    if sources is not None and not _labels_devices(document.get(sources)) and not document.get(_OWN_RULES):
        message = f"`{dotted(sources)}` leaves out `pci`: no node gets the label of a GPU"
        yield Finding(place=sources, message=message, help="add `pci`, or write `[all]`")
    namespaces = document.get(_NAMESPACES)
    if isinstance(namespaces, list) and "nvidia.com" not in namespaces:
        message = f"`{dotted(_NAMESPACES)}` replaces the chart's list, and leaves out nvidia.com"
        yield Finding(place=_NAMESPACES, message=message, help="add `nvidia.com`")


def _labels_devices(sources: list[Any]) -> bool:
    """Later entries win; a dash turns a source off. Source: pkg/nfd-worker, configureCore."""
    said = [item for item in sources if item in ("all", "pci", "-pci")]
    return bool(said) and said[-1] != "-pci"


def _is_listed(name: str, classes: list[Any]) -> bool:
    """An entry stands for all classes that begin with it."""
    return any(isinstance(entry, str) and entry and name.startswith(entry.lower()) for entry in classes)
