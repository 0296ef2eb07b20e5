"""A variable of an operand that its version does not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import nearest, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.chart_contents import image_default
from poolsmith.gpu.catalog.operand_inputs import operand_inputs
from poolsmith.gpu.values.device_plugin_config import wrong_word
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
    what="Helm values give the device plugin, GPU Feature Discovery, dcgm-exporter or the MIG manager a variable that "
    "the version of this release does not read, or whose name is one letter from one that it reads; "
    "or a word that the device plugin refuses.",
    why="Nothing reports a variable that nobody reads: the operand keeps its default. At a wrong word the plugin ends.",
    fix="correct the name, remove it, or take a release whose operand reads it",
    bad="dcgmExporter:\n  env:\n    - {name: DCGM_EXPORTER_LISTENER, value: ':9401'}\n",
    good="dcgmExporter:\n  env:\n    - {name: DCGM_EXPORTER_LISTEN, value: ':9401'}\n",
    symptom="an operand behaves as if the variable were not there",
    references=("flags of NVIDIA/k8s-device-plugin, NVIDIA/dcgm-exporter and NVIDIA/mig-parted at their tags",),
)
COMPONENTS = ("devicePlugin", "gfd", "dcgmExporter", "migManager")
_PLUGIN = "devicePlugin"
_PREFIXES = {"dcgmExporter": "DCGM_EXPORTER_", "gfd": "GFD_", "migManager": "MIG_PARTED_"}
"""Whose name begins like this is meant for the operand, and has no effect when it is none that it reads."""


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    for component in COMPONENTS:
        if document.has((component, "env")) and not is_off(document, f"{component}.enabled"):
            environment = Environment(document, (component,))
            version = text(document, f"{component}.version") or image_default(
                f"{component}.version", document.release.tag
            )
            for place, message, help_text in unread(component, environment.entries, version):
                yield Finding(place=place, message=message, help=help_text)


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
            elif component == _PLUGIN and (wrong := wrong_word(name, variable.value, version)) is not None:
                yield (*variable.path, "value"), f"`{name}`: {wrong.message}, and stops", wrong.help
            continue
        is_meant = name.startswith(_PREFIXES.get(component, " "))
        match = nearest(name, known, certain=not is_meant) if count < MOST_SUGGESTED else None
        if match is not None or is_meant:
            help_text = f"did you mean `{match}`?" if match else "remove it"
            yield place, f"no {component} that is known reads `{shorten(name)}`", help_text
