"""The hook that a place of a fault calls when it is reached; its text is put into each module that has places.

It stands alone, because it also runs in processes that tests start, with whatever they can import. A place is written
down once for each process and test: `<test or other context>\\t<number of the place>`.
"""

from __future__ import annotations

import builtins
import contextlib
import os
from typing import Any

NAME = "_mutation_reach"


def install(folder: str) -> Any:
    """The hook of this process, which notes below `folder`; it is a builtin, so that modules need no import."""
    if hasattr(builtins, NAME):
        return getattr(builtins, NAME)

    def reach(item: object) -> None:
        if item not in hook.seen:
            hook.seen.add(item)
            note(item)

    def note(item: object) -> None:
        if hook.who is None:
            hook.others = hook.others or started_by(folder)
        lines = "".join(f"{who}\t{item}\n" for who in ([hook.who] if hook.who is not None else hook.others))
        with contextlib.suppress(OSError):
            log = os.open(f"{folder}/reached", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            os.write(log, lines.encode("utf-8", "replace"))
            os.close(log)

    hook: Any = reach
    hook.seen, hook.who, hook.others, hook.folder = set(), None, (), folder
    setattr(builtins, NAME, hook)
    return hook


def started_by(folder: str) -> list[str]:
    """For a process that a test started: the test by its environment, and what ran in the process of pytest."""
    found = [os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]]
    process = os.getppid()
    for _ in range(50):
        with contextlib.suppress(OSError), open(f"{folder}/of-{process}", encoding="utf-8") as file:  # noqa: PTH123
            found.append(file.read())
            break
        try:
            with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
                process = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            break
    return [name for name in dict.fromkeys(found) if name] or ["?"]
