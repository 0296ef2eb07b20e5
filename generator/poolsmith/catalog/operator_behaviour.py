"""How the operator behaves at any tag of its chart, also where the catalog has no entry of that tag.

Entries of releases are made of the same rules, each of which holds for a range of releases.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from poolsmith.catalog import store
from poolsmith.catalog.operand_entry import behaviour_of


@cache
def behaviour_at(release: str) -> dict[str, Any]:
    """By the names of `operands/overlay.yaml`: of the ClusterPolicy's operands. Shared, so not to be changed."""
    return behaviour_of(store.read_yaml("operands/overlay.yaml")["behaviour"], release)


@cache
def driver_object_behaviour_at(release: str) -> dict[str, Any]:
    """By the names of `nvidia_driver/overlay.yaml`: of NVIDIADriver objects. Shared, so not to be changed."""
    return behaviour_of(store.read_yaml("nvidia_driver/overlay.yaml")["behaviour"], release)


def name_of_kernel(kernel: str, architectures: str) -> str:
    """A kernel as a part of object names: without the architecture, in lower case. `architectures`: the behaviour."""
    return re.sub(architectures, "", kernel).replace("_", ".").removesuffix(".").lower()
