"""A change is told once for all that it is the same on, and what matters comes first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from change.diff.projects import changes, cluster, pool, project
from poolsmith.change.diff.change_report import ChangeReport, ClusterDiff, DisruptionKind
from poolsmith.change.diff.change_sections import Part, Weight
from poolsmith.change.diff.change_summary import change_view
from poolsmith.change.diff.rows import RowKind
from poolsmith.change.diff.written import written_rows
from poolsmith.guard.ledger.ledger_delta import ChangeKind
from poolsmith.kubernetes.server.field_changes import Standing
from support.change_reports import BASE, HEAD, drivers, fleet_change, privilege, restart, some_of_everything


def report(*clusters, **more):
    return ChangeReport(base=BASE, head=HEAD, clusters=clusters, pools=4, **more)


def changed(name="lab", **parts):
    return ClusterDiff(name=name, standing=Standing.CHANGED, **parts)


def words(change, part):
    return [point.words for section in change_view(change).sections if section.part is part for point in section.points]


def test_a_base_of_a_hundred_clusters_is_a_handful_of_sentences():
    story = change_view(fleet_change())

    assert story.points == 7
    assert words(fleet_change(), Part.MORE) == [
        (
            "`driver` container `ctr` may now use the network of the node (hostNetwork), on all 1,000 pools of 100 clusters; "
            "no grant allows it"
        )
    ]
    assert words(fleet_change(), Part.DISRUPTION)[0] == (
        "the driver pods of `driver` on all 1,000 pools of 100 clusters are replaced, 4,000 nodes, 1 at a time, up to "
        "40 waves each; each node is drained: `image` of container `ctr`"
    )
    assert story.verdict == (
        "100 new errors; +1 privilege on 1,000 pools, without a grant; ~4,000 nodes: drivers replaced; "
        "~1 workload restarts"
    )
    assert story.weight is Weight.GRAVE
    (point,) = [point for section in story.sections if section.part is Part.MORE for point in section.points]
    assert (len(point.clusters), point.stands_for) == (100, 100)


def test_sections_stand_in_the_order_of_reading_and_none_is_empty():
    story = change_view(some_of_everything())

    assert [section.part for section in story.sections] == list(Part)
    assert all(section.points and section.in_short for section in story.sections)


@pytest.mark.parametrize("part", list(Part))
def test_what_is_graver_comes_first(part):
    (section,) = [section for section in change_view(some_of_everything(many=3)).sections if section.part is part]
    ranks = [point.weight.rank for point in section.points]

    if part not in (Part.OBJECTS, Part.FIELDS, Part.WRITTEN):
        assert ranks == sorted(ranks)


def test_rights_of_the_api_with_the_same_verbs_are_one_sentence():
    tokens = [f"rbac:apps/{kind}:{verb}@cluster" for kind in ("deployments", "daemonsets") for verb in ("get", "list")]
    given = tuple(privilege(token, ("a",)) for token in tokens)

    assert words(report(changed(privileges=given)), Part.MORE) == [
        (
            "`driver` container `ctr` may now get, list `daemonsets` of apps, `deployments` of apps in the whole cluster "
            "(RBAC), on pool `a`"
        )
    ]


def test_what_differs_in_its_verbs_or_scope_is_not_merged():
    tokens = ("rbac:apps/deployments:get@cluster", "rbac:apps/daemonsets:list@cluster", "rbac:apps/x:get@ns/y")
    given = tuple(privilege(token, ("a",)) for token in tokens)

    assert len(words(report(changed(privileges=given)), Part.MORE)) == 3


def test_more_and_less_are_told_apart_and_a_pool_more_is_more():
    given = (
        privilege("host-network", ("a",)),
        privilege(None, ("a",), kind=ChangeKind.REMOVED, old="host-pid", granted=None),
        privilege("host-path:/a/b:ro:none", ("a",), kind=ChangeKind.NARROWED, old="host-path:/a:ro:none", granted=None),
    )
    change = report(changed(privileges=given))

    assert len(words(change, Part.MORE)) == 1
    assert len(words(change, Part.LESS)) == 2
    assert change_view(change).verdict == "+1 privilege on 1 pool; -2 privileges on 1 pool"
    moved = privilege("host-network", ("a",), kind=ChangeKind.MOVED, old="host-network")
    assert len(words(report(changed(privileges=(moved,))), Part.MORE)) == 1


@pytest.mark.parametrize("granted", [True, None, False])
def test_only_what_nobody_granted_is_grave(granted):
    story = change_view(report(changed(privileges=(privilege("host-network", ("a",), granted=granted),))))

    assert story.weight is (Weight.GRAVE if granted is False else Weight.NOTABLE)
    assert ("grant" in story.verdict) is (granted is False)


def test_drivers_of_one_pool_say_their_waves():
    assert change_view(report(changed(disruptions=(drivers(("a",), 40, at_once=4),)))).verdict == (
        "~40 nodes: drivers replaced in 10 waves"
    )


def test_many_restarts_are_one_line_with_each_of_them_in_its_details():
    found = tuple(restart(name, ("a",)) for name in ("one", "two", "three"))
    (section,) = change_view(report(changed(disruptions=found))).sections
    (point,) = section.points

    assert point.words == "3 workloads restart on pool `a`: `one`, `three`, `two`"
    assert len(point.details) == 3


def test_clusters_that_differ_in_what_happens_are_told_apart():
    first, second = (
        changed("one", disruptions=(restart("x", ("a",)),)),
        changed("two", disruptions=(restart("y", ("a",)),)),
    )

    assert words(report(first, second), Part.DISRUPTION) == [
        "`x` restarts on pool `a` of cluster `one`, 1 at a time: `image` of container `ctr`",
        "`y` restarts on pool `a` of cluster `two`, 1 at a time: `image` of container `ctr`",
    ]


def test_all_pools_are_said_only_where_the_number_says_which():
    names = tuple("abcd")
    given = (privilege("host-network", names),)
    change = report(changed(privileges=given))
    renamed = replace(change.clusters[0], standing=Standing.RENAMED)

    assert "on all 4 pools" in words(change, Part.MORE)[0]
    assert "on all" not in words(replace(change, clusters=(renamed,)), Part.MORE)[0]


def test_nothing_that_a_change_does_is_left_out():
    """Every record stands behind a point."""
    change = some_of_everything(many=4)
    counts = {
        section.part: sum(point.stands_for for point in section.points) for section in change_view(change).sections
    }
    (first, _) = change.clusters

    assert counts[Part.MORE] + counts[Part.LESS] == len(first.privileges) + len(first.admitted)
    assert counts[Part.OTHERS] == len(first.others)
    told_first = (DisruptionKind.UNINSTALLED, DisruptionKind.LEFT)
    assert counts[Part.DISRUPTION] == sum(item.kind not in told_first for item in first.disruptions)
    assert counts[Part.LEAVES] == len(first.departures)
    assert counts[Part.OBJECTS] == len(first.objects)
    assert counts[Part.NEW] == len(change.new_findings)
    assert counts[Part.WRITTEN] == len(written_rows(change))
    own = [row.item for row in written_rows(change) if row.kind is RowKind.SELF_GRANT]
    assert own == list(change.self_grants)
    assert counts[Part.DRIFT] == len(first.drift)
    assert counts[Part.UNKNOWN] == len(first.unknown) + len(change.unknown)


def test_a_base_of_two_real_clusters_is_told_once(repository_of):
    files = project("a", "b", other=("c",))
    repository = repository_of(files)
    repository.write({path: text.replace("580.126.20", "580.159.03") for path, text in files.items()})
    change = changes(repository)
    (driver,) = [text for text in words(change, Part.DISRUPTION) if "driver pods" in text]

    assert "on 3 pools of 2 clusters" in driver.replace("all ", "")
    assert sum(item.kind is DisruptionKind.DRIVER for one in change.clusters for item in one.disruptions) > 1


def test_every_real_disruption_of_drivers_can_be_merged(repository_of):
    """Sentences hold their pools in the words by which they are found."""
    repository = repository_of(project("a", "b"))
    repository.write({"profiles/lab/cluster.yaml": cluster(release="v26.7.0"), "profiles/lab/b.yaml": pool("b")})
    change = changes(repository)

    assert change.clusters
    for text in words(change, Part.DISRUPTION):
        assert "\0" not in text


@pytest.mark.parametrize("clusters", [(), (changed(),)])
def test_it_is_said_why_all_clusters_were_looked_at(clusters):
    story = change_view(report(*clusters, why_all="policies that are shipped to every cluster differ"))

    assert story.scope.endswith("; all clusters were looked at: policies that are shipped to every cluster differ")


@pytest.mark.parametrize("kernels", ["5.15.0-105-generic, 5.15.0-113-generic", "5.15.0-105-generic"])
def test_what_comes_to_the_same_is_said_to_be_nothing_that_is_delivered(repository_of, kernels):
    """A compiled driver has the same pods for every kernel."""
    files = project("a", "b")
    repository = repository_of(files)
    text = files["profiles/lab/a.yaml"].replace("release: 5.15.0-105-generic", f"releases: [{kernels}]")
    repository.write({"profiles/lab/a.yaml": text})
    change = changes(repository)

    assert change_view(change).verdict.startswith("nothing that is delivered changes")
    assert words(change, Part.DISRUPTION) == []


RINGS = "apiVersion: poolsmith/v1\nkind: RingOrder\nmetadata: {name: rings}\nspec: {order: [first, last]}\n"


@pytest.mark.parametrize("edited", [("lab",), ("lab", "two"), ("lab", "out")])
def test_rings_that_are_disturbed_by_one_merge_are_told(repository_of, edited):
    files = project("a", two=("a",), out=("a",)) | {"profiles/_rings.yaml": RINGS}
    for name, ring in (("lab", "first"), ("two", "last")):
        path = f"profiles/{name}/cluster.yaml"
        files[path] = files[path].replace("spec:\n", f"spec:\n  ring: {ring}\n")
    repository = repository_of(files)
    for name in edited:
        path = f"profiles/{name}/a.yaml"
        repository.write({path: files[path].replace("580.126.20", "580.159.03")})
    change = changes(repository)
    lines = [text for text in words(change, Part.DISRUPTION) if "several rings" in text]

    assert [cluster.ring for cluster in change.clusters if cluster.name == "lab"] == ["first"]
    assert bool(lines) is ("two" in edited)
    assert ("2 rings at once" in change_view(change).verdict) is ("two" in edited)
