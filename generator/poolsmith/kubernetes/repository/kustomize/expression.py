"""Expressions in selectors of kustomize, which Go's regexp reads: the whole text has to match.

They come from strangers, so what could take Python's engine long is not tried: it matches nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

_QUANTIFIERS = re.compile(r"(?<!\\)[*+]|(?<!\\)\{")
_AFTER_GROUP = re.compile(r"\)\s*[*+{]")
_MOST_QUANTIFIERS = 3
_MOST_TEXT = 253


def matches(pattern: str, text: str) -> bool:
    """False too where the pattern is no expression, or one that is too costly."""
    compiled = _compiled(pattern)
    return compiled is not None and len(text) <= _MOST_TEXT and compiled.fullmatch(text) is not None


def searches(pattern: str, text: str) -> bool:
    """Whether some part of the text is as the pattern wants it."""
    compiled = _compiled(pattern)
    return compiled is not None and len(text) <= _MOST_TEXT and compiled.search(text) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    if len(_QUANTIFIERS.findall(pattern)) > _MOST_QUANTIFIERS or _AFTER_GROUP.search(pattern):
        return None
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return None
