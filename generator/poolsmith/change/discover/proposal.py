"""Profiles for a cluster that runs: what nodes and objects say, settled by the mechanism of a takeover.

A takeover reads an installation from files; here it is put together from live objects, and the rest is the same.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.change.discover.gpu_nodes import GUESSED, gpu_nodes, groups_of, pool_label
from poolsmith.change.discover.installation import around, given_values, present_of, record_of, shown
from poolsmith.change.discover.proposed_pools import (
    PoolQuestion,
    SeenPools,
    driver_of,
    driver_version,
    fields_of,
    has_own_driver,
    is_sandboxed,
    referred,
)
from poolsmith.change.discover.registry import registry_of
from poolsmith.change.discover.stack import cluster_in, find_stack
from poolsmith.change.takeover.answers import cluster_profile
from poolsmith.change.takeover.draft import ClusterDraft, ProfileDraft
from poolsmith.change.takeover.found import Present, tag_of
from poolsmith.change.takeover.node_answers import TakeoverAnswers
from poolsmith.change.takeover.settle import Settled, settle
from poolsmith.core.diagnostics import NoInputError, UsageError
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.shape.field import DNS_LABEL, matches
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.live_cluster import read_node_marks
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.kubernetes.live.api_resources import FEATURE_RULES, KUSTOMIZATIONS
from poolsmith.project.run.argo_destinations import argo_clusters_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from poolsmith.change.discover.gpu_nodes import GpuNode, NodeGroup
    from poolsmith.change.discover.proposed_pools import FieldPath
    from poolsmith.change.discover.stack import DiscoveredStack
    from poolsmith.change.takeover.draft import Planner
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.kubernetes.live.snapshot import KubernetesObject, Snapshot

_FACT = pattern(r"\{fact: ([A-Za-z0-9._/=+-]+)[,}]")
_MOST_FACTS = 20
_VERSION = pattern(r"v?(\d+\.\d+(?:\.\d+)?)")
_WHO = "unknown"
_LABEL = ("poolLabel",)
_ONE_FOR_ALL = (
    *("os.id", "arch", "runtime", "runtime.version", "product", "count", "driver"),
    *("mig", "sharing", "workload", "vgpu", "cc", "tee", "kata"),
)
"""What a profile says once for all of its nodes."""
_FULL = pattern(r"\d{3}\.\d+(\.\d+)?")


@record
class ProposalRow:
    """One field of a profile: where it was seen, and by how many nodes; or why nobody can tell it."""

    profile: str
    path: FieldPath
    value: Any
    where: str
    nodes: int = 0
    is_question: bool = False


@record
class PoolProposal:
    """`loose` are nodes that lack the label of pools. `unlike` tells of pools whose nodes are not alike, `left_out` of
    values that may be secrets."""

    name: str
    draft: ClusterDraft
    rows: tuple[ProposalRow, ...]
    settled: Settled | None
    label: str
    stack: DiscoveredStack
    loose: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def propose(
    snapshot: Snapshot, name: str | None, label: str | None, planner: Planner, catalog: Catalog
) -> PoolProposal:
    """The fewest pools that say what the nodes say. Raises NoInputError where the cluster has no GPU, UsageError where
    nothing tells pools apart or the name is none."""
    marks = read_node_marks()
    nodes = gpu_nodes(snapshot, marks, catalog.gpus)
    if not nodes:
        raise NoInputError(
            "no node of the cluster has a GPU, by its labels and capacities: there is nothing to propose"
        )
    stack = find_stack(snapshot)
    if stack is None:
        raise NoInputError(
            f"{len(nodes)} nodes have GPUs, and neither the GPU Operator nor a device plugin runs: `poolsmith init` "
            "starts a project for what is to be installed"
        )
    return _Proposing(snapshot, stack, nodes, planner, catalog).made(name, label)


class _Proposing:
    """One proposal while it is made."""

    def __init__(
        self, snapshot: Snapshot, stack: DiscoveredStack, nodes: Sequence[GpuNode], planner: Planner, catalog: Catalog
    ) -> None:
        self._snapshot = snapshot
        self._stack = stack
        self._nodes = nodes
        self._planner = planner
        self._catalog = catalog
        self._rows: list[ProposalRow] = []

    def made(self, name: str | None, label: str | None) -> PoolProposal:
        stack, marks = self._stack, read_node_marks()
        selected = [
            str(key)
            for body in stack.drivers
            for key in mapping(mapping(body.get("spec")).get("nodeSelector"))
            if len(mapping(mapping(body.get("spec")).get("nodeSelector"))) == 1
        ]
        key, why = pool_label(self._nodes, label, dict.fromkeys(selected), marks)
        groups = groups_of(self._nodes, key)
        cluster_name = self._name(name)
        tag = self._tag()
        if stack.release is None and stack.kind != "device-plugin":
            raise UsageError(
                f"the release of the operator that runs is unknown: {stack.where} says none, and no object has the "
                "label of its chart; `poolsmith init` asks for it"
            )
        if tag is None and stack.kind != "device-plugin":
            recent = ", ".join(list(self._catalog.releases.by_tag)[-4:])
            raise UsageError(
                f"the operator is of release `{stack.release}` ({stack.where}), which the catalog does not know; it "
                f"knows such as {recent}. `poolsmith catalog import` makes an entry"
            )
        present = present_of(cluster_name, tag, stack, self._snapshot, self._catalog)
        cluster = self._cluster(present, tag, key, why)
        pools, unlike = self._pools(groups, key)
        draft = ClusterDraft(cluster, [pool for pool, _ in pools])
        self._startup_taints(draft, present, tag)
        settled = None
        for _ in range(_MOST_FACTS if stack.kind == "device-plugin" else 0):
            if not self._acknowledge(draft, self._planner.plan(draft).errors):
                break
        if stack.kind != "device-plugin" and tag is not None:
            settled = self._settled(draft, present, tag, [driver for _, driver in pools])
            draft = settled.draft
        return PoolProposal(
            name=cluster_name,
            draft=draft,
            rows=tuple(self._rows),
            settled=settled,
            label=key or "",
            stack=stack,
            loose=tuple(node.name for group in groups if group.value is None for node in group.nodes),
            unlike=tuple(unlike),
            left_out=tuple(self._left_out()),
        )

    def _left_out(self) -> Iterator[str]:
        record = record_of(self._stack, self._snapshot)
        for path in given_values(record)[1] if record is not None else ():
            yield f"value {path} of {shown(record)}: it may be a secret, and is left out"

    def _tag(self) -> str | None:
        release = self._stack.release
        if self._stack.kind == "device-plugin":
            return release if release is None or release.startswith("v") else f"v{release}"
        return tag_of(release, self._catalog.releases.by_tag)

    def _shipped(self) -> frozenset[str]:
        """Names of the release's own MIG layouts."""
        tag = self._tag()
        chart = self._catalog.chart(self._catalog.releases.chart_name, tag) if tag else None
        return frozenset(chart.mig_layouts) if chart is not None else frozenset()

    def _name(self, given: str | None) -> str:
        if given is not None:
            if not matches(DNS_LABEL, given):
                raise UsageError(f"`{given}` is no cluster name: use lower-case letters, digits and `-`, at most 63")
            return given
        body = self._stack.delivered
        for item in ([body] if body is not None else []) + list(self._snapshot.items(KUSTOMIZATIONS)):
            if (found := cluster_in(item)) is not None:
                return found
        own = str(body["metadata"]["name"]) if body is not None else ""
        for suffix in (f"-{OPERATOR_CHART}", "-device-plugin-chart", "-device-plugin"):
            own = own.removesuffix(suffix)
        for text in (own, self._snapshot.context):
            name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60].strip("-")
            if name and name not in (OPERATOR_CHART, "admin", "default"):
                return name
        return "cluster"

    def _cluster(self, present: Present, tag: str | None, label: str | None, why: str) -> ProfileDraft:
        stack, server = self._stack, _VERSION.match(self._snapshot.server)
        distributions = sorted({value for node in self._nodes if (value := node.get("distribution"))})
        answers = TakeoverAnswers(
            kubernetes=server[1] if server else None,
            distribution=distributions[0] if distributions else None,
            engine=present.engine,
        )
        beside = replace(around(present, stack), argo_clusters=argo_clusters_of(self._planner.root))
        cluster = cluster_profile(present, tag or "", answers, beside, "kubeadm", label)
        put = cluster.fields
        put["stack", "kind"] = stack.kind
        if stack.kind == "device-plugin":
            put["stack", "release"] = tag
            if stack.namespace == "kube-system":
                put.pop(("stack", "namespace"), None)
            if stack.exporter is not None:
                put["stack", "dcgmExporter", "release"] = stack.exporter
            if stack.labels_gpus:
                put["stack", "gpuFeatureDiscovery"] = True
        elif stack.drivers and stack.kind == "operator":
            put["stack", "driverMode"] = "nvidia-driver"
        where = {
            ("kubernetes", "version"): "the server's version",
            ("kubernetes", "distribution"): "nodeInfo and labels of nodes",
            ("stack", "kind"): stack.where,
            ("stack", "release"): stack.where,
            ("stack", "namespace"): stack.where,
            ("stack", "driverMode"): "NVIDIADriver objects",
            _LABEL: why,
        }
        for path, value, seen_at in registry_of(self._snapshot, stack.namespace):
            put[path], where[path] = value, seen_at
        for path, value in put.items():
            is_question = path in cluster.assumed or (path == _LABEL and why == GUESSED)
            seen = where.get(path) or shown(stack.delivered) or "objects beside it"
            text = "nothing on the cluster says it" if path in cluster.assumed else seen
            self._rows.append(
                ProposalRow(profile="cluster", path=path, value=value, where=text, is_question=is_question)
            )
        return cluster

    def _pools(
        self, groups: Sequence[NodeGroup], key: str | None
    ) -> tuple[list[tuple[ProfileDraft, KubernetesObject | None]], list[str]]:
        beside = referred(self._snapshot, self._stack, self._shipped())
        pools: list[tuple[ProfileDraft, KubernetesObject | None]] = []
        unlike: list[str] = []
        taken: set[str] = set()
        for group in groups:
            name = _free(_pool_name(group), taken)
            pool = ProfileDraft(name)
            if group.value is not None and group.value != name:
                pool.fields["nodes", "labelValue"] = group.value
            for item in fields_of(group, beside, self._catalog.gpus):
                self._put(pool, item)
            self._names(pool, group, key)
            pool.fixed.add(("nodes", "taints"))
            driver = self._driver(pool, group)
            pools.append((pool, driver))
            unlike += _differing(name, group, key)
        return sorted(pools, key=lambda pair: pair[1] is None), unlike

    def _names(self, pool: ProfileDraft, group: NodeGroup, key: str | None) -> None:
        """Of nodes that a rule of feature discovery names to write the label of their pool."""
        for body in self._snapshot.items(FEATURE_RULES):
            for rule in mappings(mapping(body.get("spec")).get("rules")):
                names = _named_in(rule)
                if names and key and group.value and mapping(rule.get("labels")).get(key) == group.value:
                    self._put(pool, SeenPools(("nodes", "names"), names, shown(body)))
                    return

    def _driver(self, pool: ProfileDraft, group: NodeGroup) -> KubernetesObject | None:
        """The driver object of the pool; what is known of its driver otherwise is put and fixed."""
        own = has_own_driver(group) or (
            SeenPools(("driver", "source"), "preinstalled", self._stack.where)
            if self._stack.kind == "device-plugin"
            else None
        )
        driver = driver_of(group, self._stack.drivers)
        if is_sandboxed(group):
            pool.fixed.add(("driver",))
            if "vm-vgpu" in group.values("workload"):
                self._manager(pool, driver)
            return None
        if own is not None or (self._stack.drivers and driver is None):
            self._put(pool, own or SeenPools(("driver", "source"), "preinstalled", "no NVIDIADriver selects its nodes"))
            version = driver_version(group)
            if version is not None and _FULL.fullmatch(version.value):
                self._put(pool, version)
            pool.fixed.add(("driver",))
            return None
        return driver

    def _startup_taints(self, draft: ClusterDraft, present: Present, tag: str | None) -> None:
        """Taints that nodes have lost by now leave tolerations behind; of which pools they are, nothing says."""
        chart = self._catalog.chart(self._catalog.releases.chart_name, tag) if tag else None
        path = ("daemonsets", "tolerations")
        known = {taint["key"] for pool in draft.pools for taint in pool.fields.get(("nodes", "taints"), ())}
        if chart is not None:
            known |= {item.get("key") for item in mappings(value_at(chart.defaults, path))}
        found = [
            {key: str(item[key]) for key in ("key", "value", "effect") if item.get(key)}
            for item in mappings(value_at(present.installation.values, path))
            if item.get("key") and item.get("effect") and item["key"] not in known
        ]
        if found:
            why = "operands tolerate it, and no node has it now: of which pools is it?"
            self._put(draft.pools[-1], PoolQuestion(("nodes", "startupTaints"), found, why))

    def _manager(self, pool: ProfileDraft, driver: KubernetesObject | None) -> None:
        """Of a vGPU host: in its driver object, else in the ClusterPolicy."""
        body = driver or self._stack.object or {}
        spec = mapping(body.get("spec"))
        given = spec if driver is not None else mapping(spec.get("vgpuManager"))
        for field in ("repository", "version", "image"):
            value = word(given.get(field))
            if value and (field, value) != ("image", "vgpu-manager"):
                where = f"{shown(body)}: spec.{'' if driver is not None else 'vgpuManager.'}{field}"
                self._put(pool, SeenPools(("driver", "vgpuManager", field), value, where))

    def _put(self, pool: ProfileDraft, item: SeenPools | PoolQuestion) -> None:
        if isinstance(item, SeenPools):
            pool.fields[item.path] = item.value
            self._rows.append(
                ProposalRow(profile=pool.name, path=item.path, value=item.value, where=item.where, nodes=item.nodes)
            )
            return
        pool.fields[item.path] = item.guess
        pool.assumed.add(item.path)
        self._rows.append(
            ProposalRow(profile=pool.name, path=item.path, value=item.guess, where=item.why, is_question=True)
        )

    def _settled(
        self, draft: ClusterDraft, present: Present, tag: str, drivers: list[KubernetesObject | None]
    ) -> Settled:
        chart = self._catalog.chart(self._catalog.releases.chart_name, tag)
        assert chart is not None, "a release that is known has its chart"
        specs = [mapping(body.get("spec")) for body in drivers if body is not None]
        values = present.installation.values
        settled = settle(draft, values, chart, self._planner, specs)
        for _ in range(_MOST_FACTS):
            if not self._acknowledge(draft, settled.errors):
                break
            settled = settle(draft, values, chart, self._planner, specs)
        return settled

    def _acknowledge(self, draft: ClusterDraft, errors: tuple[Diagnostic, ...]) -> bool:
        """What only people can confirm of hosts is asked, and taken for true until then: the cluster runs."""
        added = False
        for error in errors:
            for fact in _FACT.findall(error.help or ""):
                place = error.primary.span.path
                of_pool = (pool for pool in draft.pools if place.endswith(f"/{pool.name}.yaml"))
                is_of_all = "/cluster.yaml: `acknowledge" in (error.help or "")
                owner = draft.cluster if is_of_all else next(of_pool, draft.cluster)
                where = ("acknowledge",)
                facts = [*owner.fields.get(where, [])]
                if fact not in [item["fact"] for item in facts]:
                    owner.fields[where] = [*facts, {"fact": fact, "by": _WHO}]
                    owner.assumed.add(where)
                    profile = "cluster" if owner is draft.cluster else owner.name
                    why = "a fact of the hosts that no cluster shows: look it up, and say who did"
                    self._rows.append(ProposalRow(profile=profile, path=where, value=fact, where=why, is_question=True))
                    added = True
        return added


def _named_in(rule: Mapping[str, Any]) -> list[str]:
    """The nodes that a rule is for by their names, where nothing else decides."""
    features = list(mappings(rule.get("matchFeatures")))
    if len(features) != 1 or features[0].get("feature") != "system.name":
        return []
    chosen = mapping(mapping(features[0].get("matchExpressions")).get("nodename"))
    return list(words(chosen.get("value"))) if chosen.get("op") == "In" else []


def _pool_name(group: NodeGroup) -> str:
    first = group.nodes[0]
    text = group.value or first.get("product") or "gpu"
    return re.sub(r"[^a-z0-9]+", "-", text.lower().removeprefix("nvidia-")).strip("-")[:40].strip("-") or "gpu"


def _free(name: str, taken: set[str]) -> str:
    found, number = name, 2
    while found in taken or found == "cluster":
        found, number = f"{name}-{number}", number + 1
    taken.add(found)
    return found


def _differing(name: str, group: NodeGroup, key: str | None) -> Iterator[str]:
    """What a profile says once, and nodes of the pool say otherwise."""
    for what in _ONE_FOR_ALL:
        found = group.values(what)
        if len(found) > 1:
            told = ", ".join(f"`{value}` on {count}" for value, count in found.items())
            yield f"{name}: {what} is {told}: give the others another value of `{key or 'a label'}`"
    taints = {tuple(sorted(node.taints)) for node in group.nodes}
    if len(taints) > 1:
        yield f"{name}: some nodes have taints that others lack; only what all have is proposed"
