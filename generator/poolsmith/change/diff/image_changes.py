"""Images before and after a change: what nodes pull from now on, and what they no longer do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import ImageChange
from poolsmith.kubernetes.server.field_change import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.fleet.operands.images import ImageUse


def image_changes(
    before: Iterable[ImageUse], after: Iterable[ImageUse], renamed: Mapping[str, str]
) -> tuple[ImageChange, ...]:
    """An image is added on the pools that did not pull it, and removed on those that no longer do.

    `renamed` are old names of pools by new ones: to pull the same under another name is no change.
    """
    new_names = {old: new for new, old in renamed.items()}
    was = {use.image: {new_names.get(pool, pool) for pool in use.pools} for use in before}
    now = {use.image: set(use.pools) for use in after}
    found = []
    for image in sorted(was.keys() | now.keys()):
        old, new = was.get(image), now.get(image)
        if new is not None and (old is None or new - old):
            pools = new - (old or set())
            found.append(ImageChange(image=image, standing=Standing.ADDED, pools=tuple(sorted(pools))))
        if old is not None and (new is None or old - new):
            pools = old - (new or set())
            found.append(ImageChange(image=image, standing=Standing.REMOVED, pools=tuple(sorted(pools))))
    return tuple(found)
