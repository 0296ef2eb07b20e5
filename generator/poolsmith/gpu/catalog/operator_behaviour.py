"""How the operator behaves at any tag of its chart, also where the catalog has no entry of that tag.

Entries of releases are made of the same rules, each of which holds for a range of releases.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import covers

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def behaviour_at(release: str) -> dict[str, Any]:
    """By the names of `operands/overlay.yaml`: of the ClusterPolicy's operands. Shared, so not to be changed."""
    return behaviour_of(store.read_yaml("operands/overlay.yaml")["behaviour"], release)


@cache
def driver_object_behaviour_at(release: str) -> dict[str, Any]:
    """Of NVIDIADriver objects: their own by the names of `nvidia_driver/overlay.yaml`, over what holds for both."""
    return {
        **behaviour_at(release),
        **behaviour_of(store.read_yaml("nvidia_driver/overlay.yaml")["behaviour"], release),
    }


def behaviour_of(rules: Mapping[str, Any], release: str) -> dict[str, Any]:
    """Each behaviour with the value that holds for a release: the one entry of its list that covers it.

    Raises PoolsmithError that names every behaviour without one.
    """
    covering = {name: [entry for entry in entries if covers(entry, release)] for name, entries in sorted(rules.items())}
    wrong = [f"{name} has {len(found)}" for name, found in covering.items() if len(found) != 1]
    if wrong:
        raise PoolsmithError(f"overlay.yaml: each behaviour needs one entry that covers {release}; {', '.join(wrong)}")
    return {name: found[0]["value"] for name, found in covering.items()}


def name_of_kernel(kernel: str, architectures: str) -> str:
    """A kernel as a part of object names: without the architecture, in lower case. `architectures`: the behaviour."""
    return re.sub(architectures, "", kernel).replace("_", ".").removesuffix(".").lower()
