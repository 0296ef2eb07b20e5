"""What the parts of a verification look at."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.diagnostics.span import Location, Span
from poolsmith.live.resources import (
    ACCOUNTS,
    BINDINGS,
    CC_RUNTIMES,
    CLUSTER_POLICIES,
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    DEFINITIONS,
    DRIVERS,
    ENDPOINT_SLICES,
    GPU_CLUSTERS,
    NAMESPACES,
    NODES,
    PODS,
    POLICIES,
    REPLICA_SETS,
    ROLE_BINDINGS,
    RUNTIME_CLASSES,
    SERVICES,
    WEBHOOKS,
    WORKLOADS,
    Resource,
)
from poolsmith.live.snapshot import State
from poolsmith.verify.expected import Bringer, Expected, expected_objects
from poolsmith.verify.uids import with_uids

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from poolsmith.catalog.gpus import Gpus
    from poolsmith.ledger.prediction import Prediction
    from poolsmith.live.snapshot import Snapshot
    from poolsmith.operands.manifest import Manifest
    from poolsmith.plan.plan import ClusterPlan
    from poolsmith.profiles.load_cluster import LoadedCluster

ALWAYS = (
    NODES,
    PODS,
    *WORKLOADS,
    REPLICA_SETS,
    RUNTIME_CLASSES,
    DEFINITIONS,
    POLICIES,
    BINDINGS,
    CLUSTER_POLICIES,
    DRIVERS,
    GPU_CLUSTERS,
    CC_RUNTIMES,
    NAMESPACES,
    SERVICES,
    ENDPOINT_SLICES,
    ACCOUNTS,
    CLUSTER_ROLES,
    CLUSTER_ROLE_BINDINGS,
    ROLE_BINDINGS,
    *WEBHOOKS,
)
"""What is read of any cluster, whatever is expected there."""
_SHARED = frozenset(("default", "kube-system", "kube-public", "kube-node-lease"))
"""Namespaces that each cluster has: workloads of anybody run there."""
_CLUSTER_SCOPED_PLACE = "/spec/stack"


class ClusterView:
    """One cluster: what should stand on it, and where findings about it point."""

    def __init__(
        self,
        plan: ClusterPlan,
        prediction: Prediction,
        loaded: LoadedCluster,
        admission: Sequence[Manifest],
        gpus: Gpus,
    ) -> None:
        self.plan = plan
        self.gpus = gpus
        self.prediction = prediction
        self.loaded = loaded
        self.admission = admission
        self.expected = expected_objects(plan, prediction, admission)

    def as_seen(self, snapshot: Snapshot) -> ClusterView:
        """The same with the uids of the cluster's own resources: names of what the operator makes follow from them."""
        prediction = with_uids(self.prediction, snapshot)
        if prediction is self.prediction:
            return self
        return ClusterView(self.plan, prediction, self.loaded, self.admission, self.gpus)

    @property
    def name(self) -> str:
        return self.plan.name

    @cached_property
    def resources(self) -> tuple[Resource, ...]:
        """The kinds to read."""
        return tuple(sorted({*ALWAYS, *(item.resource for item in self.expected)}))

    @cached_property
    def namespaces(self) -> tuple[str, ...]:
        """Those that anything expected stands in."""
        return tuple(sorted({item.namespace for item in self.expected if item.namespace}))

    @cached_property
    def stack_namespaces(self) -> frozenset[str]:
        """Those that pods of the stack run in and that are no one else's."""
        return frozenset(
            item.namespace
            for item in self.expected
            if item.resource in WORKLOADS and item.namespace and item.namespace not in _SHARED
        )

    def place(self, item: Expected) -> Location:
        """The committed file that brings an object; the profile's stack for what no file has."""
        if item.file:
            return Location(span=Span(path=f"output/clusters/{self.name}/{item.file}"))
        if item.bringer is Bringer.PERSON:
            return self.of_cluster("/metadata/name")
        return self.of_cluster(_CLUSTER_SCOPED_PLACE)

    def subject(self, kind: str, name: str, namespace: str = "") -> str:
        """What a finding is about, as waivers name it: `cluster/namespace/kind/name`."""
        return "/".join(filter(None, (self.name, namespace, kind, name)))

    def of_cluster(self, pointer: str) -> Location:
        """A field of the cluster's profile."""
        assert self.loaded.file is not None
        return self.loaded.file.locate(pointer)


class LiveView:
    """A cluster's view, and what was read of it."""

    def __init__(self, cluster: ClusterView, snapshot: Snapshot) -> None:
        self.cluster = cluster.as_seen(snapshot)
        self.snapshot = snapshot
        self._of: dict[tuple[Resource, str], dict[str, dict[str, Any]]] = {}
        for listed in snapshot.lists:
            for item in listed.items:
                metadata = item["metadata"]
                place = (listed.resource, str(metadata.get("namespace") or ""))
                self._of.setdefault(place, {})[str(metadata["name"])] = item

    def knows(self, item: Expected) -> bool:
        """Whether an object that was not found is not there."""
        listed = self.snapshot.listed(item.resource)
        return listed is not None and listed.is_known and self._is_asked(item, listed.namespaces)

    @staticmethod
    def _is_asked(item: Expected, namespaces: tuple[str, ...]) -> bool:
        return not item.namespace or not namespaces or item.namespace in namespaces

    @cached_property
    def unread(self) -> tuple[tuple[Resource, str], ...]:
        """Kinds that could not be read whole, and why: a snapshot may lack them, or have them of fewer namespaces."""
        found = []
        for resource in self.cluster.resources:
            listed = self.snapshot.listed(resource)
            if listed is None:
                found.append((resource, "what was saved has no such list"))
            elif not listed.is_known:
                found.append((resource, listed.reason))
            elif listed.state is State.READ and listed.namespaces:
                lacks = sorted({item.namespace for item in self.cluster.expected if item.resource == resource})
                if lacks := [name for name in lacks if name not in listed.namespaces]:
                    found.append((resource, f"it was not read in {', '.join(lacks)}"))
        return tuple(found)

    def find(self, item: Expected) -> tuple[dict[str, Any], ...]:
        """The live objects of an expected one: several where its name has a part that only the server chooses."""
        there = self._of.get((item.resource, item.namespace), {})
        if "*" not in item.pattern:
            found = there.get(item.pattern)
            return () if found is None else (found,)
        return tuple(body for name, body in sorted(there.items()) if item.is_called(name))

    @cached_property
    def known_as(self) -> dict[tuple[Resource, str, str], Expected]:
        """What every live object that is expected is expected to be, by kind, namespace and name."""
        return {
            (item.resource, item.namespace, str(body["metadata"]["name"])): item
            for item in self.cluster.expected
            for body in self.find(item)
        }

    @property
    def known(self) -> Collection[tuple[Resource, str, str]]:
        """Every live object that is expected."""
        return self.known_as.keys()
