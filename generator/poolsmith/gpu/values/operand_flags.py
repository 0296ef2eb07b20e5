"""Flags in command lines of the operands, by the version of their image."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import nearest, shorten
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.gpu.catalog.operand_inputs import operand_inputs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

OF_PROGRAMS = {
    "nvidia-device-plugin": "devicePlugin",
    "gpu-feature-discovery": "gfd",
    "mps-control-daemon": "mpsControlDaemon",
    "dcgm-exporter": "dcgmExporter",
}
"""By program the component whose flags are recorded."""
_BUILT_IN = ("help", "h", "version", "v")
_FLAG = pattern(r"--?+([A-Za-z][^=]*+)(?:=.*)?", re.DOTALL)
_FILLED = ("${", "{{", "<%")
Place = tuple[str | int, ...]


@record
class UndefinedFlag:
    """`is_certain`: the version is one of which all flags are recorded."""

    place: Place
    message: str
    help: str
    is_certain: bool


def undefined_flags(program: str, version: str | None, words: Iterable[tuple[Place, str]]) -> Iterator[UndefinedFlag]:
    """`words` are those of the command line behind the program, each with its place."""
    inputs = operand_inputs(f"{OF_PROGRAMS[program]}.flags")
    tag = inputs.tag_of(version)
    listed = [*words]
    if program == _EXPORTER:
        yield from _fields_for_a_file(listed)
    for place, name in _flags(listed):
        if inputs.is_read(name, tag) or name in _BUILT_IN or any(mark in name for mark in _FILLED):
            continue
        told = inputs.told(name, tag).replace("reads it", "has it") if tag and name in inputs.names else None
        first, blank, _ = name.partition(" ")
        match = nearest(first, inputs.names)
        yield UndefinedFlag(
            place=place,
            message=(f"{program} {tag} does not define" if tag else f"no {program} that is known defines")
            + f" the flag `{shorten(name)}`"
            + (f": {told.replace('it is read', 'it is there')}" if told else ""),
            help=_advice(first if blank else "", match, is_of_others=told is not None),
            is_certain=tag is not None,
        )


_EXPORTER, _COLLECTORS = "dcgm-exporter", ("--collectors", "-collectors", "-f")
_FIELD = "DCGM_FI_"


def _fields_for_a_file(words: list[tuple[Place, str]]) -> Iterator[UndefinedFlag]:
    """Source: NVIDIA/dcgm-exporter@4.4.2-4.7.1:pkg/cmd/app.go, CLIFieldsFile; the file is opened."""
    for number, (place, word) in enumerate(words):
        flag, sign, value = word.partition("=")
        named = value if sign else "".join(after for _, after in words[number + 1 : number + 2])
        if flag in _COLLECTORS and named.startswith(_FIELD):
            message = f"`{flag}` names a file, and {shorten(named)} is none: dcgm-exporter does not start"
            yield UndefinedFlag(place=place, message=message, help=_METRICS, is_certain=True)


_METRICS = (
    "list the fields in a file, one a line with type and help, and name that; the chart has `customMetrics` for it"
)


def _advice(first: str, match: str | None, *, is_of_others: bool) -> str:
    """`first` is the word before a blank, where one argument has two."""
    if first:
        return f"an argument is one word: write `--{shorten(first)}` and its value as two, or with `=` between them"
    return "remove it" if is_of_others or match is None else f"did you mean `--{match}`?"


def _flags(words: Iterable[tuple[Place, str]]) -> Iterator[tuple[Place, str]]:
    """Each flag up to the first word that is neither one nor the value of one: there flags end."""
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
