"""A new pool that wide grants admit is told once, before its privileges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from change.diff.two_sides import both_sides, replaced
from poolsmith.change.diff.change_findings import admitted_pools
from poolsmith.change.diff.change_report import ChangeReport, ClusterDiff, PoolChange
from poolsmith.change.diff.change_summary import change_view
from poolsmith.guard.ledger.grants.matching import GrantBook
from poolsmith.kubernetes.server.field_changes import Standing
from support.change_reports import BASE, HEAD


def new_pools(*names):
    return tuple(PoolChange(name=name, standing=Standing.ADDED) for name in names)


def add(*names):
    def edit(folder):
        text = (folder / "profiles/edge/l4.yaml").read_text()
        for name in names:
            (folder / f"profiles/edge/{name}.yaml").write_text(text.replace("name: l4\n", f"name: {name}\n"))

    return edit


def words(after, names, book):
    found = admitted_pools(after, new_pools(*names), book)
    diff = ClusterDiff(name="edge", standing=Standing.CHANGED, admitted=found)
    view = change_view(ChangeReport(base=BASE, head=HEAD, clusters=(diff,)))
    return [point.words for section in view.sections for point in section.points]


def test_it_is_one_line_for_all_pools_that_are_admitted_alike(tmp_path):
    project, _, after = both_sides(tmp_path, "edge", add("one", "two"))

    (line,) = words(after, ("one", "two"), project.policies.book)

    assert line.startswith("pools `one`, `two` are new: ")
    assert "workloads may be root there, by" in line
    assert "for pools by a pattern and not for these (" in line


def test_a_grant_that_names_the_pool_was_given_for_it(tmp_path):
    project, _, after = both_sides(tmp_path, "edge", add("one"))
    named = [
        replace(grant, spec=replace(grant.spec, pools=(*grant.spec.pools, "one")))
        for grant in project.policies.book.grants
    ]

    assert words(after, ("one",), GrantBook(named)) == []


@pytest.mark.parametrize("kept", [True, False])
def test_pools_that_were_there_are_not_told_and_without_grants_nothing_is(tmp_path, kept):
    project, _, after = both_sides(tmp_path, "edge", lambda folder: replaced(folder, "edge/cluster.yaml"))

    assert words(after, () if kept else ("l4",), project.policies.book if kept else None) == []
