"""What the parts of a verification look at: a cluster's objects, the prediction with live uids, and counts of pods.

The operator puts the uids of live resources into names. Counts of pods are those that a controller reports; pods that
have ended do not count.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.change.verify.expected import Bringer, ExpectedCluster, expected_objects
from poolsmith.change.verify.node_facts import Known
from poolsmith.change.verify.pod_counts import all_are_ready, pod_counts
from poolsmith.core.diagnostics.diagnostic import Location, Span
from poolsmith.core.facts.versions import line_of
from poolsmith.core.sources.pod_template import mapping, mappings, pod_template_of
from poolsmith.fleet.operands.install import install
from poolsmith.fleet.plan.pool_facts import pool_facts
from poolsmith.fleet.profiles.cluster import StackKind
from poolsmith.gpu.catalog.live_cluster import read_node_marks
from poolsmith.gpu.catalog.live_resources import CC_RUNTIMES, CLUSTER_POLICIES, DRIVERS, GPU_CLUSTERS
from poolsmith.gpu.catalog.node_labels import matches
from poolsmith.gpu.nodes.live_nodes import live_nodes
from poolsmith.guard.ledger.prediction import PLUGINS, offered_resources, running_on
from poolsmith.guard.ledger.workload_privileges import AccountRights
from poolsmith.kubernetes.admission.request import NAME_LABEL
from poolsmith.kubernetes.admission.selector import labels_of
from poolsmith.kubernetes.live import api_resources as api
from poolsmith.kubernetes.live.snapshot import State

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from poolsmith.change.verify.stack_requests import StackRequests
    from poolsmith.fleet.operands.manifest import Manifest
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.gpu.catalog.gpus import Gpus
    from poolsmith.gpu.nodes.live_nodes import LiveNode
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.kubernetes.live.snapshot import Snapshot


def ends(pod: dict[str, Any]) -> bool:
    """Whether it ends, or has ended."""
    phase = mapping(pod.get("status")).get("phase")
    return bool(pod["metadata"].get("deletionTimestamp")) or phase in ("Failed", "Succeeded")


_LONGEST = 64
_DAEMON_SETS = next(item for item in api.WORKLOADS if item.kind == "DaemonSet")


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


ALWAYS = (
    api.NODES,
    api.PODS,
    *api.WORKLOADS,
    api.REPLICA_SETS,
    api.RUNTIME_CLASSES,
    api.DEFINITIONS,
    api.POLICIES,
    api.BINDINGS,
    CLUSTER_POLICIES,
    DRIVERS,
    GPU_CLUSTERS,
    CC_RUNTIMES,
    api.NAMESPACES,
    api.SERVICES,
    api.ENDPOINT_SLICES,
    api.ACCOUNTS,
    api.CLUSTER_ROLES,
    api.CLUSTER_ROLE_BINDINGS,
    api.ROLE_BINDINGS,
    *api.WEBHOOKS,
)
"""What is read of any cluster, whatever is expected there."""
_CHANGING = (*api.MUTATING_POLICIES, *api.MUTATING_BINDINGS)
AROUND = (
    api.ROLES,
    api.QUOTAS,
    api.LIMIT_RANGES,
    api.NETWORK_POLICIES,
    api.BUDGETS,
    api.FEATURE_RULES,
    *_CHANGING,
    *api.DELIVERY,
)
"""What is read of what stands around the stack, where that is allowed."""
EVERYWHERE = frozenset(
    (
        *(api.PODS, *api.WORKLOADS, api.ROLES, api.ROLE_BINDINGS, api.SERVICES, api.ENDPOINT_SLICES, api.BUDGETS),
        *api.DELIVERY,
    )
)
"""Kinds of namespaces that are read in all of them, where that is allowed."""
QUESTIONS = (
    ("who else may become root", (api.ROLES, api.ROLE_BINDINGS, *_CHANGING)),
    (
        "whether the stack would start again",
        (api.QUOTAS, api.LIMIT_RANGES, api.NETWORK_POLICIES, api.BUDGETS, api.SERVICES, api.ENDPOINT_SLICES, api.PODS),
    ),
    (
        "whether there is only one of each",
        (api.PODS, *api.WORKLOADS, api.FEATURE_RULES, api.APPLICATIONS, api.HELM_RELEASES, api.KUSTOMIZATIONS),
    ),
)
"""What is answered by lists that need more than the least rights."""
_SHARED = frozenset(("default", "kube-system", "kube-public", "kube-node-lease"))
"""Namespaces that each cluster has: workloads of anybody run there."""
_CLUSTER_SCOPED_PLACE = "/spec/stack"
_PLUGIN_CONFIG = ("devicePlugin", "config", "name")


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
        self.marks = read_node_marks()
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
    def resources(self) -> tuple[api.ApiResource, ...]:
        """The kinds to read."""
        return tuple(sorted({*self.required, *AROUND}))

    @cached_property
    def required(self) -> frozenset[api.ApiResource]:
        """Those without which nothing is known of the stack itself."""
        return frozenset((*ALWAYS, *(item.resource for item in self.expected)))

    @cached_property
    def namespaces(self) -> tuple[str, ...]:
        """Those that anything expected stands in."""
        return tuple(sorted({item.namespace for item in self.expected if item.namespace}))

    @cached_property
    def of_namespaces(self) -> frozenset[api.ApiResource]:
        """Kinds that stand in namespaces, also those that only this cluster has."""
        return api.OF_NAMESPACES | {item.resource for item in self.expected if item.namespace}

    @cached_property
    def stack_namespaces(self) -> frozenset[str]:
        """Those that pods of the stack run in and that are no one else's."""
        return frozenset(
            item.namespace
            for item in self.expected
            if item.resource in api.WORKLOADS and item.namespace and item.namespace not in _SHARED
        )

    @cached_property
    def delivery_namespaces(self) -> frozenset[str]:
        """Those that its delivery stands in, and nothing of the stack itself."""
        found = {item.namespace for item in self.expected if item.resource in api.DELIVERY}
        return frozenset(found - self.stack_namespaces)

    @cached_property
    def _offers(self) -> dict[str, frozenset[str]]:
        return offered_resources(self.prediction)

    def known_of(self, pool: PoolPlan) -> Known:
        """What nodes of a pool are compared with."""
        return self._known[pool.name]

    @cached_property
    def _known(self) -> dict[str, Known]:
        """By pool. Numbers of devices follow from the profile where no configuration of
        somebody's own says otherwise."""
        ours = any(item.device_plugin_config is not None for item in self.plan.pools)
        of_operator = self.plan.cluster.spec.stack.kind is StackKind.OPERATOR
        counts = of_operator and (ours or not self.prediction.origins.value(_PLUGIN_CONFIG))
        return {
            pool.name: Known(gpus=self.gpus, facts=pool_facts(pool), offers=self._offers[pool.name], counts=counts)
            for pool in self.plan.pools
        }

    @cached_property
    def selectors(self) -> dict[str, list[dict[str, str]]]:
        """Which nodes the DaemonSets select that an NVIDIADriver is predicted to get, by what brings them."""
        found: dict[str, list[dict[str, str]]] = {}
        for item in self.expected:
            if item.resource == api.DAEMON_SETS:
                pod = mapping(mapping(pod_template_of(item.body)).get("spec"))
                found.setdefault(item.through, []).append(dict(mapping(pod.get("nodeSelector"))))
        return found

    def place(self, item: ExpectedCluster) -> Location:
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
        self._of: dict[tuple[api.ApiResource, str], dict[str, dict[str, Any]]] = {}
        for listed in snapshot.lists:
            for item in listed.items:
                metadata = item["metadata"]
                place = (listed.resource, str(metadata.get("namespace") or ""))
                self._of.setdefault(place, {})[str(metadata["name"])] = item

    @cached_property
    def nodes(self) -> tuple[LiveNode, ...]:
        """By name."""
        return live_nodes(self.snapshot)

    @cached_property
    def _by_value(self) -> dict[str, PoolPlan]:
        return {pool.label_value: pool for pool in self.cluster.plan.pools}

    def pool_of(self, node: LiveNode) -> PoolPlan | None:
        """By the pool label; None for a node of no pool."""
        return self._by_value.get(node.labels.get(self.cluster.plan.cluster.spec.pool_label, ""))

    @cached_property
    def pools_with_nodes(self) -> tuple[PoolPlan, ...]:
        found = {pool.name: pool for node in self.nodes if (pool := self.pool_of(node)) is not None}
        return tuple(found.values())

    @cached_property
    def served(self) -> frozenset[str]:
        """Pools on whose nodes the device plugin is ready, as its DaemonSets say."""
        ready = {
            item.pattern
            for item in self.cluster.expected
            for body in self.find(item)
            if item.resource == api.DAEMON_SETS and all_are_ready(body)
        }
        running = {pool.name: running_on(self.cluster.prediction, pool.name) for pool in self.cluster.plan.pools}
        return frozenset(name for name, names in running.items() if names & PLUGINS & ready)

    def knows(self, item: ExpectedCluster) -> bool:
        """Whether an object that was not found is not there."""
        listed = self.snapshot.listed(item.resource)
        return listed is not None and listed.is_known and self._is_asked(item, listed.namespaces)

    def waits_for_nodes(self, item: ExpectedCluster) -> bool:
        """Whether the operator makes it only for nodes that are not there: DaemonSets for those with GPUs, and what
        belongs to an NVIDIADriver for those that it selects. Source: NVIDIA/gpu-operator@v26.7.0:
        controllers/object_controls.go, internal/state/driver.go."""
        listed = self.snapshot.listed(api.NODES)
        if item.bringer is not Bringer.OPERATOR or listed is None or not listed.is_known:
            return False
        if item.through.partition("/")[0] != DRIVERS.kind:
            return item.resource == api.DAEMON_SETS and not any(
                node.carries_gpu(self.cluster.gpus) for node in self.nodes
            )
        selectors = self.cluster.selectors.get(item.through, ())
        return not any(matches(node.labels, selector) for node in self.nodes for selector in selectors)

    @staticmethod
    def _is_asked(item: ExpectedCluster, namespaces: tuple[str, ...]) -> bool:
        return not item.namespace or not namespaces or item.namespace in namespaces

    @cached_property
    def unread(self) -> tuple[tuple[api.ApiResource, str], ...]:
        """Kinds that could not be read whole, and why: a snapshot may lack them, or have them of fewer namespaces."""
        found = []
        for resource in sorted(self.cluster.required):
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

    @cached_property
    def unanswered(self) -> tuple[tuple[str, str], ...]:
        """Questions to which lists are missing that only further rights give, and why each is."""
        found = []
        for question, resources in QUESTIONS:
            lacks = [(resource.named, why) for resource in resources if (why := self._lacks(resource))]
            if lacks:
                names = ", ".join(dict.fromkeys(name for name, _ in lacks))
                found.append((question, f"{names}: {lacks[0][1]}"))
        return tuple(found)

    def _lacks(self, resource: api.ApiResource) -> str:
        """Why a list does not say what else there is; empty where it does."""
        listed = self.snapshot.listed(resource)
        if listed is None:
            return "" if resource in self.cluster.required else "what was saved has no such list"
        if not listed.is_known:
            return "" if resource in self.cluster.required else listed.reason
        if listed.state is State.READ and listed.namespaces and resource in EVERYWHERE:
            return listed.reason or "what was saved has them of few namespaces only"
        return ""

    def is_whole(self, resource: api.ApiResource) -> bool:
        """Whether all objects of a kind are known, whatever their namespace."""
        listed = self.snapshot.listed(resource)
        return listed is not None and listed.is_known and not listed.namespaces

    @cached_property
    def rights(self) -> AccountRights:
        """Of all roles and bindings that were read."""
        kinds = (api.CLUSTER_ROLES, api.ROLES)
        return AccountRights(item for resource in kinds for item in self.snapshot.items(resource))

    @cached_property
    def running(self) -> tuple[tuple[ExpectedCluster, dict[str, Any]], ...]:
        """Workloads that last and are expected, each with its pod as it is predicted."""
        kinds = ("DaemonSet", "Deployment")
        pods = ((item, pod_template_of(item.body)) for item in self.cluster.expected if item.resource.kind in kinds)
        return tuple((item, dict(pod)) for item, pod in pods if pod is not None)

    @cached_property
    def requests(self) -> StackRequests:
        """Those by which its workloads and their pods are made."""
        from poolsmith.change.verify.stack_requests import StackRequests  # admission, for who asks

        spec = self.cluster.plan.cluster.spec
        workloads = ((item, sum(pod_counts(body)[0] for body in self.find(item))) for item, _ in self.running)
        return StackRequests(
            self.cluster.name,
            line_of(spec.kubernetes.version),
            workloads,
            self.cluster.prediction.installation.objects,
            {str(body["metadata"]["name"]): body for body in self.snapshot.items(api.NAMESPACES)},
        )

    @cached_property
    def namespace_labels(self) -> dict[str, dict[str, str]]:
        """By name, as they are on the cluster."""
        found = {}
        for body in self.snapshot.items(api.NAMESPACES):
            name = str(body["metadata"]["name"])
            found[name] = {NAME_LABEL: name, **labels_of(body)}
        return found

    def find(self, item: ExpectedCluster) -> tuple[dict[str, Any], ...]:
        """The live objects of an expected one: several where its name has a part that only the server chooses."""
        there = self._of.get((item.resource, item.namespace), {})
        if "*" not in item.pattern:
            found = there.get(item.pattern)
            return () if found is None else (found,)
        return tuple(body for name, body in sorted(there.items()) if item.is_called(name))

    @cached_property
    def known_as(self) -> dict[tuple[api.ApiResource, str, str], ExpectedCluster]:
        """What every live object that is expected is expected to be, by kind, namespace and name."""
        return {
            (item.resource, item.namespace, str(body["metadata"]["name"])): item
            for item in self.cluster.expected
            for body in self.find(item)
        }

    def expected_as(self, body: dict[str, Any]) -> ExpectedCluster | None:
        """What a live object is expected to be; None for one that nobody expects."""
        metadata, resource = body["metadata"], api.ApiResource(str(body["apiVersion"]), str(body["kind"]))
        return self.known_as.get((resource, str(metadata.get("namespace") or ""), str(metadata["name"])))

    @property
    def known(self) -> Collection[tuple[api.ApiResource, str, str]]:
        """Every live object that is expected."""
        return self.known_as.keys()
