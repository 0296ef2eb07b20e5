"""Every written value reaches its field; what the chart stumbles over is an error."""

from __future__ import annotations

import copy
import itertools
import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from poolsmith.core.facts.versions import at_least
from poolsmith.fleet.operands.chart.chart_projection import HelmRelease, project
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.projections import projected_releases, read_crds, read_projection
from poolsmith.kubernetes.helm.go_template import is_true, look_up, plain, quoted
from poolsmith.kubernetes.helm.values_merge import merge_over_defaults
from poolsmith.kubernetes.server.storing import stored

TAGS = projected_releases()
PROJECTIONS = {tag: read_projection(tag) for tag in TAGS}
DEFAULTS = {tag: read_chart("gpu-operator", tag).defaults for tag in TAGS}
DRA = HelmRelease(api_versions=("resource.k8s.io/v1/DeviceClass",))
REFUSED = {
    path
    for projection in PROJECTIONS.values()
    for refusal in projection.refusals
    for alternatives in refusal.conditions
    for path, _ in alternatives
}
FIELDS = [
    (tag, rule, field)
    for tag in TAGS
    for rule in PROJECTIONS[tag].objects
    for field in rule.fields
    if field.form in ("plain", "quoted", "data") and field.source not in REFUSED
]
NAMES = st.from_regex(r"[a-z0-9][a-z0-9./_-]{0,12}", fullmatch=True)
SCALARS = st.booleans() | st.integers(-5, 400_000) | NAMES
TEXTS = st.text(st.characters(max_codepoint=0x2FF, exclude_categories=["Cc"]), max_size=6)
DATA = st.recursive(
    SCALARS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def rendered(tag, values=None, helm=DRA):
    result = project(PROJECTIONS[tag], DEFAULTS[tag], values or {}, helm)
    assert result.errors == (), result.errors
    return {item["kind"]: item for item in result.objects}


def put(values, path, value):
    for key in path[:-1]:
        values = values.setdefault(key, {})
    values[path[-1]] = value


def conditions_of(rule, field):
    """What has to hold for the field to be written: of its object, of the blocks around it, and its own.

    Of several ways to open a block, the one by the field's own value: another may close the field.
    """
    around = (rule.blocks.get(field.path[:length], ()) for length in range(1, len(field.path)))
    return [
        next((condition for condition in alternatives if condition[0] == field.source), alternatives[0])
        for alternatives in itertools.chain(rule.conditions, *around, field.conditions)
    ]


def opened(tag, rule, field):
    """Values under which everything around the field is rendered."""
    values = {}
    if rule.kind == "GPUCluster":
        put(values, ("clusterPolicy", "deployCR"), False)
        put(values, ("driver", "enabled"), False)
    for path, wanted in conditions_of(rule, field):
        above = field.source[: len(path)] == path
        if not above and is_true(look_up(merge_over_defaults(DEFAULTS[tag], values), path)) is not wanted:
            put(values, path, wanted)
    return values


def accepted(tag, rule, field):
    """Values of the kind that the field takes."""
    schema = read_crds(tag)[rule.kind].schema["properties"]["spec"]
    for key in field.path:
        schema = schema.get("properties", {}).get(key, {})
    return st.lists(DATA, max_size=3) if schema.get("type") == "array" else st.dictionaries(NAMES, DATA, max_size=3)


@given(st.data())
def test_a_written_value_reaches_its_field(data):
    tag, rule, field = data.draw(st.sampled_from(FIELDS), label="field")
    drawn = data.draw(accepted(tag, rule, field) if field.form == "data" else SCALARS, label="value")
    values = opened(tag, rule, field)
    put(values, field.source, drawn)
    effective = look_up(merge_over_defaults(DEFAULTS[tag], values), field.source)
    assume((field.source, not is_true(effective)) not in conditions_of(rule, field))
    spec = rendered(tag, values)[rule.kind]["spec"]
    if field.default is not None and not is_true(effective):
        effective = tag if field.default == "{appVersion}" else field.default
    expected = {"data": lambda: effective, "quoted": lambda: quoted(effective), "plain": lambda: plain(effective, "x")}

    assert look_up(spec, field.path) == expected[field.form]()


@pytest.mark.parametrize("tag", TAGS)
def test_the_defaults_are_projected_the_same_twice_and_untouched(tag):
    before = copy.deepcopy(DEFAULTS[tag])

    assert json.dumps(rendered(tag)) == json.dumps(rendered(tag))
    assert DEFAULTS[tag] == before


@pytest.mark.parametrize("tag", TAGS)
def test_the_defaults_lose_nothing_and_break_no_rule_of_the_crd(tag):
    for values in ({}, {"driver": {"nvidiaDriverCRD": {"enabled": True}}}):
        for kind, item in rendered(tag, values).items():
            answer = stored(item, read_crds(tag)[kind].checks)
            assert (answer.refused, answer.pruned) == ((), ())


@pytest.mark.parametrize("tag", TAGS)
def test_a_null_where_a_template_goes_deeper_is_an_error(tag):
    result = project(PROJECTIONS[tag], DEFAULTS[tag], {"driver": {"rdma": None}})

    assert result.objects == ()
    (error,) = result.errors
    assert error.message == "at <.Values.driver.rdma.enabled>: nil pointer evaluating interface {}.enabled"
    assert error.path == "driver.rdma.enabled"


@pytest.mark.parametrize("tag", TAGS)
def test_a_number_for_a_version_is_a_string_in_the_policy_and_typed_anew_in_the_driver_object(tag):
    objects = rendered(tag, {"driver": {"version": "550", "nvidiaDriverCRD": {"enabled": True}}})
    written = objects["NVIDIADriver"]["spec"]["version"]
    unquoted = not at_least(tag, "v26.7.0")

    assert written == (550 if unquoted else "550")
    answer = stored(objects["NVIDIADriver"], read_crds(tag)["NVIDIADriver"].checks)
    told = [item.text for item in answer.refused]
    assert told == (["`spec.version` is the number `550`; it has to be a string"] if unquoted else [])


@pytest.mark.parametrize("tag", TAGS)
def test_labels_merge_and_names_follow_the_override(tag):
    values = {
        "nameOverride": "gpu",
        "operator": {"cleanupCRD": True},
        "daemonsets": {"labels": {"team": "a", "helm.sh/chart": "mine"}},
    }
    item = rendered(tag, values, HelmRelease("prod"))["ClusterPolicy"]

    assert item["metadata"]["labels"] | {"app.kubernetes.io/version": ""} == {
        "app.kubernetes.io/component": "gpu-operator",
        "app.kubernetes.io/instance": "prod",
        "app.kubernetes.io/managed-by": "Helm",
        "app.kubernetes.io/name": "gpu",
        "app.kubernetes.io/version": "",
        "helm.sh/chart": f"gpu-operator-{tag}",
    }
    assert item["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert item["spec"]["daemonsets"]["labels"] == {
        "app.kubernetes.io/managed-by": "gpu",
        "helm.sh/chart": "mine",
        "team": "a",
    }


def test_the_license_secret_comes_before_the_config_map_of_old():
    values = {"driver": {"nvidiaDriverCRD": {"enabled": True}, "licensingConfig": {"configMapName": "old"}}}
    before = rendered("v25.3.4", values)["NVIDIADriver"]["spec"]["licensingConfig"]
    after = rendered("v26.3.3", values)["NVIDIADriver"]["spec"]["licensingConfig"]
    values["driver"]["licensingConfig"]["secretName"] = "new"

    assert before == after == {"name": "old", "nlsEnabled": True}
    assert rendered("v26.3.3", values)["NVIDIADriver"]["spec"]["licensingConfig"] == {
        "secretName": "new",
        "nlsEnabled": True,
    }


@pytest.mark.parametrize(
    ("tag", "values"),
    [
        ("v26.3.3", {"cdi": {"enabled": False, "nriPluginEnabled": True}}),
        ("v26.7.0", {"cdi": {"enabled": False, "nriPluginEnabled": True}}),
        ("v26.7.0", {"cdi": {"nriPluginEnabled": True}, "toolkit": {"enabled": False}}),
        ("v26.7.0", {"devicePlugin": {"config": {"create": True, "name": "x"}}}),
        ("v26.7.0", {"devicePlugin": {"config": {"create": True, "data": {"a": "b"}}}}),
        ("v26.7.0", {"clusterPolicy": {"deployCR": False}, "gpuCluster": {"deployCR": True}}),
        ("v26.7.0", {"gpuCluster": {"deployCR": True}}),
    ],
    ids=str,
)
def test_what_the_chart_refuses(tag, values):
    result = project(PROJECTIONS[tag], DEFAULTS[tag], values, DRA)

    assert len(result.errors) == 1
    assert result.objects == ()


def test_gpu_cluster_needs_the_api_that_the_cluster_may_not_serve():
    values = {
        "clusterPolicy": {"deployCR": False},
        "gpuCluster": {"deployCR": True},
        "driver": {"nvidiaDriverCRD": {"enabled": True}},
    }

    assert list(rendered("v26.7.0", values)) == ["GPUCluster", "NVIDIADriver"]
    for version in ("v1", "v1beta2", "v1beta1"):
        served = HelmRelease(api_versions=(f"resource.k8s.io/{version}/DeviceClass",))
        assert project(PROJECTIONS["v26.7.0"], DEFAULTS["v26.7.0"], values, served).errors == ()
    older = HelmRelease(api_versions=("resource.k8s.io/v1alpha3/DeviceClass",))
    assert "DeviceClass" in project(PROJECTIONS["v26.7.0"], DEFAULTS["v26.7.0"], values, older).errors[0].message
    assert "DeviceClass" in project(PROJECTIONS["v26.7.0"], DEFAULTS["v26.7.0"], values).errors[0].message


def test_extra_objects_are_told_and_not_shown():
    result = project(PROJECTIONS["v26.3.3"], DEFAULTS["v26.3.3"], {"extraObjects": [{"kind": "ConfigMap"}]})

    assert len(result.notes) == 1
    assert [item["kind"] for item in result.objects] == ["ClusterPolicy"]
