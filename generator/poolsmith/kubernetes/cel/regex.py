"""Regular expressions in RE2's syntax: the one module that knows google-re2."""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import Any

_WORDS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "trailing \\": "trailing backslash at end of expression",
}


@lru_cache(maxsize=1)
def _library() -> Any:
    try:
        return importlib.import_module("re2")
    except ImportError:
        return None


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Any:
    """A pattern with `search` and `finditer`; raises ValueError with the reason."""
    library = _library()
    options = library.Options()
    options.log_errors = False
    options.max_mem = 16 << 20
    try:
        return library.compile(pattern, options)
    except library.error as error:
        text = error.args[0] if error.args else ""
        shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
        raise ValueError(f"error parsing regexp: {_worded(shown[:200])}") from None


def _worded(text: str) -> str:
    """The reason in the words of Go's regexp."""
    reason, _, place = text.partition(": ")
    return f"{_WORDS.get(reason, reason)}: `{place}`" if place else _WORDS.get(reason, reason)


def regex_problem(pattern: str) -> str | None:
    """Why a pattern does not compile; None too when there is no library to ask."""
    if _library() is None:
        return None
    try:
        compiled(pattern)
    except ValueError as error:
        return str(error)
    return None
