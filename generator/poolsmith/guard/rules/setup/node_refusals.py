"""What the API server takes of a pod and no node can do, whatever it has: pull names that are none or of no registry,
and mount folders of the host that are not absolute.

Source: distribution/reference: reference.go, the grammar at its top; opencontainers/runtime-spec: config.md, Mounts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import reached, split
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


def refused_by_nodes(item: dict[str, Any]) -> Iterator[Violation]:
    """Of the pods of a workload."""
    for steps, (why_not, help_text) in _FIELDS.items():
        for pointer, value in reached(item, steps):
            if isinstance(value, str) and value and (why := why_not(value)) is not None:
                violation = Violation(What.VALUE, f"is `{shorten(value)}`, {why}", help=help_text)
                violation.steps.extend(int(step) if step.isdigit() else step for step in reversed(split(pointer)))
                yield violation


def _why_not(image: str) -> str | None:
    if len(image) > _LONGEST or not _REFERENCE.fullmatch(image):
        return "which is no name of an image"
    return None if "/" in image else "which names no registry: nobody publishes such an image"


def _not_absolute(path: str) -> str | None:
    return None if path.startswith("/") else "which is no absolute path: the node does not find it"


_POD = ("spec", "template", "spec")
_IMAGES = (_why_not, "write `repository`, `image` and `version`, all three")
_FIELDS = {
    (*_POD, "initContainers", "*", "image"): _IMAGES,
    (*_POD, "containers", "*", "image"): _IMAGES,
    (*_POD, "volumes", "*", "hostPath", "path"): (_not_absolute, "write a path that starts with `/`"),
}
