"""Values that Flux reads from a ConfigMap decide on what the operator makes: what they say is compared, on clusters as
their operators have left them."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from live.conftest import ROOT
from poolsmith.live.resources import Resource
from support.live_cluster import recorded_snapshot, told, view

CONFIG_MAPS = Resource("v1", "ConfigMap")
RELEASES = Resource("helm.toolkit.fluxcd.io/v2", "HelmRelease")
UNITS = Resource("kustomize.toolkit.fluxcd.io/v1", "Kustomization")
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
