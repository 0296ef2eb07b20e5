"""Addresses and images taken apart, so that places are compared and never texts that look alike.

What has not the one spelling that `forms` takes is no place at all, and so outside of every policy.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from poolsmith.guard.policies.supply import forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DOCKER_HUB = "docker.io"
_DOCKER_HUB_TOO = frozenset((DOCKER_HUB, "index.docker.io"))
_OFFICIAL = "library"
_LONGEST = 600
_TAG = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}"
_DIGEST = r"[a-z0-9]{1,20}:[0-9a-f]{32,128}"
_IMAGE_PART = r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*"
_REFERENCE = rf"(?P<name>.+?)(:(?P<tag>{_TAG}))?(@(?P<digest>{_DIGEST}))?"


class ImagePlace(NamedTuple):
    """A repository: the registry's host with its port, and the parts of the path."""

    host: str
    path: tuple[str, ...]

    @property
    def text(self) -> str:
        return "/".join((self.host, *self.path))

    def is_below(self, other: ImagePlace) -> bool:
        """Whether it is that one, or part by part below it."""
        return self.host == other.host and self.path[: len(other.path)] == other.path


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _matches(pattern: str, text: str) -> bool:
    return len(text) <= _LONGEST and _compiled(pattern).fullmatch(text) is not None


def web_address(text: str) -> str | None:
    """The address of a chart repository in its one spelling; None of what is none."""
    return text.removesuffix("/") if _matches(forms.WEB_ADDRESS, text) else None


def git_address(text: str) -> str | None:
    """The same of a Git repository; a user name only where SSH needs one."""
    return text.removesuffix("/") if _matches(forms.GIT_ADDRESS, text) else None


def is_address_below(address: str, other: str) -> bool:
    """Both in their one spelling; part by part: `charts/nvidia` is below `charts`, `charts-2` is not."""
    return address == other or address.startswith(f"{other}/")


def image_place(text: str) -> ImagePlace | None:
    """The repository that a reference with or without tag and digest names; None of what is no reference.

    As container runtimes read it: without a host it is of Docker Hub, and without a path there one of `library`.
    """
    if len(text) > _LONGEST:
        return None
    found = _compiled(_REFERENCE).fullmatch(text)
    return None if found is None else repository_place(found["name"])


def repository_place(text: str) -> ImagePlace | None:
    """The same of a repository, which has neither tag nor digest."""
    head, *rest = text.split("/")
    if not rest or not _is_host(head):
        head, rest = DOCKER_HUB, [head, *rest]
    if not _matches(forms.HOST, head) or not all(_matches(_IMAGE_PART, part) for part in rest):
        return None
    host = DOCKER_HUB if head in _DOCKER_HUB_TOO else head
    if host == DOCKER_HUB and len(rest) == 1:
        rest = [_OFFICIAL, *rest]
    return ImagePlace(host, tuple(rest))


def _is_host(part: str) -> bool:
    """As container runtimes decide it; a part in upper case can't be one of a path."""
    return "." in part or ":" in part or part == "localhost" or part != part.lower()


def allowed_place(text: str) -> ImagePlace:
    """An entry of a policy: a host, with a path or without."""
    host, *path = text.split("/")
    return ImagePlace(DOCKER_HUB if host in _DOCKER_HUB_TOO else host, tuple(path))


def without_mirror(place: ImagePlace, mirrors: Mapping[str, Iterable[str]]) -> tuple[ImagePlace, ...]:
    """What a mirror of the policy stands for."""
    found = ((host, allowed_place(mirror)) for host, several in mirrors.items() for mirror in several)
    return tuple(ImagePlace(host, place.path[len(mirror.path) :]) for host, mirror in found if place.is_below(mirror))


def revision_matches(pattern: str, revision: str) -> bool:
    """`*` stands for any letters except `/`, `?` for one. Nothing matches a revision with parts like `..`."""
    parts, wanted = revision.split("/"), pattern.split("/")
    if not all(_matches(r"(?!\.)(?!.*\.\.)[A-Za-z0-9._-]+", part) for part in parts) or len(parts) != len(wanted):
        return False
    return all(_matches(_glob(one), part) for one, part in zip(wanted, parts, strict=True))


def _glob(pattern: str) -> str:
    return "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in pattern)
