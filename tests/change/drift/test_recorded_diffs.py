"""The forecast says which diff reports what, as Argo CD's own code said of what a real API server stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from poolsmith.change.drift.delivered import DiffMode
from poolsmith.gpu.catalog.drift_facts import effects
from poolsmith.gpu.catalog.projections import projected_releases
from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.kubernetes.schema.schemas import schemas_for
from poolsmith.kubernetes.server.server_fields import server_fields
from support.delivered_clusters import delivered, digest
from support.drift_probes import defined_kinds, probes
from support.recordings import recording

ROOT = Path(__file__).resolve().parents[3]
CLUSTERS = sorted(path.name for path in (ROOT / "output/clusters").iterdir())
LEAST_ASKED = 0.8
"""Of a sample cluster's objects. Others have changed since; tests/oracle/argocd says how to ask anew."""


def told(body, schema):
    """By diff: the fields that it reports, or that it is refused."""
    found = {}
    for item in server_fields(body, schema):
        facts = effects()[item.effect]
        for diff in DiffMode:
            if f"argocd/{diff}" in facts.refused:
                found[str(diff)] = "refused"
            elif f"argocd/{diff}" in facts.reported and found.get(str(diff)) != "refused":
                found.setdefault(str(diff), []).append(item.pointer)
    return found


RECORDED = sorted({key.partition("/")[0] for key in recording("argocd_diffs")} & set(projected_releases()))


@pytest.mark.parametrize("release", RECORDED)
def test_each_diff_reports_what_is_forecast(release):
    schemas = schemas_for(schema_versions(kubernetes="1.34", operator=release))
    recorded, asked, wrong = recording("argocd_diffs"), set(), []
    for kind in defined_kinds(release):
        for name, body in probes(release, kind):
            key = f"{release}/{kind}/{name}"
            asked.add(key)
            ours = told(body, schemas.find(body["apiVersion"], kind))
            if ours != recorded[key]:
                wrong.append((key, ours, recorded[key]))

    assert wrong == []
    assert asked == set(recorded.below(release))
    assert len(asked) > 60


@pytest.mark.rows(6, "a row takes 0.099 s; each value of each column is seen first")
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_no_diff_reports_anything_of_a_sample_cluster(cluster):
    recorded = recording("argocd_diffs")[f"sample/{cluster}"]
    objects, forecast = delivered(ROOT, cluster)
    hashes = {digest(item.body) for item in objects}

    assert recorded["told"] == {}
    assert [item for item in forecast.drifts if item.cure is None and not item.when] == []
    assert len(hashes & set(recorded["asked"])) >= LEAST_ASKED * len(hashes)
