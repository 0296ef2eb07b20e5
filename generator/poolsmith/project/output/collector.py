"""The interpreter's search for cycles, made rare: trees of documents have none."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_RARELY = 500_000


@contextmanager
def rarely_collecting() -> Iterator[None]:
    """Looking for cycles takes a quarter of the time of reading and making documents."""
    before = gc.get_threshold()
    gc.set_threshold(_RARELY, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
