"""What a lock of hashed requirements pins: each package with its version, its marker and the digests of its files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from pathlib import Path

_PINNED = re.compile(r"(?P<name>[a-z0-9][a-z0-9.-]*)==(?P<version>[^\s;]+)(?: ; (?P<marker>.+))?")
_DIGEST = re.compile(r"--hash=sha256:([0-9a-f]{64})")


class BadLockError(ValueError):
    """A line pins nothing, or a package has no digest: whatever would install from it would not be checked."""


@record(kw_only=False)
class LockedPackage:
    """`marker` is the condition on the platform, empty where there is none; `digests` are SHA-256, sorted."""

    name: str
    version: str
    marker: str
    digests: tuple[str, ...]


def locked_packages(lock: Path) -> tuple[LockedPackage, ...]:
    """The packages of a lock, in its order. Raises BadLockError for anything that is not pinned and hashed."""
    text = lock.read_text("utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return tuple(_package(lock, line) for line in lines)


def _package(lock: Path, line: str) -> LockedPackage:
    requirement, *rest = re.split(r"\s+(?=--hash=)", line)
    pinned = _PINNED.fullmatch(requirement.strip())
    digests = [_DIGEST.fullmatch(part.strip()) for part in rest]
    if pinned is None or not digests or None in digests:
        raise BadLockError(f"{lock.name}: not pinned with SHA-256 digests: {requirement[:80]}")
    found = sorted(match[1] for match in digests if match is not None)
    return LockedPackage(pinned["name"], pinned["version"], pinned["marker"] or "", tuple(found))
