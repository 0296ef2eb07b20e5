"""Regular expressions that are compiled when they are first used, or were compiled where poolsmith was installed.

A run imports hundreds of modules and uses a part of their expressions; to compile one takes 0.1 to 5 ms. `pattern` is
what `re.compile` is, for constants of modules. It looks into a table by the very text and flags, so that it can't be
out of date: what is not in it is compiled.
"""

from __future__ import annotations

import marshal
import os
import re
import sys
from functools import cache

TYPE_CHECKING = False  # `typing` takes longer to load than all that is here
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Given = tuple[str | bytes, int]

_TAKEN_OVER = ("match", "fullmatch", "search", "finditer", "findall", "split", "sub", "subn", "pattern", "flags")
_ENGINE: Any = re._compiler._sre  # type: ignore[attr-defined]  # noqa: SLF001 - what runs expressions
TABLE = f"compiled/patterns.{sys.implementation.cache_tag}-{_ENGINE.MAGIC}"
"""The table's path in the data folder: what is compiled is for one interpreter, and for one state of its engine."""


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """The expression of a text. A mistake in it shows when it is first used; a test compiles all of them."""
    return LazyPattern(text, flags)  # type: ignore[return-value]


def bytes_pattern(text: bytes, flags: int = 0) -> re.Pattern[bytes]:
    """The same over bytes."""
    return LazyPattern(text, flags)  # type: ignore[return-value]


def fits(name: str, form: str) -> bool:
    """Whether a name is of a form in which `*` stands for any text. Tables have dozens of them: none is compiled."""
    first, *others = form.split("*")
    if not others:
        return name == form
    *inner, last = others
    at, end = len(first), len(name) - len(last)
    if at > end or not (name.startswith(first) and name.endswith(last)):
        return False
    for part in inner:
        at = name.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


class LazyPattern:
    """Stands for a compiled expression, whose methods it takes over once one of them is asked for."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self.given: Given = text, int(flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = _compiled(*self.given)
        vars(self).update({taken: getattr(made, taken) for taken in _TAKEN_OVER})
        return getattr(made, name)

    def __reduce__(self) -> tuple[Callable[..., Any], Given]:
        return LazyPattern, self.given


def _compiled(text: str | bytes, flags: int) -> Any:
    known = _table().get((text, flags))
    if known is None:
        return re.compile(text, flags)
    all_flags, code, *rest = known
    return _ENGINE.compile(text, all_flags, memoryview(code).cast("I").tolist(), *rest)


@cache
def _table() -> dict[Given, Any]:
    """Flags, code, count and names of groups of each expression; empty where nothing was installed."""
    path = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", TABLE)  # noqa: PTH118, PTH120 - pathlib is slow to load
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            found: dict[Given, Any] = marshal.loads(file.read())  # noqa: S302 - made by our own installation
    except (OSError, EOFError, ValueError, TypeError):
        return {}
    return found


def table_of(given: Iterable[Given]) -> bytes:
    """The content of a table: what the compiler of expressions hands to the engine."""
    from array import array
    from types import SimpleNamespace  # on demand

    compiler: Any = re._compiler  # type: ignore[attr-defined]  # noqa: SLF001
    compiler._sre = SimpleNamespace(**vars(_ENGINE) | {"compile": lambda *parts: parts})  # noqa: SLF001
    try:
        found = {}
        for text, flags in sorted({(text, int(flags)) for text, flags in given}, key=repr):
            _, all_flags, code, *rest = compiler.compile(text, flags)
            found[text, flags] = (all_flags, array("I", code).tobytes(), *rest)
    finally:
        compiler._sre = _ENGINE  # noqa: SLF001
    return marshal.dumps(found, 2)  # later forms depend on what else refers to a value
