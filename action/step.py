"""What the runner tells a step, and how a step answers."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def event() -> dict[str, Any]:
    """What started the run; empty where that can't be read."""
    try:
        found = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_bytes())
    except (KeyError, OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def at(found: Any, *keys: str) -> Any:
    """Something inside of what was sent; None where it is not there."""
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def is_set(name: str) -> bool:
    """An input that is a switch."""
    return os.environ.get(name, "").strip().lower() == "true"


def tell(kind: str, message: str) -> None:
    """`kind` is error, warning or notice."""
    shown = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    sys.stdout.write(f"::{kind} title=poolsmith::{shown}\n")
    sys.stdout.flush()


def put(**outputs: object) -> None:
    """Outputs of the step; `_` in a name stands for `-`. Nothing here spans lines."""
    lines = "".join(f"{name.replace('_', '-')}={value}\n" for name, value in outputs.items())
    if lines.count("\n") != len(outputs):
        raise ValueError("an output of a step has one line")
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as stream:
        stream.write(lines)


def run_address() -> str:
    """Where people find the run."""
    server, repository, run = (os.environ.get(f"GITHUB_{name}", "") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID"))
    return f"{server}/{repository}/actions/runs/{run}"
