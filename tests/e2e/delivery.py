"""A sample cluster, delivered to a real control plane in the order of its waves, with its admission policies in force."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import yaml

from oracle.operator.cluster import Cluster
from oracle.operator.samples import OUTPUT, sample_plan
from poolsmith.fleet.operands.expansion import Installation, Node
from poolsmith.fleet.operands.install import install, installation_input
from poolsmith.fleet.operands.pool_nodes import pool_nodes
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.charts import read_chart
from support.api_client import ApiClient

_FIRST = ("CustomResourceDefinition", "Namespace", "ServiceAccount", "ConfigMap", "Role", "ClusterRole")
_ENGINES = ("argocd", "flux-system")
_GRANTS = "privilege-grants"
_SECONDS_TO_ENFORCE = 30.0


class DeliveryError(Exception):
    """What the API server refused, in its words."""


def nodes_of(name: str) -> tuple[Node, ...]:
    """One node for each pool, as whoever creates them and feature discovery label it."""
    return pool_nodes(sample_plan(name), Catalog().gpus)


def built(folder: Path) -> list[dict[str, Any]]:
    """What the real kustomize makes of a folder."""
    run = subprocess.run(["kustomize", "build", str(folder)], capture_output=True, text=True, timeout=60, check=True)
    return [item for item in yaml.load_all(run.stdout, yaml.CSafeLoader) if item]


def apply(client: ApiClient, objects: Iterable[dict[str, Any]], manager: str) -> list[dict[str, Any]]:
    """Server-side apply, strict, in the order in which delivery engines sort. Raises DeliveryError."""
    ranks = {kind: rank for rank, kind in enumerate(_FIRST)}
    ordered = sorted(objects, key=lambda item: ranks.get(item["kind"], len(ranks)))
    for item in ordered:
        answer = client.apply(item, manager=manager)
        if not answer.taken:
            raise DeliveryError(f"{item['kind']}/{item['metadata']['name']}: {answer.message}")
    return ordered


def engines(client: ApiClient) -> None:
    """The namespaces in which delivery engines keep what they read."""
    for name in _ENGINES:
        apply(client, [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}], "admin")


def denying(objects: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """With each binding of the grants policy at Deny, whatever the sample chose."""
    for item in objects:
        grants = item["kind"] == "ValidatingAdmissionPolicyBinding" and _GRANTS in str(item["spec"]["policyName"])
        yield {**item, "spec": {**item["spec"], "validationActions": ["Deny"]}} if grants else item


def await_grants(client: ApiClient, namespace: str) -> bool:
    """Whether the grants policy refuses a pod that nobody granted anything, once it is in force."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "ungranted", "namespace": namespace},
        "spec": {
            "hostPID": True,
            "containers": [{"name": "a", "image": "nvcr.io/nvidia/a:v1", "securityContext": {"privileged": True}}],
        },
    }
    ends = monotonic() + _SECONDS_TO_ENFORCE
    while monotonic() < ends:
        if "ValidatingAdmissionPolicy" in client.create(pod, dry_run=True).message:
            return True
        sleep(0.5)
    return False


def units(name: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """What the repository delivers beside the chart, by folder."""
    for folder in ("platform", "pools"):
        if (OUTPUT / name / folder / "kustomization.yaml").is_file():
            yield folder, built(OUTPUT / name / folder)


def predicted(name: str, uids: dict[tuple[str, str], str]) -> Installation:
    """The installation that the committed `expected/workloads.yaml` shows, for resources with the cluster's uids."""
    plan = sample_plan(name)
    given = installation_input(plan, nodes_of(name), read_chart("gpu-operator", plan.cluster.spec.stack.release))
    with_uids = tuple(
        {**item, "metadata": {**item["metadata"], "uid": uids[item["kind"], item["metadata"]["name"]]}}
        for item in given.resources
    )
    return install(replace(given, resources=with_uids))


def refusals(cluster: Cluster) -> tuple[list[str], int]:
    """Why pods that are still missing could not be created, in the API server's words; and how many others were refused.

    Others: until the operator's cache has the labels that it has just written, it takes every node for containerd's, and
    the pods of that moment are not those that were granted.
    """
    client = cluster.client
    short = {
        ("DaemonSet", item["metadata"]["name"])
        for item in client.listed("apps/v1", "DaemonSet")
        if item["status"].get("currentNumberScheduled") != item["status"].get("desiredNumberScheduled")
    } | {
        ("ReplicaSet", item["metadata"]["name"])
        for item in client.listed("apps/v1", "ReplicaSet")
        if item["status"].get("replicas", 0) != item["spec"].get("replicas")
    }
    events = [item for item in client.listed("v1", "Event") if item.get("reason") == "FailedCreate"]
    lasting = [item for item in events if (item["involvedObject"]["kind"], item["involvedObject"]["name"]) in short]
    return sorted({item["message"] for item in lasting}), len(events) - len(lasting)
