"""Which GPUs, and how many, the machines of clouds have."""

from __future__ import annotations

from functools import lru_cache

from poolsmith.core.facts import store


@lru_cache(maxsize=1)
def instance_types() -> dict[str, tuple[str, int]]:
    """Model and count by the cloud's name of the machine; what is not there is unknown."""
    return {
        name: (entry["model"], count)
        for entry in store.read_yaml("neighbours/instance_types.yaml")["instanceTypes"]
        for name, count in entry["counts"].items()
    }
