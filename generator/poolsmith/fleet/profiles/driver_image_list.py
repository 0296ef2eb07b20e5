"""Kind DriverImageList: driver images that somebody has seen in a registry."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes import shape as codes
from poolsmith.core.record import record
from poolsmith.core.shape.field import spec
from poolsmith.core.shape.kind_document import load_kind_document

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.sources.input_tree import InputTree

DRIVER_IMAGES = "DriverImageList"
REPOSITORY = r"[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*){1,8}"
TAG = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"


@record
class KnownImages:
    """The tags that are known of one repository."""

    repository: str = spec(
        "Repository with the image's name and without a tag, as the nodes pull it: with the mirror's host.",
        pattern=REPOSITORY,
        form="a repository like nvcr.io/nvidia/driver",
        examples=("nvcr.io/nvidia/driver",),
    )
    tags: tuple[str, ...] = spec(
        "Tags that exist.",
        pattern=TAG,
        form="a tag like 580.126.20-ubuntu22.04",
        examples=(["580.126.20-ubuntu22.04", "580-5.15.0-105-generic-ubuntu22.04"],),
        unique=True,
    )


@record(slots=False)
class DriverImageListSpec:
    """Known images. A repository that is named here is known as a whole: a tag that is missing does not exist there.
    Of other repositories nothing is known."""

    images: tuple[KnownImages, ...] = spec("Repositories and their tags.")

    @cached_property
    def tags(self) -> dict[str, frozenset[str]]:
        """By repository."""
        return {item.repository: frozenset(item.tags) for item in self.images}


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
            message = f"the repository `{item.repository}` is listed here twice"
            related = (document.file.locate(f"/spec/images/{other}/repository", "the other one"),)
            place = document.file.locate(f"/spec/images/{index}/repository")
            advice = "put all its tags into one entry"
            twice.append(diagnose(codes.DUPLICATE_ITEM, message, place, help=advice, subject=path, related=related))
    return (None, tuple(twice)) if twice else (document.spec, ())
