"""Definitions that an upgrade by Helm has left behind are told, with the definitions that the charts of releases bring."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from change.live.conftest import ROOT
from poolsmith.gpu.catalog.stack_objects import OPERATOR_GROUP
from poolsmith.kubernetes.live.api_resources import DEFINITIONS
from poolsmith.kubernetes.live.snapshot import light_definition
from support.circles import share
from support.live_cluster import recorded_snapshot, told, view
from support.recordings import recording

RELEASES = sorted({path.split("/")[1] for path in recording("gpu_operator") if path.startswith("gpu-operator/")})
GROUPS = (OPERATOR_GROUP,)
CLUSTERS = ("kata-a10", "lab-t4", "prod-eu", "edge")


@cache
def brought(release):
    files = recording("gpu_operator")
    found = [files[path] for path in files if path.startswith(f"gpu-operator/{release}/crds/")]
    bodies = [body for content in found for body in (content if isinstance(content, list) else [content])]
    return [body for body in bodies if body and body["kind"] == "CustomResourceDefinition"]


def with_definitions(name, bodies):
    cluster, snapshot = view(ROOT, name), recorded_snapshot(view(ROOT, name))
    names = {body["metadata"]["name"] for body in bodies}
    kept = [body for body in snapshot.items(DEFINITIONS) if body["metadata"]["name"] not in names]
    rows = tuple(replace(one, items=(*kept, *bodies)) if one.resource == DEFINITIONS else one for one in snapshot.lists)
    return cluster.plan.cluster.spec.stack.release, told(cluster, replace(snapshot, lists=rows))


@pytest.mark.rows(2, "a row takes 0.6 s; each value of each column is seen first")
@pytest.mark.parametrize("name", CLUSTERS)
def test_those_of_the_release_and_newer_ones_are_right(name):
    release = view(ROOT, name).plan.cluster.spec.stack.release

    assert with_definitions(name, brought(release)) == (release, [])
    assert with_definitions(name, brought("v26.7.0")) == (release, [])


@pytest.mark.parametrize("older", share(RELEASES[:-1], 4))
def test_those_of_an_older_release_are_told_once_each(older):
    release, found = with_definitions("edge", brought(older))

    policies, *drivers = sorted(found)
    assert policies.startswith(
        "PSM860 `CustomResourceDefinition/clusterpolicies.nvidia.com` of cluster `edge` is older than release "
        + release
    )
    assert "which the API server drops" in policies
    assert [text.split("`")[1] for text in drivers] == ["CustomResourceDefinition/nvidiadrivers.nvidia.com"]


def test_fields_are_named():
    _, found = with_definitions("prod-eu", brought("v25.10.0"))

    assert "it lacks 2 fields (`spec.hostNetwork`, `spec.podSecurityContext`)" in max(found)


@pytest.mark.rows(3, "a row takes 0.19 s; each value of each column is seen first")
@pytest.mark.parametrize("odd", [None, 7, "text", [], [None], [{}], [{"name": "v1", "schema": {"openAPIV3Schema": 7}}]])
def test_what_is_none_says_nothing(odd):
    (policy,) = (body for body in brought("v26.7.0") if body["spec"]["names"]["kind"] == "ClusterPolicy")

    assert with_definitions("edge", [{**policy, "spec": {**policy["spec"], "versions": odd}}])[1] == []


def test_a_definition_that_takes_anything_lacks_nothing():
    (policy,) = (body for body in brought("v26.7.0") if body["spec"]["names"]["kind"] == "ClusterPolicy")
    free = {"type": "object", "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
    versions = [{"name": "v1", "schema": {"openAPIV3Schema": free}}]

    assert with_definitions("edge", [{**policy, "spec": {**policy["spec"], "versions": versions}}])[1] == []


def test_schemas_of_others_are_not_kept():
    (ours,) = (body for body in brought("v26.7.0") if body["spec"]["names"]["kind"] == "ClusterPolicy")
    theirs = {**ours, "spec": {**ours["spec"], "group": "monitoring.coreos.com"}}

    assert light_definition(ours, GROUPS) == ours
    assert all("schema" not in version for version in light_definition(theirs, GROUPS)["spec"]["versions"])
    assert light_definition(theirs, GROUPS)["spec"]["names"] == ours["spec"]["names"]
    assert light_definition({"metadata": {"name": "odd"}, "spec": 7}, GROUPS)["metadata"] == {"name": "odd"}
