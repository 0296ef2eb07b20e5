"""One sample cluster, from its committed output to running pods: the steps, and what was found."""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from e2e.compared import differences, fields
from e2e.delivery import apply, await_grants, denying, engines, nodes_of, predicted, refusals, units
from fleet.operands.oracle import NODE_ANNOTATIONS
from oracle.operator import binary
from oracle.operator.binary import NAMESPACE
from oracle.operator.cluster import Cluster
from oracle.operator.samples import OUTPUT, sample_plan
from oracle.operator.scenario import (
    definitions,
    images,
    monitor_definitions,
    packaged,
    rendered,
    start_operator,
)
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.fleet.operands.expansion import Made, Maker
from support.control_plane import Scenario

CONTROLLERS = (
    *("daemonset-controller", "deployment-controller", "replicaset-controller"),
    *("serviceaccount-controller", "root-ca-certificate-publisher-controller"),
)
_KINDS = (
    *("DaemonSet", "Deployment", "ConfigMap", "Service", "ServiceAccount", "RuntimeClass", "ServiceMonitor"),
    *("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
)
"""What is compared; pods that operands start themselves, and hooks, are not made here."""
_RESOURCES = ("NVIDIADriver", "GPUCluster")
_PASSING = (Maker.HOOK, Maker.OPERAND)
_OF_OPERATOR = ("gpu-operator ", "ClusterPolicy/", "NVIDIADriver/", "GPUCluster/")
_BY_KUBERNETES = (("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt"))
Key = tuple[str, str]


@dataclass
class Outcome:
    """What one cluster came to. `differing` has a line for each field, `refused` the API server's words about pods that are
    missing in the end."""

    name: str
    release: str
    seconds: float = 0.0
    objects: int = 0
    fields: int = 0
    pods: int = 0
    denies: bool = False
    differing: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    refused_at_first: int = 0
    waiting: list[str] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)


def run_cluster(server: Scenario, name: str, chart: Path, helm: str) -> Outcome:
    """Deliver a sample cluster to an empty server, run its operator, and compare what stands then."""
    begun = monotonic()
    release = sample_plan(name).cluster.spec.stack.release
    outcome = Outcome(name, release)
    folder = binary.program(release)
    assert folder is not None
    root = server.folder / "root"
    binary.make_root(folder, root)
    chart = packaged(chart, release, server.folder / "chart")
    client = server.client()
    apply(client, [*definitions(chart), *monitor_definitions()], "delivery")
    engines(client)
    server.start_controllers(*CONTROLLERS)
    apply(client, [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}], "admin")
    cluster = Cluster(client)
    cluster.settle_base()
    for node in nodes_of(name):
        cluster.add_node(node.name, dict(node.labels), dict(NODE_ANNOTATIONS), node.runtime, node.taints)

    delivered = dict(units(name))
    apply(client, denying(delivered.get("platform", ())), "delivery")
    outcome.denies = has_grants(name) and await_grants(client, NAMESPACE)
    (values,) = read_documents((OUTPUT / name / "platform/values/gpu-operator.yaml").read_text("utf-8"))
    api_versions = ("resource.k8s.io/v1/DeviceClass", "monitoring.coreos.com/v1/ServiceMonitor")
    objects = rendered(helm, chart, values or {}, api_versions)
    apply(client, _in_namespace(objects), "helm")
    apply(client, delivered.get("pools", ()), "delivery")

    systems = {node.labels["feature.node.kubernetes.io/system-os_release.ID"] for node in nodes_of(name)}
    process, log = start_operator(server, root, images(objects), f"ID={min(systems)}\n")
    try:
        cluster.settle(log.works)
    finally:
        process.end()
    _judge(outcome, cluster, [item for found in delivered.values() for item in found])
    outcome.seconds = monotonic() - begun
    return outcome


def has_grants(name: str) -> bool:
    """Whether a cluster has the grants policy; one of a Kubernetes without such policies has none."""
    return (OUTPUT / name / "platform/admission/privilege-grants.yaml").is_file()


def _in_namespace(objects: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Objects that name no namespace get that of the release, as Helm and the delivery engines do it."""
    for item in objects:
        yield {**item, "metadata": {"namespace": NAMESPACE, **item["metadata"]}}


def _judge(outcome: Outcome, cluster: Cluster, delivered: list[dict[str, Any]]) -> None:
    resources = cluster.custom_resources()
    outcome.states = {
        f"{item['kind']}/{item['metadata']['name']}": item.get("status", {}).get("state", "") for item in resources
    }
    uids = {(item["kind"], item["metadata"]["name"]): item["metadata"]["uid"] for item in resources}
    expected = expected_objects(outcome.name, uids)
    live = {
        _key(item): item for item in cluster.everything().values() if item["kind"] in _KINDS and _ours(cluster, item)
    }
    ours = {_key(item) for item in delivered}
    for key in sorted(expected.keys() | live.keys()):
        if key not in live:
            outcome.differing.append(f"{'/'.join(key)}: only predicted")
        elif key not in expected:
            outcome.differing.extend([] if key in ours else [f"{'/'.join(key)}: only live"])
        else:
            outcome.objects += 1
            outcome.fields += fields(expected[key])
            outcome.differing += [f"{'/'.join(key)} {line}" for line in differences(expected[key], live[key])]
    pods = cluster.client.listed("v1", "Pod")
    outcome.pods = len(pods)
    outcome.refused, outcome.refused_at_first = refusals(cluster)
    outcome.waiting = [
        item["metadata"]["name"]
        for item in live.values()
        if item["kind"] == "DaemonSet"
        and item["status"].get("desiredNumberScheduled") != item["status"].get("currentNumberScheduled")
    ]


def expected_objects(name: str, uids: dict[Key, str]) -> dict[Key, dict[str, Any]]:
    """The objects of the committed `expected/workloads.yaml`; those whose names follow from a uid, for the live uid."""
    committed = read_documents((OUTPUT / name / "expected/workloads.yaml").read_text("utf-8"))
    found = {_key(item): item for item in committed if isinstance(item, dict)}
    now = {_key(item.body): item for item in predicted(name, uids).made}
    hashed = {key for key in found if key not in now}
    found = {key: item for key, item in found.items() if key not in hashed}
    found |= {key: json.loads(json.dumps(made.body)) for key, made in now.items() if key not in found}
    passing = {key for key, made in now.items() if made.maker in _PASSING or not _is_of_operator(made)}
    return {key: item for key, item in found.items() if key not in passing and item["kind"] in _KINDS}


def of_others(name: str) -> list[dict[str, Any]]:
    """What charts and operators beside the GPU operator are predicted to make: their programs do not run here."""
    made = predicted(name, defaultdict(str)).made
    return [copy.deepcopy(item.body) for item in made if item.maker not in _PASSING and not _is_of_operator(item)]


def _is_of_operator(made: Made) -> bool:
    return made.through.startswith(_OF_OPERATOR)


def _key(item: dict[str, Any]) -> Key:
    return item["kind"], item["metadata"]["name"]


def _ours(cluster: Cluster, item: dict[str, Any]) -> bool:
    """Whether somebody made it: the server and its controllers have objects of their own."""
    key = (item["apiVersion"], item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"])
    return not cluster.stood(key) and _key(item) not in _BY_KUBERNETES
