"""A cluster whose privilege policy would be larger than what is sure to be stored gets none, and is told so."""

from __future__ import annotations

from poolsmith.guard.ledger.claims.claim_table import ClaimTable
from poolsmith.guard.policies.privilege_policy.validating_policy import LONGEST_EXPRESSION, privilege_policy
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project


def test_too_much_data_is_an_error_at_the_cluster_and_no_policy(sample_project, monkeypatch):
    opened = open_project(sample_project)
    (files,) = opened.select(("prod-eu",))
    run = plan_cluster(opened, files)
    long = ClaimTable({"main|a/b|c|d|a:" + "x" * LONGEST_EXPRESSION: ()}, (), (), ("a",))

    monkeypatch.setattr("poolsmith.guard.policies.privilege_policy.validating_policy.granted_claims", lambda *_: long)
    made = privilege_policy(run.prediction, opened.policies.book, run.loaded.file, ())

    (found,) = (item for item in made.diagnostics if item.code == "PSM643")
    assert (made.manifests, made.enforced) == ((), False)
    assert found.subject == "prod-eu"
    assert "the limit is 200,000" in found.message
    assert str(found.primary.span).startswith("profiles/prod-eu/cluster.yaml:")
