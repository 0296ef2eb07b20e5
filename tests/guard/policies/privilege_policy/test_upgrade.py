"""While a release rolls out, pods of the one that goes and of the one that comes both pass."""

from __future__ import annotations

import pytest

from poolsmith.core.sources.yaml_writer import emit
from poolsmith.guard.ledger.claims.claim_table import granted_claims
from poolsmith.guard.ledger.grants.grant import written_privileges
from poolsmith.guard.policies.applied_policies import JudgingOptions
from poolsmith.interface.app import check_project
from poolsmith.kubernetes.admission.pods import as_admitted_pod
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project

CLUSTER = "profiles/prod-eu/cluster.yaml"
BEFORE, AFTER = "v25.10.1", "v26.3.3"


@pytest.fixture
def upgrading(sample_project):
    """The cluster is on its way from one release to the next, and all that either needs is granted."""
    _edit(sample_project, f"release: {AFTER}", f"release: {AFTER}\n    upgradingFrom: {BEFORE}")
    prediction = planned(sample_project).prediction
    lines = [*prediction.ledger.lines, *prediction.running.ledger.lines]
    spec = {"clusters": ["prod-eu"], "pools": ["*"], "workload": "*"}
    spec |= {"privileges": list(written_privileges(line.privilege for line in lines))}
    spec |= {"reason": "the sample needs it", "owner": "gpu-platform", "expires": "2027-06-30"}
    folder = sample_project / "policies/privileges"
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.yaml"):
        path.unlink()
    grant = {"apiVersion": "poolsmith/v1", "kind": "PrivilegeGrant", "metadata": {"name": "all"}, "spec": spec}
    (folder / "all.yaml").write_text(emit(grant))
    return sample_project


def _edit(root, old, new):
    path = root / CLUSTER
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def planned(root):
    opened = open_project(root)
    (files,) = opened.select(("prod-eu",))
    return plan_cluster(opened, files)


def refused(judge, objects):
    pods = [pod for pod in map(as_admitted_pod, objects) if pod is not None]
    assert pods
    return [pod["metadata"]["name"] for pod in pods if judge.verdict(pod) == "deny"]


@pytest.mark.deep("every pod of two releases of the largest cluster")
def test_pods_of_both_releases_pass(upgrading, helpers):
    opened = open_project(upgrading)
    prediction = planned(upgrading).prediction
    old, new = (list(one.installation.objects) for one in (prediction.running, prediction))
    book = opened.policies.book
    was, will_be = granted_claims(prediction.running, book), granted_claims(prediction, book)
    only_new, both = helpers.Judge(will_be), helpers.Judge(will_be | was)

    assert prediction.running.installation.release == BEFORE
    assert refused(only_new, old)
    assert refused(both, old) == refused(helpers.Judge(was), old)
    assert refused(both, new) == refused(only_new, new)


def test_what_the_old_release_needs_is_no_unused_grant(upgrading):
    outcome = check_project(upgrading, progress=lambda _done, _total: None, judging=JudgingOptions())

    assert not [
        item
        for item in outcome.diagnostics
        if item.name in ("unused-grant", "ungranted-privilege") and item.subject == "prod-eu"
    ]


@pytest.mark.sample
@pytest.mark.parametrize(
    ("cluster", "release", "said"),
    [
        ("prod-eu", AFTER, "field-without-effect"),
        ("prod-eu", "v1.2.3", "unknown-release"),
        ("edge", "v24.6.1", "running-release-unknown"),
        ("kata-a10", "v24.9.2", "field-without-effect"),
        ("manual", "v26.3.3", "field-without-effect"),
    ],
)
def test_a_release_that_can_not_be_the_one_before_is_named_at_its_line(sample_project, cluster, release, said):
    path = sample_project / f"profiles/{cluster}/cluster.yaml"
    path.write_text(path.read_text().replace("  stack:\n", f"  stack:\n    upgradingFrom: {release}\n"))
    opened = open_project(sample_project)
    (files,) = opened.select((cluster,))

    found = [item for item in plan_cluster(opened, files).diagnostics if "upgradingFrom" in item.primary.pointer]

    assert said in [item.name for item in found]
    assert found[0].primary.span.path == f"profiles/{cluster}/cluster.yaml"
