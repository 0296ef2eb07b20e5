"""What the API server stores of a custom resource, and what it refuses."""

from __future__ import annotations

from copy import deepcopy

import pytest

from poolsmith.gpu.catalog.projections import read_crds
from poolsmith.gpu.importing.chart_import import structural
from poolsmith.kubernetes.schema.structural import short_form
from poolsmith.kubernetes.server.storing import custom_resource, stored
from support.custom_definition import ALWAYS, KEPT, REFUSED, SPEC, thing

KIND = custom_resource(
    kind="Thing",
    api_version="example.com/v1",
    plural="things",
    scope="Cluster",
    schema={"type": "object", "properties": {"spec": SPEC}},
)


@pytest.mark.parametrize("name", KEPT)
def test_unknown_fields_go_and_defaults_come(name):
    given, kept = KEPT[name]
    body = thing(deepcopy(given))
    answer = stored(body, KIND.checks)

    assert answer.refused == ()
    assert answer.resource == thing(ALWAYS | kept)
    assert body == thing(given)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_told_with_its_place(name):
    given, place = REFUSED[name]
    (violation,) = stored(thing(given), KIND.checks).refused

    assert violation.dotted == place
    assert violation.text.startswith(f"`{place}` ")


def test_what_is_dropped_and_what_is_refused_is_told():
    answer = stored(thing({"mode": "auto", "typo": 1, "list": [{"other": 1}]}), KIND.checks)

    assert [item.dotted for item in answer.pruned] == ["spec.typo", "spec.list[0].other"]
    assert [item.dotted for item in answer.refused] == ["spec.mode"]


def test_a_status_is_not_taken_over_and_the_rest_stays():
    resource = {"kind": "Thing", "metadata": {"name": "a"}, "spec": {}, "status": {"state": "ready"}}

    assert stored(resource, KIND.checks).resource == {"kind": "Thing", "metadata": {"name": "a"}, "spec": ALWAYS}
    assert resource["spec"] == {}


def test_a_resource_without_a_spec_gets_none():
    assert "spec" not in stored({"metadata": {"name": "a"}}, KIND.checks).resource


def test_the_defaults_of_a_release():
    body = {"metadata": {"name": "a"}, "spec": {"driverType": "gpu", "image": "driver"}}

    assert stored(body, read_crds("v26.3.3")["NVIDIADriver"].checks).resource["spec"]["kernelModuleType"] == "auto"


def test_what_a_definition_says_and_we_have_no_word_for_is_told_as_not_evaluated():
    schema = {"type": "object", "properties": {"spec": {"type": "object", "not": {"required": ["a"]}}}}
    kind = custom_resource(kind="T", api_version="e/v1", plural="ts", scope="Cluster", schema=schema)

    assert [item.message for item in kind.checks.violations({"spec": {}})] == ["the rule `not` was not evaluated"]
    assert stored({"spec": {}}, kind.checks).refused == ()
    with pytest.raises(ValueError, match="not is not understood"):
        short_form(schema, whole=True)


def test_a_structural_schema_has_no_prose_but_keeps_a_field_of_that_name():
    kept = structural(
        {
            "type": "object",
            "description": "prose",
            "properties": {"description": {"type": "string"}, "mode": {"type": "string", "description": "prose"}},
        }
    )

    assert kept == {
        "type": "object",
        "properties": {"description": {"type": "string"}, "mode": {"type": "string"}},
    }
