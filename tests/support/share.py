"""A share of many cases for an ordinary run; a deep run takes all of them, and a run says how many it left."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"


def share(cases: Iterable[Any], count: int, name: Callable[[Any], str] = str) -> list[Any]:
    """So many parameters, always the same ones, from the first to the last."""
    known = list(cases)
    step = max(1, (len(known) - 1) // max(1, count - 1))
    first = [item for place, item in enumerate(known) if place % step == 0][:count] if len(known) > count else known
    return parameters(first, [item for item in known if item not in first], name)


def parameters(first: Sequence[Any], rest: Sequence[Any], name: Callable[[Any], str] = str) -> list[Any]:
    """All of them in a deep run; else the first ones, and one parameter that is skipped for the others."""
    shown = [pytest.param(item, id=name(item)) for item in (*first, *(rest if DEEP else ()))]
    skipped = pytest.mark.skip(reason="runs with HYPOTHESIS_PROFILE=deep")
    return shown if DEEP or not rest else [*shown, pytest.param(None, id=f"{len(rest)} more", marks=skipped)]
