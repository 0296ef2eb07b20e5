"""Arguments of an operand that its program, or the shell before it, refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.chart_contents import image_default
from poolsmith.gpu.catalog.operand_inputs import operand_inputs
from poolsmith.gpu.catalog.operands import own_container
from poolsmith.gpu.values.effective_values import is_off, text
from poolsmith.gpu.values.operand_flags import OF_PROGRAMS, undefined_flags

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM337")
_IMAGES = {"devicePlugin": "k8s-device-plugin", "gfd": "k8s-device-plugin", "dcgmExporter": "dcgm-exporter"}
_EXPORTER = "dcgm-exporter"
_OPTION = "--"


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    if document.release.is_of_operator:
        for program, component in OF_PROGRAMS.items():
            yield from _of_component(program, component, document)
    elif document.release.paths.chart == _EXPORTER and _is_exporter(document):
        version = document.get(("image", "tag"))
        yield from _undefined(
            _EXPORTER, version if isinstance(version, str) else None, _words(("arguments",), document)
        )


def _of_component(program: str, component: str, document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    path = (component, "args")
    if not document.has(path) or is_off(document, f"{component}.enabled") or not _is_own(component, document):
        return
    shell = _shell(component, document)
    if shell:
        yield from _refused_by_shell(shell, _words(path, document))
    elif component != "devicePlugin":
        yield from _undefined(program, _version(component, document), _words(path, document))


def _words(path: tuple[str, ...], document: ValuesDocument) -> list[tuple[ValuePlace, str]]:
    given = document.get(path)
    words = enumerate(given if isinstance(given, list) else ())
    return [((*document.above, *path, index), word) for index, word in words if isinstance(word, str)]


def _undefined(
    program: str, version: str | None, words: Sequence[tuple[ValuePlace, str]]
) -> Iterator[Finding[ValuePlace]]:
    for found in undefined_flags(program, version, words):
        severity = None if found.is_certain else Severity.WARNING
        yield Finding(place=found.place, message=found.message, help=found.help, severity=severity)


def _is_exporter(document: ValuesDocument) -> bool:
    """Whether the image is the vendor's, as far as its name tells."""
    repository = document.get(("image", "repository"))
    return repository is None or str(repository).rpartition("/")[2] == _EXPORTER


def _is_own(component: str, document: ValuesDocument) -> bool:
    """Whether the image is the vendor's, as far as its name tells."""
    return text(document, f"{component}.image") in ("", _IMAGES[component])


def _version(component: str, document: ValuesDocument) -> str | None:
    return text(document, f"{component}.version") or image_default(f"{component}.version", document.release.tag)


def _shell(component: str, document: ValuesDocument) -> str:
    """The command that gets the arguments, where it is a shell which takes the first of them as its script."""
    command = own_container(component, document.release.tag).get("command", ())
    return " ".join(command) if command[-1:] == ["-c"] else ""


def _refused_by_shell(shell: str, words: Sequence[tuple[ValuePlace, str]]) -> Iterator[Finding[ValuePlace]]:
    if not words or not words[0][1].startswith(_OPTION) or words[0][1] == _OPTION:
        return
    place, word = words[0]
    variable = word.removeprefix(_OPTION).partition("=")[0].replace("-", "_").upper()
    advice = f"set `{variable}`" if variable in operand_inputs("devicePlugin").names else "write what it is for"
    yield Finding(
        place=place,
        message=f"`{shorten(word)}` is an option of `{shell}`, which the arguments go to, and no shell has it",
        help=f"{advice} in `devicePlugin.env` instead",
    )
