"""Workloads that one grant is written for: those whose names differ in generated parts only."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from poolsmith.kubernetes.pods.names import SAFE_LETTERS

if TYPE_CHECKING:
    from poolsmith.fleet.operands.installation import Made

_OF_DRIVER_RESOURCE = "NVIDIADriver/"
_HASHED = re.compile(rf"(nvidia-[a-z-]+?-driver)-.*-[{SAFE_LETTERS}]{{1,10}}")
"""What the operator calls the DaemonSet of an NVIDIADriver: type, operating system, hash."""
_OF_KERNEL = re.compile(r"(nvidia-driver-daemonset)-\d.*")
"""And that of a precompiled driver under a ClusterPolicy: kernel and operating system."""
_LONGEST_LABEL = 63


def family_of(made: Made) -> str:
    """A pattern of names: the workload's own name unless the name carries a hash.

    What has a name of its own for each pod stands with a star in the place of the generated part already.
    """
    return _pattern(made.name, made.through)


@lru_cache(maxsize=1 << 12)
def _pattern(name: str, through: str) -> str:
    match = (_HASHED if through.startswith(_OF_DRIVER_RESOURCE) else _OF_KERNEL).fullmatch(name)
    return f"{match[1]}-*" if match else name


def label_of(*parts: str) -> str:
    """A DNS label that tells what the parts tell, as far as it is long enough."""
    words = (re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts)
    return "-".join(word for word in words if word)[:_LONGEST_LABEL].strip("-") or "grant"
