"""JSON pointers (RFC 6901) into documents."""

from __future__ import annotations

from functools import lru_cache


def join(pointer: str, *steps: str | int) -> str:
    """`pointer` extended by raw keys or indices."""
    return pointer + "".join("/" + escape(str(step)) for step in steps)


def escape(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


@lru_cache(maxsize=4096)
def split(pointer: str) -> tuple[str, ...]:
    """The unescaped steps of a pointer; the whole document has none."""
    if not pointer:
        return ()
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/"))


def parent(pointer: str) -> str:
    return pointer.rpartition("/")[0]
