"""The scripts of the action import each other by name, as the runner starts them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ACTION = Path(__file__).resolve().parents[2] / "action"


@pytest.fixture(autouse=True)
def _scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(ACTION))
    yield
    for path in ACTION.glob("*.py"):
        sys.modules.pop(path.stem, None)
