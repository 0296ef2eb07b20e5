"""poolsmith.lock.json: which files of a cluster folder are ours, and what they were made from.

One sorted line per file, so that two changes to two files do not conflict. No time stamps.
"""

from __future__ import annotations

import json
from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.source_file import digest

if TYPE_CHECKING:
    from collections.abc import Mapping

LOCK = "poolsmith.lock.json"
_VERSION = 1


class BadLockError(ValueError):
    """The text is not a lock that poolsmith wrote."""


@record(kw_only=False)
class Lock:
    """Digests of the files that poolsmith owns, by path."""

    files: dict[str, str] = field(default_factory=dict)


def write_lock(*, tool: str, catalog: str, inputs: Mapping[str, str], files: Mapping[str, bytes]) -> bytes:
    """The lock of a cluster folder. `inputs` are digests by path, `files` contents by path."""
    body = {
        "version": _VERSION,
        "tool": tool,
        "catalog": catalog,
        "inputs": dict(sorted(inputs.items())),
        "files": {path: digest(files[path]) for path in sorted(files)},
    }
    return (json.dumps(body, indent=1, ensure_ascii=False) + "\n").encode()


def read_lock(content: bytes) -> Lock:
    """Raises BadLockError."""
    try:
        body: Any = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadLockError("it is not JSON") from error
    files = body.get("files") if isinstance(body, dict) else None
    if not isinstance(files, dict) or not all(isinstance(value, str) for value in files.values()):
        raise BadLockError("it has no table of files")
    if body.get("version") != _VERSION:
        raise BadLockError(f"its version is not {_VERSION}")
    return Lock(files)
