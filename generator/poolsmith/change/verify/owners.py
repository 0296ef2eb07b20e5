"""Which workload of a cluster really makes a pod: by uids, since anybody may write an owner's name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import mapping, mappings
from poolsmith.kubernetes.live.resources import DEPLOYMENTS, REPLICA_SETS, WORKLOADS

if TYPE_CHECKING:
    from poolsmith.kubernetes.live.snapshot import KubernetesObject, Snapshot

Key = tuple[str, str, str]
"""Kind, namespace, name."""


class Owners:
    """Of one snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        listed = snapshot.listed(REPLICA_SETS)
        self._knows_sets = listed is not None and listed.is_known
        self._of: dict[Key, KubernetesObject] = {
            key_of(body): body for resource in (*WORKLOADS, REPLICA_SETS) for body in snapshot.items(resource)
        }

    def of(self, body: KubernetesObject) -> KubernetesObject | None:
        """The DaemonSet, Deployment, StatefulSet, Job or CronJob that makes a pod or a job.

        None for one that only claims to be made, or is made by something else.
        """
        key, uid = controller_of(body)
        if key[0] == REPLICA_SETS.kind and not self._knows_sets:  # then the name is all that tells of its Deployment
            return self._of.get((DEPLOYMENTS.kind, key[1], key[2].rpartition("-")[0]))
        found = self._of.get(key)
        if found is None or found["metadata"].get("uid") != uid:
            return None
        return self.of(found) if key[0] == REPLICA_SETS.kind else found


def key_of(body: KubernetesObject) -> Key:
    metadata = body["metadata"]
    return (str(body["kind"]), str(metadata.get("namespace") or ""), str(metadata["name"]))


def controller_of(body: KubernetesObject) -> tuple[Key, Any]:
    """What an object says of who makes it: its key, and its uid. Empty where it says nothing."""
    metadata = mapping(body["metadata"])
    for reference in mappings(metadata.get("ownerReferences")):
        if reference.get("controller") is True:
            namespace = str(metadata.get("namespace") or "")
            return (str(reference.get("kind")), namespace, str(reference.get("name"))), reference.get("uid")
    return ("", "", ""), None
