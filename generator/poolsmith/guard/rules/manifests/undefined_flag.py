"""Command lines of the operands' containers in workloads that somebody wrote, by the version of their image."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import nearest, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import join
from poolsmith.gpu.catalog.operand_inputs import operand_inputs
from poolsmith.guard.rules.manifests.unread_operand_variable import operand_containers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.manifest_files import CheckedTree

RULE = RuleInfo(
    code="PSM544",
    name="undefined-flag",
    applies_to="manifest",
    what="A container of the device plugin, GPU Feature Discovery or dcgm-exporter, in a workload that somebody wrote, "
    "is started with a flag that the version of its image does not define.",
    why="The program prints `flag provided but not defined` and ends; the container starts again and again.",
    fix="correct the flag, remove it, or take an image that defines it",
    bad="image: nvcr.io/nvidia/k8s-device-plugin:v0.14.5\nargs: ['--mps-root=/run/nvidia/mps']\n",
    good="image: nvcr.io/nvidia/k8s-device-plugin:v0.17.1\nargs: ['--mps-root=/run/nvidia/mps']\n",
    symptom="`flag provided but not defined` in the log; CrashLoopBackOff",
    references=("flags of NVIDIA/k8s-device-plugin and NVIDIA/dcgm-exporter at their tags",),
)
_PROGRAMS = {
    "nvidia-device-plugin": "devicePlugin",
    "gpu-feature-discovery": "gfd",
    "dcgm-exporter": "dcgmExporter",
}
_OF_IMAGES = {"k8s-device-plugin": "nvidia-device-plugin"}
_BUILT_IN = ("help", "h", "version", "v")
_FLAG = pattern(r"--?+([A-Za-z][^=]*+)(?:=.*)?", re.DOTALL)
_FILLED = ("${", "{{", "<%")


def check(tree: CheckedTree) -> Iterator[Finding[Location]]:
    for item in operand_containers(tree):
        command = _words(item.container.get("command"))
        program = posixpath.basename(command[0]) if command else _OF_IMAGES.get(item.image, item.image)
        if program not in _PROGRAMS:
            continue
        inputs = operand_inputs(f"{_PROGRAMS[program]}.flags")
        tag = inputs.tag_of(item.version)
        for place, name in _flags(item.container, command):
            if inputs.is_read(name, tag) or name in _BUILT_IN or any(mark in name for mark in _FILLED):
                continue
            version = f"{program} {tag}" if tag else f"no {program} that is known"
            told = inputs.told(name, tag).replace("reads it", "has it") if tag and name in inputs.names else None
            first, blank, _ = name.partition(" ")
            match = nearest(first, inputs.names)
            yield Finding(
                message=f"{version} {'does not define' if tag else 'defines'} the flag `{shorten(name)}`"
                + (f": {told.replace('it is read', 'it is there')}" if told else ""),
                place=item.document.source.locate(join(item.pointer, *place)),
                help=_advice(first if blank else "", match, is_of_others=told is not None),
                subject=item.document.name,
                severity=None if tag else Severity.WARNING,
            )


def _advice(first: str, match: str | None, *, is_of_others: bool) -> str:
    """`first` is the word before a blank, where one argument has two."""
    if first:
        return f"an argument is one word: write `--{shorten(first)}` and its value as two, or with `=` between them"
    return "remove it" if is_of_others or match is None else f"did you mean `--{match}`?"


def _words(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _flags(container: Mapping[str, Any], command: list[str]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Each flag up to the first word that is neither one nor the value of one: there flags end."""
    words = [(("command", index), word) for index, word in enumerate(command)][1:]
    words += [(("args", index), word) for index, word in enumerate(_words(container.get("args")))]
    may_be_value = False
    for place, word in words:
        found = _FLAG.fullmatch(word)
        if found is not None:
            yield place, found[1]
            may_be_value = "=" not in word
        elif not may_be_value:
            return
        else:
            may_be_value = False
