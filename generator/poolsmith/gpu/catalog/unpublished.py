"""Images whose tags end before a version, since what they hold has moved to another image."""

from __future__ import annotations

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import is_older
from poolsmith.core.pattern import pattern

_TAG = pattern(r"v[0-9]{1,4}\.[0-9]{1,3}\.[0-9]{1,3}")


def unpublished(image: str) -> str:
    """Why nobody can pull it, also from a mirror that keeps the vendor's path; empty where that is not known."""
    name, _, tag = image.rpartition(":")
    for row in store.table("known_issues.yaml")["unpublished"]:
        if name.endswith(_path(row["image"])) and is_tag_since(tag, row["from"]):
            return f"no `{image}` was published: from {row['from']} on it is in `{row['now']}`"
    return ""


def is_tag_since(tag: str, first: str) -> bool:
    """Of a whole version alone: other tags are anybody's."""
    return _TAG.fullmatch(tag) is not None and not is_older(tag, first)


def _path(image: str) -> str:
    """Without its registry and the vendor's own folder."""
    return "/" + "/".join(image.split("/")[2:])
