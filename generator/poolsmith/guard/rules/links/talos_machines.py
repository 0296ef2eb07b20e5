"""Machines of Talos whose kernel modules are missing, not loaded, or of the kind that their GPUs do not take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, word, words
from poolsmith.core.sources.pointer import join, reached, value_at
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.node_labels import GPU_PRODUCT
from poolsmith.guard.rules.links.machine_images import TALOS, known_images
from poolsmith.guard.rules.names.kept import kept_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView, Machines
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument

_EXTENSIONS = ("customization", "systemExtensions", "officialExtensions")
_OPEN, _PROPRIETARY = "siderolabs/nvidia-open-gpu-kernel-modules", "siderolabs/nonfree-kmod-nvidia"
"""Beginnings of the names of extensions that bring modules. Source: siderolabs/extensions, nvidia-gpu."""
_WITH_DRIVER = ("siderolabs/nvidia-container-toolkit-", "siderolabs/nvidia-fabricmanager-")
_BRANCHES = {"lts", "production"}
"""Extensions that bring libraries, or a service, of a driver, and branches of it. Source: the same, vars.yaml."""
_MODULE = "nvidia_uvm"
"""Of NVIDIA's, in patches of any form and in files of tools that write machines too."""


def talos_machines(view: LinkView) -> Iterator[Finding[Location]]:
    yield from _of_all(view.machines)
    for schematic in _schematics(view.machines) if view.is_whole or view.is_alone else ():
        yield from _wrong_modules(view, *schematic)


@kept_all
def _of_all(files: Machines) -> Iterator[Finding[Location]]:
    """What is true of the files, whichever cluster is looked at."""
    machines, schematics = _machines(files), _schematics(files)
    for document, machine in machines:
        yield from _without_extension(document, machine)
    for schematic in schematics:
        yield from _of_another_branch(*schematic)
    if schematics and not _are_loaded(files):
        yield from _unloaded(machines, schematics[0])


@kept_all
def _machines(files: Machines) -> Iterator[tuple[CheckedDocument, Mapping[str, Any]]]:
    for document in files.tree.documents:
        if not document.is_object and (machine := mapping(mapping(document.data).get("machine"))):
            yield document, machine


@kept_all
def _schematics(files: Machines) -> Iterator[tuple[CheckedDocument, str, str]]:
    """Extensions that bring modules, each with its pointer and its name."""
    for document in files.tree.documents:
        listed = () if document.is_object else words(value_at(document.data, _EXTENSIONS), empty=True)
        for index, name in enumerate(listed):
            if name.startswith((_OPEN, _PROPRIETARY)):
                yield document, join("", *_EXTENSIONS, index), name


def _of_another_branch(document: CheckedDocument, pointer: str, name: str) -> Iterator[Finding[Location]]:
    """Libraries of the toolkit beside modules of another branch: NVML refuses them."""
    branch = name.rpartition("-")[2]
    for index, other in enumerate(words(value_at(document.data, _EXTENSIONS), empty=True)):
        its = other.rpartition("-")[2]
        if other.startswith(_WITH_DRIVER) and {branch, its} == _BRANCHES:
            yield Finding(
                message=f"`{other}` is of another branch of the driver than `{name}`: versions differ, and NVML fails",
                place=document.source.locate(join("", *_EXTENSIONS, index)),
                help=f"write `{other.removesuffix(its)}{branch}`",
                related=(document.source.locate(pointer),),
            )


def _are_loaded(files: Machines) -> bool:
    is_by_machine = any(_loads_modules(machine) for _, machine in _machines(files))
    return is_by_machine or any(_MODULE in document.text for document in files.tree.documents)


def _loads_modules(machine: Mapping[str, Any]) -> bool:
    """NVIDIA's."""
    return any(word(name).startswith("nvidia") for _, name in reached(machine, ("kernel", "modules", "*", "name")))


def _without_extension(document: CheckedDocument, machine: Mapping[str, Any]) -> Iterator[Finding[Location]]:
    """Modules that the installer does not have."""
    install = mapping(machine.get("install"))
    is_plain = word(install.get("image")).startswith(tuple(known_images()[TALOS]["plain"]))
    if is_plain and not install.get("extensions") and _loads_modules(machine):
        yield Finding(
            message="these machines load NVIDIA's modules, and the installer without extensions has none",
            place=document.source.locate("/machine/install/image"),
            help="take the installer of the image factory whose schematic has NVIDIA's extensions",
        )


def _unloaded(
    machines: Iterable[tuple[CheckedDocument, Mapping[str, Any]]], schematic: tuple[CheckedDocument, str, str]
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
