"""Images of containers that no node can pull, whoever has pushed what: names that are none, and names of no registry.

Source: distribution/reference: reference.go, the grammar at its top.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import value_at
from poolsmith.kubernetes.schema.violation import Violation, What

if TYPE_CHECKING:
    from collections.abc import Iterator

_HOST = r"(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])"
_DOMAIN = rf"(?:{_HOST}(?:\.{_HOST})*|\[[A-Fa-f0-9:]+\])(?::[0-9]+)?"
_WORD = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REFERENCE = pattern(
    rf"(?:{_DOMAIN}/)?{_WORD}(?:/{_WORD})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}})?"
    r"(?:@[A-Za-z][A-Za-z0-9]*(?:[+.-_][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?",
    re.ASCII,
)
_LONGEST = 600
_LISTS = ("initContainers", "containers")


def unpullable(item: dict[str, Any]) -> Iterator[Violation]:
    """Of the pods of a workload."""
    spec = value_at(item, ("spec", "template", "spec"), {})
    for listed in _LISTS:
        containers = spec.get(listed)
        for index, container in enumerate(containers if isinstance(containers, list) else ()):
            image = container.get("image") if isinstance(container, dict) else None
            if isinstance(image, str) and image and (why := _why_not(image)) is not None:
                violation = Violation(
                    What.VALUE,
                    f"is `{shorten(image)}`, {why}",
                    help="write `repository`, `image` and `version`, all three",
                )
                violation.steps.extend(reversed(("spec", "template", "spec", listed, index, "image")))
                yield violation


def _why_not(image: str) -> str | None:
    if len(image) > _LONGEST or not _REFERENCE.fullmatch(image):
        return "which is no name of an image"
    return None if "/" in image else "which names no registry: nobody publishes such an image"
