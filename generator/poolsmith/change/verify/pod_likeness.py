"""Whether a pod is what a template says, as far as what it runs, and as whom.

A webhook may take its images from a mirror, and tools may put containers beside those of the template: what those may
do is told of their privileges. An image of another tag is of an older template, and told elsewhere.
"""

from __future__ import annotations

from typing import Any

from poolsmith.core.sources.pod_template import mapping, mappings, word

_LISTS = ("initContainers", "containers")


def unlike(template: Any, pod: Any) -> str:
    """What is otherwise, in words; empty for nothing."""
    given, held = mapping(mapping(template).get("spec")), mapping(mapping(pod).get("spec"))
    account = word(given.get("serviceAccountName")) or "default"
    live = word(held.get("serviceAccountName"))
    if live and live != account:
        return f"its account is `{live}`, not `{account}`"
    for field in _LISTS:
        wanted = {word(item.get("name")): item for item in mappings(given.get(field))}
        for container in mappings(held.get(field)):
            name = word(container.get("name"))
            if name in wanted and (why := _of_container(wanted[name], container)):
                return f"container `{name}` {why}"
    return ""


def _of_container(wanted: Any, live: Any) -> str:
    given, held = word(wanted.get("image")), word(live.get("image"))
    if not given or not held:
        return ""
    if not is_image(held, given):
        return f"has the image `{held}`, not `{given}`"
    if tag_of(held) != tag_of(given):
        return ""  # it was made before the template changed, and its words may have, too
    for field in ("command", "args"):
        if (wanted.get(field) or []) != (live.get(field) or []):
            return f"runs another `{field}`"
    return ""


def tag_of(image: str) -> str:
    """Empty for an image that is named by its digest alone."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[2]


def is_image(held: str, given: str) -> bool:
    """Whether the repository is the same, or one that a mirror keeps it in."""
    ours, theirs = (_path(image) for image in (given, held))
    return theirs == ours or theirs.endswith(f"/{ours}")


def _path(image: str) -> str:
    """Of the repository, without the registry's host."""
    bare = image.partition("@")[0]
    head, slash, rest = bare.partition("/")
    path = rest if slash and ("." in head or ":" in head or head == "localhost") else bare
    before, _, last = path.rpartition("/")
    return f"{before}/{last.partition(':')[0]}" if before else last.partition(":")[0]
