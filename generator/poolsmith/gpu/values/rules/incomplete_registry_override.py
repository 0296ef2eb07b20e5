"""A registry of one's own for some images, and not for the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import dotted
from poolsmith.gpu.values.effective_values import pulled_images, registry_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument
    from poolsmith.gpu.values.effective_values import ComponentImage

RULE = RuleInfo.of("PSM520")
_OWN_BUILDS = frozenset(("driver", "vgpuManager", "gds", "gdrcopy"))
"""Images that people build themselves: one of them elsewhere says nothing of the rest."""
_SEVERAL = 2


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    if document.partial:
        return
    images = list(pulled_images(document))
    moved = [image for image in images if image.is_moved and document.has(image.path)]
    telling = [image for image in moved if len(image.path) != _SEVERAL or image.path[0] not in _OWN_BUILDS]
    if (
        not any(image.path[0] == "operator" for image in telling)
        and len({image.path[0] for image in telling}) < _SEVERAL
    ):
        return
    left = [image for image in images if not image.is_moved]
    if left:
        registry = shorten(registry_of(telling[0].repository))
        yield Finding(
            place=telling[0].path,
            message=f"{len(moved)} images come from {registry}, {len(left)} still from elsewhere: {_named(left)}",
            help="set " + ", ".join(f"`{dotted(image.path)}`" for image in left),
            severity=Severity.NOTE if len(moved) == 1 else None,
        )


def _named(images: list[ComponentImage]) -> str:
    """The values that still name each registry."""
    by_registry: dict[str, list[str]] = {}
    for image in images:
        by_registry.setdefault(registry_of(image.repository), []).append(dotted(image.path[:-1]))
    return "; ".join(f"{registry} ({', '.join(places)})" for registry, places in by_registry.items())
