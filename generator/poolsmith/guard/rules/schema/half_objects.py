"""Documents that are meant as objects, and of which nobody can say what they are."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, diagnose
from poolsmith.core.diagnostics.codes.object_schema import SCHEMA_VIOLATION
from poolsmith.core.diagnostics.printable import kind_of
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import join

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from poolsmith.core.sources.stream_places import StreamPlaces
    from poolsmith.guard.rules.schema.object_places import DeliveredPlaces
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree

_BOTH = ("apiVersion", "kind")
_HELP = "write both, or move what is no object into a file of its own"
_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml")
"""kustomize fills in what these leave out."""


@record(kw_only=False)
class Half:
    """A document, or an item of a list in it at `base`, and what is said of it."""

    document: CheckedDocument
    base: str
    key: str
    message: str

    def diagnostic(self, places: StreamPlaces | DeliveredPlaces) -> Diagnostic:
        pointer = f"{self.base}{self.key}"
        index = self.document.index
        place = places.locate(index, pointer) if pointer else places.inside(index, "", 1, 1)
        return diagnose(SCHEMA_VIOLATION, self.message, place, help=_HELP)


def half_objects(tree: CheckedTree, patches: Container[str]) -> Iterator[Half]:
    """Patches and what is empty are left out."""
    beside = {document.path for document in tree.objects}
    for document in tree.documents:
        if document.is_object or document.path in patches or not document.data:
            continue
        if posixpath.basename(document.path) in _KUSTOMIZATIONS:
            continue
        if document.path in beside or _is_meant(document.data):
            yield half_object(document, "", document.data)


def half_object(document: CheckedDocument, base: str, body: Any) -> Half:
    """What is wrong with one that is known to be half."""
    where = f"item {base.rpartition('/')[2]} of the list" if base else f"document {document.index + 1}"
    if not isinstance(body, dict):
        first = "/0" if isinstance(body, list) else ""
        return Half(document, base, first, f"{where} is {kind_of(body)}, not an object of Kubernetes")
    wrong = [_wrong(body, key) for key in _BOTH if not _is_text(body.get(key))]
    present = [key for key in (*_BOTH, *body) if key in body]
    key = next((key for key in present if key in _BOTH and not _is_text(body[key])), present[0] if present else "")
    name = _name(body)
    of = f" ({name})" if name else ""
    message = f"{where}{of} is no object of Kubernetes: {', '.join(wrong)}"
    return Half(document, base, join("", key) if key else "", message)


def _is_meant(body: Any) -> bool:
    """One of the two alone, with the name of an object."""
    return isinstance(body, dict) and bool(_name(body)) and any(key in body for key in _BOTH)


def _name(body: Mapping[str, Any]) -> str:
    metadata = body.get("metadata")
    name = (metadata.get("name") or metadata.get("generateName")) if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def _wrong(body: Mapping[str, Any], key: str) -> str:
    if key not in body:
        return f"`{key}` is missing"
    return f"`{key}` is empty" if body[key] == "" else f"`{key}` is {kind_of(body[key])}"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)
