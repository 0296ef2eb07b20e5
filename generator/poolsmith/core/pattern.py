"""Regular expressions that are compiled when they are first used.

A run imports hundreds of modules and uses a part of their expressions; to compile one takes 0.1 to 4 ms. `pattern` is
what `re.compile` is, for constants of modules.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable

_TAKEN_OVER = ("match", "fullmatch", "search", "finditer", "findall", "split", "sub", "subn", "pattern", "flags")


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """The expression of a text. A mistake in it shows when it is first used; a test compiles all of them."""
    return cast("re.Pattern[str]", LazyPattern(text, flags))


def bytes_pattern(text: bytes, flags: int = 0) -> re.Pattern[bytes]:
    """The same over bytes."""
    return cast("re.Pattern[bytes]", LazyPattern(text, flags))


class LazyPattern:
    """Stands for a compiled expression, whose methods it takes over once one of them is asked for."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        text, flags = self._given
        compiled: Any = re.compile(cast("str", text), flags)
        vars(self).update({taken: getattr(compiled, taken) for taken in _TAKEN_OVER})
        return getattr(compiled, name)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str | bytes, int]]:
        return LazyPattern, self._given
