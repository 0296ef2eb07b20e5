"""The prediction for the resources that stand on a cluster: the operator puts their uids into names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import mappings
from poolsmith.fleet.operands.install import install
from poolsmith.kubernetes.live.resources import DRIVERS, WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.kubernetes.live.snapshot import Snapshot

_LONGEST = 64
_DAEMON_SETS = next(item for item in WORKLOADS if item.kind == "DaemonSet")


def with_uids(prediction: Prediction, snapshot: Snapshot) -> Prediction:
    """The same prediction where nothing on the cluster tells of an NVIDIADriver that is expected."""
    live = dict(_of_owners(snapshot))
    live |= {str(item["metadata"]["name"]): item["metadata"].get("uid") for item in snapshot.items(DRIVERS)}
    given = prediction.shared.given
    resources = []
    for item in given.resources:
        uid = live.get(str(item["metadata"].get("name"))) if item["kind"] == DRIVERS.kind else None
        known = isinstance(uid, str) and 0 < len(uid) <= _LONGEST
        resources.append({**item, "metadata": {**item["metadata"], "uid": uid}} if known else item)
    if all(one is other for one, other in zip(resources, given.resources, strict=True)):
        return prediction
    seen = replace(given, resources=tuple(resources))
    shared = replace(prediction.shared, given=seen, installation=install(seen))
    return replace(prediction, shared=shared)


def _of_owners(snapshot: Snapshot) -> Iterator[tuple[str, Any]]:
    """Where the resources themselves may not be listed, or are gone: what their DaemonSets say of them."""
    for item in snapshot.items(_DAEMON_SETS):
        for owner in mappings(item["metadata"].get("ownerReferences")):
            if owner.get("kind") == DRIVERS.kind:
                yield str(owner.get("name")), owner.get("uid")
