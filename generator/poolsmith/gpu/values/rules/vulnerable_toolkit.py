"""A container toolkit with a known way out of containers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding, Found
from poolsmith.gpu.catalog.chart_contents import image_default
from poolsmith.gpu.catalog.limits import limits
from poolsmith.gpu.values.effective_values import is_off

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.catalog.limits import Vulnerability
    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM427")
_VERSION = ("toolkit", "version")


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    if is_off(document, "toolkit.enabled"):
        return
    tag, pinned = document.release.tag, document.get(_VERSION)
    default = image_default("toolkit.version", tag)
    if isinstance(pinned, str) and pinned != default:
        if found := limits().of_toolkit(pinned):
            yield Finding(
                place=_VERSION,
                message=f"toolkit `{shorten(pinned)}` is open to {_names(found)}",
                help=("" if default is None or limits().of_toolkit(default) else "remove it, or ")
                + f"pin `{found[-1].toolkit}` or later",
                severity=None if any(item.critical for item in found) else Severity.WARNING,
            )
        return
    if document.partial or not document.size or default is None or (pinned is None and document.is_set(_VERSION)):
        return
    yield from (found.finding for found in of_release(tag))


def of_release(tag: str) -> Iterator[Found[ValuePlace]]:
    """What a release's own toolkit tells."""
    default = image_default("toolkit.version", tag)
    found = () if default is None else limits().of_toolkit(default)
    if any(item.critical for item in found):
        finding: Finding[ValuePlace] = Finding(
            place=(),
            message=f"{tag} installs the toolkit {default}, which is open to {_names(found)}",
            help=f"pin {found[-1].way_out}",
            severity=Severity.WARNING,
        )
        yield Found(RULE, finding)


def of_number(release: str, values: dict[str, Any]) -> Found[ValuePlace] | None:
    """What the number alone tells of a release with its own toolkit."""
    toolkit = values.get("toolkit")
    if isinstance(toolkit, dict) and (toolkit.get("enabled") is False or toolkit.get("version")):
        return None
    found = tuple(item for item in limits().of_operator(release) if item.critical)
    if not found:
        return None
    since = f"is older than {found[0].operator}, the first release" if found[0].operator else "comes before any release"
    message = f"{shorten(release)} {since} whose toolkit is not open to "
    help_text = f"pin {limits().of_operator(release)[-1].way_out}"
    finding: Finding[ValuePlace] = Finding(
        place=(), message=message + _names(found[:1]), help=help_text, severity=Severity.WARNING
    )
    return Found(RULE, finding)


def _names(found: tuple[Vulnerability, ...]) -> str:
    return ", ".join(item.shown for item in found)
