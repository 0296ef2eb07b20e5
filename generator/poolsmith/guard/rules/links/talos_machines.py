"""Machines of Talos whose kernel modules are missing, not loaded, or of the kind that their GPUs do not take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, word, words
from poolsmith.core.sources.pointer import join, reached, value_at
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.node_labels import GPU_PRODUCT
from poolsmith.guard.rules.links.machine_images import TALOS, known_images

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument

_EXTENSIONS = ("customization", "systemExtensions", "officialExtensions")
_OPEN, _PROPRIETARY = "siderolabs/nvidia-open-gpu-kernel-modules", "siderolabs/nonfree-kmod-nvidia"
"""Beginnings of the names of extensions that bring modules. Source: siderolabs/extensions, nvidia-gpu."""

_MODULE = "nvidia_uvm"
"""Of NVIDIA's, in patches of any form and in files of tools that write machines too."""


def talos_machines(view: LinkView) -> Iterator[Finding[Location]]:
    machines: list[tuple[CheckedDocument, Mapping[str, Any]]] = []
    schematics: list[tuple[CheckedDocument, str, str]] = []
    for document in view.machines.tree.documents:
        if not document.is_object:
            data = mapping(document.data)
            if machine := mapping(data.get("machine")):
                machines.append((document, machine))
            for index, name in enumerate(words(value_at(data, _EXTENSIONS), empty=True)):
                if name.startswith((_OPEN, _PROPRIETARY)):
                    schematics.append((document, join("", *_EXTENSIONS, index), name))
    for document, machine in machines:
        yield from _without_extension(document, machine)
    are_loaded = any(_modules(machine) for _, machine in machines) or not schematics
    if not are_loaded and not any(_MODULE in document.text for document in view.machines.tree.documents):
        yield from _unloaded(machines, schematics[0])
    for schematic in schematics if view.is_whole or view.is_alone else ():
        yield from _wrong_modules(view, *schematic)


def _modules(machine: Mapping[str, Any]) -> bool:
    """Whether it loads NVIDIA's."""
    return any(word(name).startswith("nvidia") for _, name in reached(machine, ("kernel", "modules", "*", "name")))


def _without_extension(document: CheckedDocument, machine: Mapping[str, Any]) -> Iterator[Finding[Location]]:
    """Modules that the installer does not have."""
    install = mapping(machine.get("install"))
    is_plain = word(install.get("image")).startswith(tuple(known_images()[TALOS]["plain"]))
    if is_plain and not install.get("extensions") and _modules(machine):
        yield Finding(
            message="these machines load NVIDIA's modules, and the installer without extensions has none",
            place=document.source.locate("/machine/install/image"),
            help="take the installer of the image factory whose schematic has NVIDIA's extensions",
        )


def _unloaded(
    machines: list[tuple[CheckedDocument, Mapping[str, Any]]], schematic: tuple[CheckedDocument, str, str]
) -> Iterator[Finding[Location]]:
    """An extension of modules, and workers of which nobody loads them; patches of machines count too."""
    workers = [document for document, machine in machines if machine.get("type") == "worker"]
    if workers:
        document, pointer, name = schematic
        yield Finding(
            message=f"`{name}` brings NVIDIA's modules and loads none, and no machine here names them",
            place=workers[0].source.locate("/machine"),
            help="write `kernel: {modules: [{name: nvidia}, {name: nvidia_uvm}, {name: nvidia_drm}, "
            "{name: nvidia_modeset}]}` for the machines with GPUs",
            related=(document.source.locate(pointer),),
        )


def _wrong_modules(view: LinkView, document: CheckedDocument, pointer: str, name: str) -> Iterator[Finding[Location]]:
    gpus = Catalog().gpus
    labels = [mark for item in view.machines.templates if item.tool == "talos" for mark in item.labels]
    entries = [
        entry for mark in labels if mark.key == GPU_PRODUCT and (entry := gpus.find(mark.value or "")) is not None
    ]
    needs = [entry for entry in entries if gpus.architectures[entry.architecture].open == "required"]
    if needs and len(needs) == len(entries) and name.startswith(_PROPRIETARY):
        yield Finding(
            message=f"{needs[0].product} needs the open kernel modules, and `{name}` brings the proprietary ones",
            place=document.source.locate(pointer),
            help=f"write `{name.replace(_PROPRIETARY, _OPEN)}`",
        )
