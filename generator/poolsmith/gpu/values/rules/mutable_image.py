"""An image whose tag means something else tomorrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import dotted
from poolsmith.gpu.catalog.chart_contents import image_components

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import Steps, ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM428")
_MOVING = frozenset(("latest", "main", "master", "devel", "develop", "dev", "edge", "nightly", "stable", "canary"))


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    for component in image_components(document.release.tag):
        above = tuple(component.split("."))
        for key in ("version", "image"):
            path = (*above, key)
            value = document.get(path)
            if isinstance(value, str) and (tag := _moving(key, value)):
                yield _told(
                    path, f"`{dotted(path)}` is `{shorten(value)}`: `{tag}` means another image at another time"
                )
    path = ("node-feature-discovery", "image", "tag")
    tag = document.get(path)
    if isinstance(tag, str) and is_moving(tag):
        yield _told(path, f"`{dotted(path)}` is `{shorten(tag)}`, which means another image at another time")


def _moving(key: str, value: str) -> str:
    """The tag that moves, of a version or at the end of an image."""
    tag = value if key == "version" else value.rpartition("/")[2].partition(":")[2]
    return shorten(tag) if is_moving(tag) else ""


def is_moving(tag: str) -> bool:
    """Whether a tag is one that a registry moves on."""
    return tag.lower().split("-")[0] in _MOVING


def _told(path: Steps, message: str) -> Finding[ValuePlace]:
    return Finding(place=path, message=message, help="write a version, or a digest")
