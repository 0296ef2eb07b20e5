"""One patch for a tool that makes nodes."""

from __future__ import annotations

from typing import Any

from poolsmith.core.record import record


@record
class NodePatch:
    """`body` is a merge patch, or a list of operations of JSON Patch. `about` are lines for whoever uses it.

    `target` says which objects kustomize patches; None: the one that the patch names, which must be there.
    `is_object`: it is for Kubernetes objects.
    """

    file: str
    body: Any
    about: tuple[str, ...]
    target: dict[str, str] | None = None
    is_object: bool = True
