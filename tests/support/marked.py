"""The place of a mistake stands in the text itself: `«` before the token that is wrong."""

from __future__ import annotations

MARK = "«"


def unmarked(text: str) -> tuple[str, str]:
    """The text without its mark, and `line:column` of what the mark stood before. Raises ValueError for no mark."""
    before, found, after = text.partition(MARK)
    if not found or MARK in after:
        raise ValueError(f"one {MARK} is wanted")
    return before + after, f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def marked_key(spec: dict[str, str | None]) -> tuple[dict[str, str | None], str | None]:
    """Fields without their mark, which may stand in a key as well, and the key that has it; None where none has."""
    found = [key.replace(MARK, "") for key, value in spec.items() if MARK in f"{key}{value}"]
    bare = {key.replace(MARK, ""): value and value.replace(MARK, "") for key, value in spec.items()}
    return bare, next(iter(found), None)
