"""The prediction for the resources that stand on a cluster: the operator puts their uids into names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.live.resources import DRIVERS
from poolsmith.operands.install import install

if TYPE_CHECKING:
    from poolsmith.ledger.prediction import Prediction
    from poolsmith.live.snapshot import Snapshot

_LONGEST = 64


def with_uids(prediction: Prediction, snapshot: Snapshot) -> Prediction:
    """The same prediction where the cluster has no NVIDIADriver that is expected."""
    live = {str(item["metadata"]["name"]): item["metadata"].get("uid") for item in snapshot.items(DRIVERS)}
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
