"""The file `profiles/_driver-images.yaml`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.diagnostics import diagnose
from poolsmith.diagnostics.codes import shape as codes
from poolsmith.profiles.driver_image_list import DRIVER_IMAGES, DriverImageListSpec
from poolsmith.shape.kind_document import load_kind_document

if TYPE_CHECKING:
    from poolsmith.diagnostics import Diagnostic
    from poolsmith.sources.input_tree import InputTree


def load_driver_images(tree: InputTree, path: str) -> tuple[DriverImageListSpec | None, tuple[Diagnostic, ...]]:
    """The list when it is sound, and all that is wrong with it."""
    document, problems = load_kind_document(tree, path, DRIVER_IMAGES, DriverImageListSpec)
    if document is None:
        return None, problems
    first: dict[str, int] = {}
    twice = []
    for index, item in enumerate(document.spec.images):
        other = first.setdefault(item.repository, index)
        if other != index:
            message = f"the repository `{item.repository}` stands here twice"
            related = (document.file.locate(f"/spec/images/{other}/repository", "the other one"),)
            place = document.file.locate(f"/spec/images/{index}/repository")
            advice = "put all its tags into one entry"
            twice.append(diagnose(codes.DUPLICATE_ITEM, message, place, help=advice, subject=path, related=related))
    return (None, tuple(twice)) if twice else (document.spec, ())
