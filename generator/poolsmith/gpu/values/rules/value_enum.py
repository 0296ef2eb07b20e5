"""A word that the field of the custom resource does not take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import did_you_mean, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import dotted
from poolsmith.gpu.values.device_plugin_config import wrong_word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

_PLUGIN = "nvidia-device-plugin"

RULE = RuleInfo.of("PSM323")


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    if document.release.paths.chart == _PLUGIN:
        yield from _of_plugin(document)
    for item in document.known:
        if not item.node.enum or not isinstance(item.value, str) or item.value in item.node.enum:
            continue
        words = [word for word in item.node.enum if word]
        yield Finding(
            place=item.path,
            message=f"`{dotted(item.path)}` can't be `{shorten(item.value)}`; it is one of "
            + ", ".join(f"`{word}`" for word in words),
            help=did_you_mean(item.value, words),
        )


def _of_plugin(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    """The chart hands its values on as variables."""
    tag = document.get(("image", "tag")) or f"v{document.release.tag.removeprefix('v')}"
    for name, value in document.values.items():
        wrong = wrong_word(name, value, str(tag)) if isinstance(value, str) else None
        if wrong is not None:
            yield Finding(place=(name,), message=f"`{name}`: {wrong.message}", help=wrong.help)
