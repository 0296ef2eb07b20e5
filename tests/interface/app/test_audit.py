"""`audit` tells from committed ledgers and grants who held what, from when until when, and by which grant."""

from __future__ import annotations

import csv
import io
import json

import pytest

from change.review.conftest import repository_of
from poolsmith.core.diagnostics import UsageError
from poolsmith.interface.app.audit import audit

__all__ = ["repository_of"]
LEDGER = """\
apiVersion: poolsmith/v1
kind: PrivilegeLedger
metadata: {{name: prod}}
release: v26.3.3
pools:
  a: {{reach: node-root, workloads: [gpu/DaemonSet/driver]}}
workloads:
  gpu/DaemonSet/driver:
    account: driver
    containers:
      ctr: {{{held}}}
accounts:
  gpu/driver: {{"rbac:core/nodes:get,list@cluster": cluster-read}}
"""
GRANT = """\
apiVersion: poolsmith/v1
kind: PrivilegeGrant
metadata: {{name: driver}}
spec:
  clusters: [prod]
  pools: ["*"]
  workload: driver
  images: [nvcr.io/nvidia/driver]
  privileges: [privileged]
  reason: {reason}
  owner: gpu
  expires: 2027-06-30
"""
PATH, GRANTS = "output/clusters/prod/privileges.yaml", "policies/privileges/driver.yaml"


def ledger(*held):
    return LEDGER.format(held=", ".join(f"{item}: node-root" for item in held))


@pytest.fixture
def history(repository_of):
    """privileged, without a grant; then granted; then also host-network; then no longer privileged."""
    repository = repository_of({PATH: ledger("privileged"), "README.md": "x"})
    commits = [repository.base]
    for title, files in (
        ("grant", {GRANTS: GRANT.format(reason="it loads modules")}),
        ("elsewhere", {"README.md": "y"}),
        ("network", {PATH: ledger("privileged", "host-network")}),
        ("less", {PATH: ledger("host-network")}),
    ):
        repository.write(files)
        repository.commit(title)
        commits.append(repository.git("rev-parse", "HEAD"))
    repository.commits = commits
    return repository


def told(found):
    """Container, privileges, who gave leave, and the titles of the commits that began and ended it."""
    return [
        (
            item.container,
            *item.privileges,
            item.leave.grant if item.leave else None,
            item.since.title if item.since else None,
            item.until.title if item.until else None,
        )
        for item in found.held
    ]


def test_each_time_has_its_commits_and_its_leave(history):
    found = audit(history.root, history.base)

    assert sorted(told(found), key=str) == sorted(
        [
            ("", "rbac:core/nodes:get,list@cluster", None, None, None),
            ("ctr", "privileged", None, None, "grant"),
            ("ctr", "privileged", "driver", "grant", "less"),
            ("ctr", "host-network", None, "network", None),
        ],
        key=str,
    )
    (leave,) = [item.leave for item in found.held if item.leave]
    assert (leave.owner, leave.reason, leave.expires) == ("gpu", "it loads modules", "2027-06-30")
    assert leave.approved.title == "grant"
    assert found.not_evaluated == ()


def test_leave_from_before_has_the_commit_that_gave_it(history):
    found = audit(history.root, history.commits[2])
    (leave,) = [item.leave for item in found.held if item.leave]

    assert leave.approved.id == history.commits[1]
    assert [item.since for item in found.held if item.leave] == [None]


def test_a_day_begins_with_the_last_commit_before_it(history):
    assert told(audit(history.root, "2000-01-01")) == told(audit(history.root, history.base))
    assert [item[2] for item in told(audit(history.root, "2999-01-01")) if item[1] == "host-network"] == [None]


def test_a_grant_with_another_reason_is_another_leave(history):
    history.write({GRANTS: GRANT.format(reason="another"), PATH: ledger("privileged")})
    history.commit("again")

    assert ("ctr", "privileged", "driver", "again", None) in told(audit(history.root, history.base))


def test_what_can_not_be_read_is_told_and_nothing_stands_for_it(history):
    history.write({PATH: "a: [", GRANTS: "nonsense: ["})
    history.commit("broken")
    found = audit(history.root, history.base)

    assert len(found.not_evaluated) == 2
    assert all(history.git("rev-parse", "HEAD")[:12] in item for item in found.not_evaluated)
    assert {item.until is not None for item in found.held} == {True}


@pytest.mark.parametrize("since", ["nothing", "2026-13-40", "--all", ""])
def test_what_is_no_revision_and_no_day_is_refused(history, since):
    with pytest.raises(UsageError):
        audit(history.root, since)


def test_a_revision_of_another_branch_is_refused(history):
    history.git("checkout", "-q", "-b", "other", history.base)
    history.write({"README.md": "z"})
    history.commit("other")
    with pytest.raises(UsageError, match="no ancestor"):
        audit(history.root, "other", history.commits[-1])


def test_the_forms_say_the_same_and_do_nothing(history, run_cli):
    history.write({GRANTS: GRANT.format(reason='"=cmd|x <img src=x>"'), PATH: ledger("privileged")})
    history.commit("=1+1 | <b>")
    flags = ["audit", "--root", history.root, "--since", history.base]
    rows = list(csv.DictReader(io.StringIO(run_cli(flags).out)))
    body = json.loads(run_cli([*flags, "--format", "json"]).out)
    page = run_cli([*flags, "--format", "markdown"]).out

    assert len(rows) == len(body["held"])
    assert {row["reason"] for row in rows} == {"", "it loads modules", "'=cmd|x <img src=x>"}
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())
    assert "**no grant**" in page
    assert "<img" not in page
