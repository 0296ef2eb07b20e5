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
_DRIVER = "driver"
"""Of which only what it shares with others is known."""
_MANAGER = "driver.manager"
_VALIDATOR = "validator"
_VALIDATIONS = ("driver", "toolkit", "cuda", "plugin", "vfioPCI", "vgpuManager", "vgpuDevices", "ccManager")
_PLUGIN = "devicePlugin"
COMPONENTS = {
    **{name: name for name in (_PLUGIN, "gfd", "dcgmExporter", "migManager", "vgpuDeviceManager", "ccManager")},
    **{name: name for name in (_DRIVER, _MANAGER)},
    **{f"{_VALIDATOR}.{part}": _VALIDATOR for part in _VALIDATIONS},
    "vgpuManager.driverManager": _MANAGER,
    "vfioManager.driverManager": _MANAGER,
}
"""Where values have their variables, with the operand whose image reads them."""
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
_LEAST_WORDS = 3
_PREFIXES = {
    "dcgmExporter": ("DCGM_EXPORTER_",),
    "gfd": ("GFD_",),
    "migManager": ("MIG_PARTED_",),
    "vgpuDeviceManager": ("VGPU_DM_",),
    _MANAGER: ("DRAIN_", "ENABLE_"),
}
"""Whose name begins like this is meant for the operand, and has no effect when it is none that it reads."""


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    operand, lists = _OF_CHARTS.get(document.release.paths.chart, ("", ()))
    for path in lists:
        if text(document, "image.repository").rpartition("/")[2] in _IMAGES:
            version = text(document, "image.tag") or document.release.tag
            yield from _of_list(document, tuple(path.split(".")), operand, version)
    for path, operand in COMPONENTS.items() if document.release.is_of_operator else ():
        if not is_off(document, f"{path.partition('.')[0]}.enabled"):
            yield from _of_list(document, (*path.split("."), "env"), operand, _version(document, path, operand))


def _of_list(
    document: ValuesDocument, path: tuple[str, ...], operand: str, version: str | None
) -> Iterator[Finding[ValuePlace]]:
    if document.has(path):
        entries = Environment(document, path[:-1], path[-1]).entries
        tag = operand_inputs(operand).tag_of(version)
        for found in unread(operand, [(entry.name, entry.value) for entry in entries], tag):
            place = (*document.above, *entries[found.at].path, found.field)
            yield Finding(place=place, message=found.message, help=found.help)


def _version(document: ValuesDocument, path: str, operand: str) -> str | None:
    """Of its image; the validator's is the release's own."""
    release = document.release.tag
    if operand == _VALIDATOR:
        return text(document, f"{_VALIDATOR}.version") or release
    return text(document, f"{path}.version") or image_default(f"{path}.version", release)


def _reader(operand: str, name: str) -> str | None:
    """The one operand that reads a variable, and it is another one."""
    readers = {other for other in COMPONENTS.values() if name in operand_inputs(other).names}
    if operand != _DRIVER and name in known_variables():
        readers.add("toolkit")
    return next(iter(readers)) if len(readers) == 1 and operand not in readers else None


def _with_more(name: str, known: Iterable[str]) -> str | None:
    """The one variable of three words and more that a name ends with: somebody put another word before it."""
    found = [other for other in known if other.count("_") >= _LEAST_WORDS - 1 and name.endswith(f"_{other}")]
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
            if tag is not None and not inputs.is_read(name, tag):
                told = inputs.told(name, tag)
                yield Unread(index, f"{component} {tag} does not read `{name}`: {told}", "remove it")
            elif component == _PLUGIN and value and (wrong := wrong_word(name, value, tag)) is not None:
                yield Unread(index, f"`{name}`: {wrong.message}, and stops", wrong.help, "value")
            continue
        if reader := _reader(component, name):
            where = f"a part of `{_VALIDATOR}`" if reader == _VALIDATOR else f"`{reader}.env`"
            yield Unread(
                index,
                f"`{name}` is a variable of `{reader}`, and no {component} reads it",
                f"remove it, or write it into {where}",
            )
            continue
        is_meant = name.startswith(_PREFIXES.get(component, ()))
        is_known = component != _DRIVER and index < MOST_SUGGESTED
        match = (_with_more(name, known) or nearest(name, known, certain=not is_meant)) if is_known else None
        if match is not None or is_meant:
            help_text = f"did you mean `{match}`?" if match else "remove it"
            yield Unread(index, f"no {component} that is known reads `{shorten(name)}`", help_text)
