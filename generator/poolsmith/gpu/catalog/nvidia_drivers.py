"""What a release's operator creates for an NVIDIADriver.

An entry is made by `nvidia_driver_entry`; its objects are unfolded afresh each time.
"""

from __future__ import annotations

from typing import Any

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.record import record
from poolsmith.gpu.catalog.operator_behaviour import behaviour_at
from poolsmith.gpu.catalog.scripts import with_scripts

DRIVER_DIGEST = "DRIVER_CONFIG_DIGEST"
"""A variable that the operator sets: a hash of structures of its program, so that it is predicted without a value.

Source: NVIDIA/gpu-operator, controllers/object_controls.go.
"""


@record
class NvidiaDriverEntry:
    """One release: compact forms as in `catalog.operands`.

    `behaviour` has what holds for a ClusterPolicy too. `rules` are those of the Role and the ClusterRole, `config_maps`
    the keys of ConfigMaps with their sizes, `daemon_sets` that of `driver` and that of `vgpu-host-manager`, each with
    every container that it may have.
    """

    release: str
    source: str
    behaviour: dict[str, Any]
    rules: dict[str, list[list[str]]]
    config_maps: dict[str, dict[str, int]]
    daemon_sets: dict[str, dict[str, Any]]


@remembered
def read_nvidia_drivers(release: str) -> NvidiaDriverEntry | None:
    """The entry of a release, or None when the catalog has none."""
    if release not in store.names("nvidia_driver"):
        return None
    entry = store.read_json(f"nvidia_driver/{release}.json")
    return NvidiaDriverEntry(
        release=release,
        source=entry["source"],
        behaviour={**behaviour_at(release), **entry["behaviour"]},
        rules=entry["rules"],
        config_maps=entry["configMaps"],
        daemon_sets=with_scripts(entry["daemonSets"]),
    )
