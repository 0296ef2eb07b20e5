"""What the API server stores of a custom resource."""

from __future__ import annotations

import pytest

from poolsmith.gpu.catalog.projections import read_crds
from poolsmith.kubernetes.server.admission import admit
from poolsmith.kubernetes.server.custom_resource import CustomResource

SPEC = {
    "type": "object",
    "required": ["mode"],
    "properties": {
        "mode": {"type": "string", "default": "on", "enum": ["on", "off"]},
        "maybe": {"type": "string", "nullable": True, "default": "x"},
        "plain": {"type": "string"},
        "block": {"type": "object", "properties": {"depth": {"type": "integer", "default": 3}}},
        "filled": {"type": "object", "default": {}, "properties": {"depth": {"type": "integer", "default": 4}}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}}},
    },
}
KIND = CustomResource(
    kind="Thing",
    api_version="example.com/v1",
    plural="things",
    scope="Cluster",
    schema={"type": "object", "properties": {"spec": SPEC}},
)
ALWAYS = {"mode": "on", "maybe": "x", "filled": {"depth": 4}}


@pytest.mark.parametrize(
    ("spec", "stored"),
    [
        ({}, {}),
        ({"mode": "off"}, {"mode": "off"}),
        ({"mode": None, "plain": None}, {}),
        ({"maybe": None}, {"maybe": None}),
        ({"block": {}}, {"block": {"depth": 3}}),
        ({"filled": {"depth": 0}}, {"filled": {"depth": 0}}),
        ({"labels": {"a": "b"}}, {"labels": {"a": "b"}}),
        ({"free": {"a": {"b": None}}}, {"free": {"a": {"b": None}}}),
        ({"list": [{}, {"a": 2, "b": 3}]}, {"list": [{"a": 1}, {"a": 2}]}),
        ({"typo": {"a": 1}}, {}),
    ],
    ids=str,
)
def test_unknown_fields_go_and_defaults_come(spec, stored):
    assert admit({"spec": spec}, KIND).resource["spec"] == ALWAYS | stored


def test_what_is_dropped_and_what_is_refused_is_told():
    admitted = admit({"spec": {"mode": "auto", "typo": 1}}, KIND)

    assert admitted.pruned == (".spec.typo",)
    assert admitted.violations == (".spec.mode: 'auto' is not one of ['on', 'off']",)


def test_a_status_is_not_taken_over_and_the_rest_stays():
    resource = {"kind": "Thing", "metadata": {"name": "a"}, "spec": {}, "status": {"state": "ready"}}
    admitted = admit(resource, KIND)

    assert admitted.resource == {"kind": "Thing", "metadata": {"name": "a"}, "spec": ALWAYS}
    assert resource["spec"] == {}


def test_a_resource_without_a_spec_gets_none():
    assert "spec" not in admit({"metadata": {"name": "a"}}, KIND).resource


def test_the_defaults_of_a_release():
    driver = admit({"spec": {"driverType": "gpu", "image": "driver"}}, read_crds("v26.3.3")["NVIDIADriver"])

    assert driver.resource["spec"]["kernelModuleType"] == "auto"
