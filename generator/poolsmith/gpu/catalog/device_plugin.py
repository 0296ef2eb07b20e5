"""What the device plugin and its MPS control daemon take."""

from __future__ import annotations

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.facts.versions import at_least


@remembered
def most_clients(capability: str | None) -> int:
    """How many clients an MPS server takes on a GPU of a compute capability; of an unknown one the most that any takes.

    Source: NVIDIA/k8s-device-plugin:cmd/mps-control-daemon/mps/device.go.
    """
    facts = store.table("device_plugin.yaml")["devicePlugin"]["mpsClients"]
    old = capability is not None and not at_least(capability, facts["from"])
    return int(facts["otherwise"] if old else facts["most"])
