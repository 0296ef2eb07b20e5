"""A variable of an operand that its version does not read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import nearest, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.chart_contents import image_default
from poolsmith.gpu.catalog.container_toolkit import known_variables
from poolsmith.gpu.catalog.operand_inputs import operand_inputs
from poolsmith.gpu.values.device_plugin_config import wrong_word
from poolsmith.gpu.values.effective_values import Environment, is_off, text
from poolsmith.gpu.values.rules.unknown_value import MOST_SUGGESTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM332")
_DRIVER, _VGPU_HOST = _SCRIPTS = ("driver", "vgpuManager")
"""Of which only what they share with others is known."""
_MANAGER = "driver.manager"
_VALIDATOR = "validator"
_VALIDATIONS = ("driver", "toolkit", "cuda", "plugin", "vfioPCI", "vgpuManager", "vgpuDevices", "ccManager")
_PLUGIN, TOOLKIT = "devicePlugin", "toolkit"
COMPONENTS = {
    **{name: name for name in (_PLUGIN, "gfd", "dcgm", "dcgmExporter", "migManager", "vgpuDeviceManager", "ccManager")},
    **{name: name for name in ("sandboxDevicePlugin", "kataSandboxDevicePlugin", "kataManager", "vfioManager")},
    **{name: name for name in (_DRIVER, _MANAGER, _VGPU_HOST, _VALIDATOR)},
    **{f"{_VALIDATOR}.{part}": _VALIDATOR for part in _VALIDATIONS},
    "nodeStatusExporter": _VALIDATOR,
    "vgpuManager.driverManager": _MANAGER,
    "vfioManager.driverManager": _MANAGER,
}
"""Where values have their variables, with the operand whose image reads them."""
OF_IMAGES = {
    "k8s-device-plugin": "devicePlugin",
    "gpu-feature-discovery": "gfd",
    "mps-control-daemon": "mpsControlDaemon",
    "container-toolkit": "toolkit",
    "dcgm": "dcgm",
    "dcgm-exporter": "dcgmExporter",
    "k8s-mig-manager": "migManager",
    "k8s-driver-manager": "driver.manager",
    "k8s-kata-manager": "kataManager",
    "k8s-cc-manager": "ccManager",
    "kubevirt-gpu-device-plugin": "sandboxDevicePlugin",
    "nvidia-sandbox-device-plugin": "kataSandboxDevicePlugin",
    "vfio-manage": "vfioManager",
    "vgpu-device-manager": "vgpuDeviceManager",
    "k8s-dra-driver-gpu": "draDriver",
    "dra-driver-nvidia-gpu": "draDriver",
}
"""By image, or by the program that one of several in it is."""
_OF_SEVERAL = ("k8s-device-plugin", "k8s-driver-manager")
_OF_CHARTS = {
    "dcgm-exporter": ("dcgmExporter", ("extraEnv",)),
    "nvidia-dra-driver-gpu": (
        "draDriver",
        (
            "controller.containers.computeDomain.env",
            "kubeletPlugin.containers.computeDomains.env",
            "kubeletPlugin.containers.gpus.env",
        ),
    ),
}
"""The same of charts beside the operator's."""
_IMAGES = ("", "dcgm-exporter", "k8s-dra-driver-gpu", "dra-driver-nvidia-gpu")
_LEAST_WORDS, _FEW = 3, 2
_PREFIXES = {
    TOOLKIT: ("CONTAINERD_", "CRIO_", "DOCKER_", "RUNTIME_", "NRI_", "NVIDIA_CONTAINER_RUNTIME", "ACCEPT_NVIDIA_"),
    "dcgmExporter": ("DCGM_EXPORTER_",),
    "gfd": ("GFD_",),
    "migManager": ("MIG_PARTED_",),
    "vgpuDeviceManager": ("VGPU_DM_",),
    _MANAGER: ("DRAIN_", "ENABLE_"),
    _VALIDATOR: ("DISABLE_DEV_", "SKIP_", "VALIDAT", "WITH_"),
}
"""Whose name begins like this is meant for the operand, and has no effect when it is none that it reads."""


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    operand, lists = _OF_CHARTS.get(document.release.paths.chart, ("", ()))
    for path in lists:
        if text(document, "image.repository").rpartition("/")[2] in _IMAGES:
            version = text(document, "image.tag") or document.release.tag
            yield from _of_list(document, tuple(path.split(".")), operand, version)
    for path, operand in COMPONENTS.items() if document.release.is_of_operator else ():
        if not is_off(document, f"{path.partition('.')[0]}.enabled") and (runs := running(document, path, operand)):
            yield from _of_list(document, (*path.split("."), "env"), runs, image_version(document, path, operand))


def _of_list(
    document: ValuesDocument, path: tuple[str, ...], operand: str, version: str | None
) -> Iterator[Finding[ValuePlace]]:
    if document.has(path):
        entries = Environment(document, path[:-1], path[-1]).entries
        tag = operand_inputs(operand).tag_of(version)
        for found in unread(operand, [(entry.name, entry.value) for entry in entries], tag):
            place = (*document.above, *entries[found.at].path, found.field)
            yield Finding(place=place, message=found.message, help=found.help)


def running(document: ValuesDocument, path: str, operand: str) -> str | None:
    """The operand whose image values name at a path, in the place of the usual one; None where nobody knows it."""
    place = f"{_VALIDATOR if path.startswith(_VALIDATOR) else path}.image"
    image = text(document, place).rpartition("/")[2].partition(":")[0]
    is_usual = image in ("", image_default(place, document.release.tag), *_OF_SEVERAL)
    return operand if is_usual else OF_IMAGES.get(image)


def image_version(document: ValuesDocument, path: str, operand: str) -> str | None:
    """Of its image; the validator's is the release's own."""
    release = document.release.tag
    place = f"{_VALIDATOR if path.startswith(_VALIDATOR) else path}.version"
    return text(document, place) or (release if operand == _VALIDATOR else image_default(place, release))


def _readers(operand: str, name: str) -> str:
    """The operands that read a variable, as texts name them, where this one is none of them and they are few."""
    readers = [other for other in dict.fromkeys((*COMPONENTS.values(), TOOLKIT)) if name in operand_inputs(other).names]
    return " and ".join(f"`{reader}`" for reader in readers) if len(readers) <= _FEW and operand not in readers else ""


def _is_of_operator(component: str, name: str) -> bool:
    return component == TOOLKIT and known_variables()[name].by_operator


def _of_its_words(name: str, known: Iterable[str]) -> str | None:
    """The one variable that has three words and more of a name: those at its end, or those that both begin with."""
    begins = "_".join([*name.split("_")[:_LEAST_WORDS], ""])
    found = [
        other
        for other in known
        if other.count("_") >= _LEAST_WORDS - 1
        and (name.endswith(f"_{other}") or (begins.count("_") == _LEAST_WORDS and other.startswith(begins)))
    ]
    return found[0] if len(found) == 1 else None


class Unread(NamedTuple):
    """`at` is the index of the variable."""

    at: int
    message: str
    help: str
    field: str = "name"


def unread(component: str, variables: Sequence[tuple[str, str]], tag: str | None) -> Iterator[Unread]:
    """Of each variable that its image does not read, or whose value it refuses: what is wrong, what to do. Of a name
    that is close to none that is known nobody knows whose it is, and nothing is said."""
    inputs = operand_inputs(component)
    known = inputs.names
    for index, (name, value) in enumerate(variables):
        if name in known:
            if tag is not None and not inputs.is_read(name, tag) and not _is_of_operator(component, name):
                told = inputs.told(name, tag)
                yield Unread(index, f"{component} {tag} does not read `{name}`: {told}", "remove it")
            elif component == _PLUGIN and value and (wrong := wrong_word(name, value, tag)) is not None:
                yield Unread(index, f"`{name}`: {wrong.message}, and stops", wrong.help, "value")
            continue
        if readers := _readers(component, name):
            message = f"`{name}` is a variable of {readers}, and no {component} reads it"
            yield Unread(index, message, "remove it, or write it into the `env` of what reads it")
            continue
        is_meant = name.startswith(_PREFIXES.get(component, ()))
        is_known = component not in _SCRIPTS and index < MOST_SUGGESTED
        match = (_of_its_words(name, known) or nearest(name, known, certain=not is_meant)) if is_known else None
        if match is not None or is_meant:
            help_text = f"did you mean `{match}`?" if match else "remove it"
            yield Unread(index, f"no {component} that is known reads `{shorten(name)}`", help_text)
