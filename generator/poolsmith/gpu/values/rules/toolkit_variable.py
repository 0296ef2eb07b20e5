"""A variable of toolkit.env that nothing reads, or that can't have this value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import nearest, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts.versions import at_least
from poolsmith.gpu.catalog.container_toolkit import is_meant_for_toolkit, known_variables
from poolsmith.gpu.catalog.releases import advisable, behaviour_at
from poolsmith.gpu.values.effective_values import text, toolkit_environment
from poolsmith.gpu.values.rules.unknown_value import MOST_SUGGESTED

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
    known = known_variables()
    looked_up = 0
    for variable in env.entries:
        name = variable.name
        if name not in known:
            looked_up += 1
            yield from _unknown(variable, may_be_close=looked_up <= MOST_SUGGESTED)
        elif (since := known[name].since) is not None and not at_least(document.release.tag, since):
            yield _told(
                variable,
                f"`{name}` comes with {since}; the operator of {document.release.tag} hands no such thing to "
                f"the toolkit",
                f"remove it, or pin {advisable(since)} or later",
            )
        elif known[name].overwritten is not None and not behaviour_at(document.release.tag)["runtimeFilesFirst"]:
            yield from _overwritten(variable, known[name].overwritten or "", document)
        elif name == _SOURCE and variable.value and not all(map(_is_source, variable.value.split(","))):
            yield Finding(
                place=(*variable.path, "value"),
                message=f"`{_SOURCE}` can't be `{shorten(variable.value)}`",
                help="write `command`, `file`, `file=/path/of/the/host`, or two of them with a comma between",
                severity=Severity.ERROR,
            )


def _unknown(variable: EnvironmentVariable, *, may_be_close: bool) -> Iterator[Finding[ValuePlace]]:
    is_meant = is_meant_for_toolkit(variable.name)
    match = nearest(variable.name, known_variables(), certain=not is_meant) if may_be_close else None
    if match is not None or is_meant:
        message = f"no toolkit that is known reads `{shorten(variable.name)}`"
        yield _told(variable, message, f"did you mean `{match}`?" if match else "remove it")


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
