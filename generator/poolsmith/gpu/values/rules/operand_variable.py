"""A variable of an operand that its version does not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import nearest, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.chart_contents import image_default
from poolsmith.gpu.catalog.operand_inputs import operand_inputs
from poolsmith.gpu.values.effective_values import Environment, is_off, text
from poolsmith.gpu.values.rules.unknown_value import MOST_SUGGESTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument
    from poolsmith.gpu.values.effective_values import EnvironmentVariable

RULE = RuleInfo(
    code="PSM332",
    name="operand-variable",
    severity=Severity.WARNING,
    applies_to="values",
    what="Helm values give an operand (device plugin, GPU Feature Discovery, dcgm-exporter, MIG manager, validator, "
    "driver manager, vGPU device manager, CC manager, driver) a variable that the version of this release does not "
    "read, that only another operand reads, or whose name is one letter from one that it reads.",
    why="Nothing reports a variable that nobody reads: the operand keeps its default.",
    fix="correct the name, remove it, or take a release whose operand reads it",
    bad="dcgmExporter:\n  env:\n    - {name: DCGM_EXPORTER_LISTENER, value: ':9401'}\n",
    good="dcgmExporter:\n  env:\n    - {name: DCGM_EXPORTER_LISTEN, value: ':9401'}\n",
    symptom="an operand behaves as if the variable were not there",
    references=("flags of each operand's repository at its tags; scripts of NVIDIA/gpu-driver-container",),
)
_VALIDATORS = ("driver", "toolkit", "cuda", "plugin", "vfioPCI", "vgpuManager", "vgpuDevices", "ccManager")
_PLACES = {
    **{name: name for name in ("devicePlugin", "gfd", "dcgmExporter", "migManager", "ccManager", "vgpuDeviceManager")},
    **{f"validator.{part}": "validator" for part in _VALIDATORS},
    "driver.manager": "driverManager",
    "vgpuManager.driverManager": "driverManager",
    "vfioManager.driverManager": "driverManager",
    "driver": "driver",
}
"""Where variables of an operand stand in the values, without `env`, with the operand as `operand_inputs` knows it."""
_DRIVER = "driver"
_UNKNOWN = frozenset((_DRIVER,))
"""Of these only what they share with others is known."""
_PREFIXES = {"dcgmExporter": "DCGM_EXPORTER_", "gfd": "GFD_", "migManager": "MIG_PARTED_"}
"""Whose name begins like this is meant for the operand, and has no effect when it is none that it reads."""


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    for place_of_env, operand in _PLACES.items():
        component = tuple(place_of_env.split("."))
        if document.has((*component, "env")) and not is_off(document, f"{component[0]}.enabled"):
            entries = Environment(document, component).entries
            for place, message, help_text in unread(operand, entries, _version(document, place_of_env, operand)):
                yield Finding(place=place, message=message, help=help_text)


def _version(document: ValuesDocument, component: str, operand: str) -> str | None:
    """Of the operand's image; the validator's is the release's own."""
    path = "validator.version" if operand == "validator" else f"{component}.version"
    release = document.release.tag
    default = release if operand == "validator" else image_default(path, release)
    return text(document, path) or default


def _move(place: str) -> str:
    return (
        f"write it into the part of `{place}` that it is for"
        if place == "validator"
        else f"write it into `{place}.env`"
    )


def _elsewhere(operand: str, name: str) -> str | None:
    """Where a variable belongs that this operand does not read and one other does."""
    readers = {other for other in _PLACES.values() if name in operand_inputs(other).names}
    if len(readers) != 1 or operand in readers:
        return None
    (reader,) = readers
    return next(place for place in ("validator", *_PLACES) if _PLACES.get(place, place) == reader)


def unread(
    component: str, entries: list[EnvironmentVariable], version: str | None
) -> Iterator[tuple[ValuePlace, str, str]]:
    """Of each variable that its image does not read: its place, what is wrong, what to do. Of a name that is close to
    none that is known nobody knows whose it is, and nothing is said."""
    inputs = operand_inputs(component)
    tag, known = inputs.tag_of(version), inputs.names
    for count, variable in enumerate(entries):
        name, place = variable.name, (*variable.path, "name")
        if name in known:
            if tag is not None and not inputs.is_read(name, tag):
                yield place, f"{component} {tag} does not read `{name}`: {inputs.told(name, tag)}", "remove it"
            continue
        if elsewhere := _elsewhere(component, name):
            yield place, f"`{name}` is a variable of `{elsewhere}`, and nothing here reads it", _move(elsewhere)
            continue
        is_meant = name.startswith(_PREFIXES.get(component, " "))
        is_known = component not in _UNKNOWN and count < MOST_SUGGESTED
        match = nearest(name, known, certain=not is_meant) if is_known else None
        if match is not None or is_meant:
            help_text = f"did you mean `{match}`?" if match else "remove it"
            yield place, f"no {component} that is known reads `{shorten(name)}`", help_text
