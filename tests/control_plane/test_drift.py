"""What is forecast of fields is what a real API server makes of them, and a second apply changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from control_plane.delivered import COCO_NAMESPACE, ENGINES, MONITORING, coco_of, definitions, release_of
from control_plane.test_random_clusters import CLUSTERS_OF_A_RELEASE, drawn
from poolsmith.gpu.catalog.drift_facts import effects
from poolsmith.gpu.catalog.projections import projected_releases
from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.kubernetes.schema.schemas import CORE, read_cached, schemas_for
from poolsmith.kubernetes.server.server_fields import server_fields
from property.unlike_pools import any_values, fleets
from support.circles import parameters, share
from support.delivered_clusters import delivered
from support.drift_probes import changes, defined_kinds, of_metadata, of_other_definitions, probes

pytestmark = pytest.mark.real("an API server, asked many times")

ROOT = Path(__file__).resolve().parents[2]
FIRST = ("claims", "prod-eu")
REST = sorted(path.name for path in (ROOT / "output/clusters").iterdir() if path.name not in FIRST)
ARGO_CD = "argocd-controller"
"""The field manager of Argo CD's server-side apply."""


@pytest.mark.parametrize("release", share(of_other_definitions(projected_releases()), 2))
def test_the_server_does_to_each_field_what_is_forecast(control_plane, release):
    schemas = schemas_for(schema_versions(kubernetes="1.34", operator=release))
    server = control_plane.scenario()
    client, wrong, kinds = server.client(), [], set()
    try:
        for item in definitions(release, "").objects:
            client.apply(item)
        for kind in defined_kinds(release):
            for name, body in probes(release, kind):
                found = list(server_fields(body, schemas.find(body["apiVersion"], kind)))
                refused = {item.effect for item in found if effects()[item.effect].refused}
                answer = client.apply(body, manager=ARGO_CD, force=True)
                if answer.taken == bool(refused):
                    wrong.append(f"{kind}, {name}: {answer.message or 'taken'}")
                elif answer.taken:
                    theirs = {pointer for _, pointer in changes(body, of_metadata(answer.body))}
                    if theirs != {item.pointer for item in found}:
                        wrong.append(f"{kind}, {name}: {theirs} and not {[item.pointer for item in found]}")
                    again = client.apply(body, manager=ARGO_CD, force=True, dry_run=True)
                    if of_metadata(again.body) != of_metadata(answer.body):
                        wrong.append(f"{kind}, {name}: a dry run finds a difference")
                    client.delete(body["apiVersion"], kind, body["metadata"]["name"])
                kinds |= {item.effect for item in found}
    finally:
        server.end()

    assert wrong == []
    assert len(kinds) == len(effects())


@pytest.mark.parametrize("cluster", parameters(FIRST, REST))
def test_a_dry_run_finds_in_a_sample_cluster_what_is_forecast(control_plane, cluster):
    server = control_plane.scenario()
    try:
        assert found_otherwise(server.client(), ROOT / "output/clusters" / cluster) == []
    finally:
        server.end()


@pytest.mark.parametrize("release", share(fleets.RELEASES, 2))
def test_a_dry_run_finds_in_random_clusters_what_is_forecast(control_plane, tmp_path, release):
    folders = drawn(tmp_path, any_values.projects((release,)), CLUSTERS_OF_A_RELEASE // 2)
    server = control_plane.scenario()
    try:
        client = server.client()
        assert [text for folder in folders for text in found_otherwise(client, folder)] == []
    finally:
        server.end()
    assert folders


def found_otherwise(client, folder):
    """What the server refuses, changes or adds, or a dry run finds after it, and no forecast says."""
    objects, forecast = delivered(folder.parents[2], folder.name)
    for item in (*definitions(release_of(folder), coco_of(folder)).objects, *MONITORING.objects):
        client.apply(item)
    for name in (*ENGINES, COCO_NAMESPACE):
        client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    altered, wrong, taken = set(), [], []
    for item in sorted(objects, key=lambda item: item.body["kind"] != "Namespace"):
        answer = client.apply(item.body, manager=ARGO_CD, force=True)
        name = f"{item.body['kind']}/{item.name}"
        if not answer.taken:
            wrong.append(f"{folder.name}: {name} is refused: {answer.message}")
            continue
        again = client.apply(item.body, manager=ARGO_CD, force=True, dry_run=True)
        if of_metadata(again.body) != of_metadata(answer.body):
            wrong.append(f"{folder.name}: {name}: a dry run finds a difference")
        if item.body["apiVersion"].rpartition("/")[0] not in read_cached(CORE).groups:
            altered |= {f"{name} {pointer}" for _, pointer in changes(item.body, of_metadata(answer.body))}
        if item.body["kind"] != "Namespace":
            taken.append(item)
    for item in taken:
        client.delete(item.body["apiVersion"], item.body["kind"], item.name, item.namespace or None)
    told = {item.what for item in forecast.drifts if item.cure is None and not item.when}
    wrong += [f"{folder.name}: {text} is told, and stays as it is" for text in sorted(told - altered)]
    if len(altered - told) != forecast.added:
        wrong.append(f"{folder.name}: {forecast.added} defaults, and {sorted(altered - told)}")
    return wrong
