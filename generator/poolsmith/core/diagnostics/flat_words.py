"""Words that are the same however they are spelt."""

from __future__ import annotations


def flatten(word: str) -> str:
    """What a word keeps of itself when case and separators don't count."""
    return word.lower().replace("_", "").replace("-", "").replace(" ", "").replace(".", "")
