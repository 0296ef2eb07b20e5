"""The rules over a cluster's setup, listed by hand. Floor: check."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from poolsmith.check.setup.engine import SetupRule

SETUP_RULES: tuple[SetupRule, ...] = ()
