"""What a cluster's engine tells for ever, and what is written against it."""

from __future__ import annotations

import pytest

from poolsmith.change.drift.delivered import ALL, DiffMode, EngineDiff, compared_by
from poolsmith.change.drift.forecast import forecast
from poolsmith.fleet.operands.chart.chart_projection import project
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.chart_contents import nulls_of
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.drift_facts import list_defaults, null_defaults
from poolsmith.gpu.catalog.projections import projected_releases, read_projection
from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.guard.ledger.prediction import Predictions
from poolsmith.kubernetes.schema.schemas import NoSchema, schemas_for
from poolsmith.kubernetes.server.server_fields import Effect, server_fields

RELABELINGS = "{release: v26.7.0, values: {dcgmExporter: {serviceMonitor: {relabelings: [{targetLabel: b}]}}}}"
NULL = Effect.NULL_FOR_DEFAULT
FLUX = "{engine: flux, repoURL: https://git.example.com/gpu.git}"


@pytest.fixture
def forecast_of(resolve):
    """A forecast of a cluster `prod`, and its plan."""

    def run(cluster=None, compared=None):
        outcome = resolve(cluster)
        assert outcome.plan is not None, outcome.findings
        prediction = Predictions(Catalog()).of(outcome.plan, outcome.loaded)
        return forecast(outcome.plan, prediction, (), compared), outcome.plan

    return run


@pytest.mark.rows(5, "one of each line of releases")
@pytest.mark.parametrize("release", projected_releases())
def test_each_release_is_in_sync_as_it_is_generated(forecast_of, release):
    for compared in ALL:
        found, _ = forecast_of({"stack": f"{{release: {release}}}"}, compared)

        assert found.uncured() == (), compared
        cured = {item.field.removeprefix("/spec/").replace("/", ".") for item in found.drifts if item.cure is not None}
        assert {item.dotted for item in nulls_of(release)} <= cured


def test_the_items_of_a_list_are_completed(forecast_of):
    found, plan = forecast_of({"stack": RELABELINGS})

    setting = plan.setting("dcgmExporter", "serviceMonitor", "relabelings")
    assert setting.value == [{"targetLabel": "b", "action": "replace"}]
    assert found.uncured() == ()
    (cured,) = [item for item in found.drifts if item.effect == "default-in-list"]
    assert cured.cure.text == "dcgmExporter.serviceMonitor.relabelings[0].action: replace"
    assert cured.place.path == "profiles/prod/cluster.yaml"


@pytest.mark.rows(2, "one of each line of releases")
@pytest.mark.parametrize("release", projected_releases())
def test_the_table_of_nulls_has_each_value_that_renders_as_a_null_with_a_default(release):
    """By construction: null at each value that the chart writes into a custom resource."""
    schemas = schemas_for(schema_versions(kubernetes="1.34", operator=release))
    projection, defaults = read_projection(release), read_chart("gpu-operator", release).defaults

    def nulls(values):
        for body in project(projection, defaults, values).objects:
            schema = schemas.find(body["apiVersion"], body["kind"])
            yield from ((item.pointer, item.stored) for item in server_fields(body, schema) if item.effect == NULL)

    own, found = set(nulls({})), set()
    for path in {field.source for rule in projection.objects for field in rule.fields if field.source}:
        found |= {(path, *item) for item in set(nulls(nested(path, None))) - own}

    assert found == {(item.path, "/".join(("/spec", *item.field)), item.value) for item in null_defaults(release)}
    assert found


def nested(path, value):
    for key in reversed(path):
        value = {key: value}
    return value


def test_a_null_that_somebody_sets_becomes_the_default_that_the_server_would_store(forecast_of):
    values = "{driver: {upgradePolicy: {gpuPodDeletion: {timeoutSeconds: null}}}}"
    found, plan = forecast_of({"stack": f"{{release: v26.3.3, values: {values}}}"})

    assert plan.setting("driver", "upgradePolicy", "gpuPodDeletion", "timeoutSeconds").value == 300
    assert found.uncured() == ()
    (cured,) = [item for item in found.drifts if item.cure is not None]
    assert cured.field == "/spec/driver/upgradePolicy/podDeletion/timeoutSeconds"
    assert cured.cure.text == "driver.upgradePolicy.gpuPodDeletion.timeoutSeconds: 300"


def test_flux_asks_the_server_whatever_is_said(forecast_of):
    _, plan = forecast_of({"delivery": FLUX})

    assert compared_by(plan, None, DiffMode.LEGACY) == EngineDiff(engine=Engine.FLUX, diff=DiffMode.SERVER_SIDE)
    assert compared_by(plan, Engine.ARGOCD).diff is DiffMode.SERVER_SIDE


def test_a_definition_with_two_owners_is_a_condition_and_no_drift(forecast_of):
    found, _ = forecast_of({"stack": "{release: v26.7.0}"})

    (other,) = [item for item in found.drifts if item.when]
    assert other.name == "computedomains.resource.nvidia.com"
    assert other not in found.uncured()


@pytest.mark.rows(5, "one of each line of releases")
@pytest.mark.parametrize("release", projected_releases())
def test_the_table_of_lists_has_each_list_that_the_server_completes(release):
    """By construction: an empty item in every list of every custom resource that the chart renders."""
    schemas = schemas_for(schema_versions(kubernetes="1.34", operator=release))
    found = set()
    for rule in read_projection(release).objects:
        schema = schemas.find(rule.api_version, rule.kind)
        assert not isinstance(schema, NoSchema)
        spec = probe(schema.compiler.resolve, schema.definition["properties"]["spec"])
        body = {"apiVersion": rule.api_version, "kind": rule.kind, "metadata": {"name": "x"}, "spec": spec}
        for item in server_fields(body, schema):
            if item.effect == "default-in-list":
                steps = item.pointer.removeprefix("/spec/").split("/")
                assert steps[-2] == "0", item.pointer
                path = tuple(steps[:-2])
                written = any(field.path == path[: len(field.path)] for field in rule.fields)
                if written:
                    found.add((".".join(path), steps[-1], item.stored))

    assert found == {(item.dotted, item.field, item.value) for item in list_defaults(release)}


def probe(resolve, schema, depth=12):
    """An object with everything in it, and one item in each list."""
    schema = resolve(schema)
    if depth and schema.get("type") == "object":
        return (
            {key: probe(resolve, child, depth - 1) for key, child in schema.get("properties", {}).items()}
            if (schema.get("properties"))
            else {}
        )
    if depth and schema.get("type") == "array":
        item = resolve(schema.get("items", {}))
        inner = probe(resolve, item, depth - 1)
        if isinstance(inner, dict):
            properties = item.get("properties", {})
            inner = {key: value for key, value in inner.items() if "default" not in resolve(properties[key])}
        return [inner]
    return "x"
