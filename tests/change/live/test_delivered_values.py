"""Values that Flux reads from a ConfigMap decide on what the operator makes: what they say is compared, on clusters as
their operators have left them."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from change.live.conftest import ROOT
from poolsmith.change.verify.live_view import LiveView
from poolsmith.change.verify.verification import judge_live
from poolsmith.kubernetes.live.api_resources import POLICIES, ApiResource
from support.live_cluster import recorded_snapshot, told, view

CONFIG_MAPS = ApiResource("v1", "ConfigMap")
RELEASES = ApiResource("helm.toolkit.fluxcd.io/v2", "HelmRelease")
UNITS = ApiResource("kustomize.toolkit.fluxcd.io/v1", "Kustomization")
VALUES = "edge-gpu-operator-values"


@pytest.fixture(scope="module")
def edge():
    cluster = view(ROOT, "edge")
    return cluster, recorded_snapshot(cluster)


def changed(edge, resource, name, change):
    """What is said where `change` gives another object in the place of one, or None."""
    cluster, snapshot = edge
    (before,) = (item for item in snapshot.items(resource) if item["metadata"]["name"] == name)
    after = change(copy.deepcopy(before))
    items = [item for item in snapshot.items(resource) if item is not before] + ([after] if after else [])
    lists = tuple(replace(one, items=tuple(items)) if one.resource == resource else one for one in snapshot.lists)
    return told(cluster, replace(snapshot, lists=lists))


def with_text(change):
    def do(item):
        item["data"]["values.yaml"] = change(item["data"]["values.yaml"])
        return item

    return do


def with_spec(**fields):
    def do(item):
        item["spec"] |= fields
        return item

    return do


def test_values_that_are_gone_are_told(edge):
    (text,) = changed(edge, CONFIG_MAPS, VALUES, lambda item: None)

    assert text.startswith(f"PSM850 `ConfigMap/{VALUES}` in `flux-system`, which unit `platform` delivers")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text + "\nmine: {key: 7}\n", '`data.values.yaml.mine` has `{"key": 7}` more'),
        (
            lambda text: text.replace("upgradeCRD: false", "upgradeCRD: true"),
            "`data.values.yaml.operator.upgradeCRD` is `true`",
        ),
        (lambda text: text + "\n{{", "`data.values.yaml` is "),
        (lambda text: "", "`data.values.yaml` is "),
        (lambda text: "a: &a [b]\nc: [" + "*a, " * 9 + "*a]\n", "`data.values.yaml.a`"),
    ],
    ids=["more", "edited", "broken", "empty", "others"],
)
def test_other_values_are_told_by_name(edge, change, words):
    (text,) = changed(edge, CONFIG_MAPS, VALUES, with_text(change))

    assert text.startswith(f"PSM851 `ConfigMap/{VALUES}` in `flux-system`")
    assert words in text


@pytest.mark.parametrize("change", [lambda text: "# mine\n" + text, lambda text: text.replace("\n", "  # mine\n", 1)])
def test_comments_are_no_values(edge, change):
    assert changed(edge, CONFIG_MAPS, VALUES, with_text(change)) == []


@pytest.mark.parametrize(
    ("resource", "name", "fields", "field"),
    [
        (UNITS, "edge-platform", {"force": True}, "`spec.force` is `true`, not `false`"),
        (UNITS, "edge-platform", {"suspend": True}, "spec.suspend"),
        (RELEASES, "edge-gpu-operator", {"values": {"driver": {"enabled": False}}}, "spec.values"),
    ],
)
def test_what_a_definition_fills_in_has_that_value(edge, resource, name, fields, field):
    (text,) = changed(edge, resource, name, with_spec(**fields))

    assert text.startswith(f"PSM851 `{resource.kind}/{name}`")
    assert field in text


def test_what_a_definition_fills_in_is_no_difference(edge):
    assert changed(edge, UNITS, "edge-platform", with_spec(force=False)) == []


def test_long_texts_are_shown_from_where_they_differ(edge):
    cluster, snapshot = edge
    policies = next(one for one in snapshot.lists if one.resource == POLICIES)
    items = [copy.deepcopy(item) for item in policies.items]
    (policy,) = (item for item in items if item["metadata"]["name"] == "gpu-node-labels")
    rule = policy["spec"]["validations"][0]
    rule["expression"] = rule["expression"].replace("notebooks-and-batch", "mine")
    lists = tuple(replace(one, items=tuple(items)) if one is policies else one for one in snapshot.lists)
    (text,) = told(cluster, replace(snapshot, lists=lists))

    assert "|a100-mig|mine)$" in text
    assert "|a100-mig|notebooks-and-batch)$" in text


def test_who_asks_the_wrong_cluster_is_asked(edge):
    cluster, snapshot = edge
    nothing = replace(snapshot, lists=tuple(replace(one, items=()) for one in snapshot.lists))

    assert (
        "nothing that is committed is on it: is test the right cluster?" in judge_live(LiveView(cluster, nothing)).facts
    )
    assert not any("right cluster" in fact for fact in judge_live(LiveView(cluster, snapshot)).facts)
