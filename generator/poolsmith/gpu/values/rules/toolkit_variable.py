"""A variable of toolkit.env that nothing reads, or that can't have this value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts.versions import at_least
from poolsmith.gpu.catalog.container_toolkit import ToolkitVariable, known_variables
from poolsmith.gpu.catalog.operand_inputs import operand_inputs
from poolsmith.gpu.catalog.releases import advisable, behaviour_at
from poolsmith.gpu.values.effective_values import text, toolkit_environment
from poolsmith.gpu.values.rules.operand_variable import TOOLKIT, image_version, running, unread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument
    from poolsmith.gpu.values.effective_values import EnvironmentVariable

RULE = RuleInfo.of("PSM288")
_SOURCE = "RUNTIME_CONFIG_SOURCE"
_FILE = "file="


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    env = toolkit_environment(document)
    if env is None:
        return
    operand = running(document, TOOLKIT, TOOLKIT)
    tag = operand_inputs(TOOLKIT).tag_of(image_version(document, TOOLKIT, TOOLKIT))
    given = [(variable.name, variable.value) for variable in env.entries]
    by_place = {found.at: found for found in unread(TOOLKIT, given, tag)} if operand == TOOLKIT else {}
    for index, variable in enumerate(env.entries):
        of_operator = [*_of_operator(variable, document)]
        yield from of_operator
        if not of_operator and index in by_place:
            yield _told(variable, by_place[index].message, by_place[index].help)


def _of_operator(variable: EnvironmentVariable, document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    """What the operator makes of a variable."""
    name, release = variable.name, document.release.tag
    known = known_variables().get(name, ToolkitVariable())
    if (since := known.since) is not None and not at_least(release, since):
        yield _told(
            variable,
            f"`{name}` comes with {since}; the operator of {release} hands no such thing to the toolkit",
            f"remove it, or pin {advisable(since)} or later",
        )
    elif known.overwritten is not None and not behaviour_at(release)["runtimeFilesFirst"]:
        yield from _overwritten(variable, known.overwritten, document)
    elif name == _SOURCE and variable.value and not all(map(_is_source, variable.value.split(","))):
        yield Finding(
            place=(*variable.path, "value"),
            message=f"`{_SOURCE}` can't be `{shorten(variable.value)}`",
            help="write `command`, `file`, `file=/path/of/the/host`, or two of them with a comma between",
            severity=Severity.ERROR,
        )


def _overwritten(
    variable: EnvironmentVariable, instead: str, document: ValuesDocument
) -> Iterator[Finding[ValuePlace]]:
    """What the operator sets itself; a value that says the same is left alone."""
    if "." in instead:
        holds = text(document, instead)
        if not holds or variable.value in ("", holds):
            return
        message = f"`{variable.name}` has no effect: the operator sets it to `{instead}`, `{shorten(holds)}`"
    else:
        message = f"`{variable.name}` has no effect: the operator sets it itself"
    yield _told(variable, message, f"set `{instead}` instead" if instead else "remove it")


def _told(variable: EnvironmentVariable, message: str, help_text: str) -> Finding[ValuePlace]:
    return Finding(place=(*variable.path, "name"), message=message, help=help_text)


def _is_source(word: str) -> bool:
    return word in ("command", "file") or (word.startswith(_FILE) and word.removeprefix(_FILE).startswith("/"))
