"""What pictures of a change are made of: cells, lanes and marks, held against the records that they are about."""

from __future__ import annotations

from dataclasses import replace

from poolsmith.change.diff.change_report import ChangeReport, ClusterDiff, DisruptionKind, PoolChange
from poolsmith.change.diff.driver_pods import UpgradePace
from poolsmith.change.diff.pool_marks import PoolMark, pool_marks
from poolsmith.change.diff.privilege_matrix import MOST_COLUMNS, name_families, privilege_matrix
from poolsmith.change.diff.roll_out import lanes
from poolsmith.guard.ledger.ledger import NO_KNOWN_NODE
from poolsmith.guard.ledger.ledger_delta import ChangeKind
from poolsmith.guard.ledger.reach import Reach
from poolsmith.kubernetes.server.field_changes import Standing
from support.change_reports import BASE, HEAD, drivers, fleet_change, privilege, restart


def changed(*parts, name="c", **more):
    return ClusterDiff(name=name, standing=Standing.CHANGED, **more)


def report(*clusters):
    return ChangeReport(base=BASE, head=HEAD, clusters=clusters)


def of(*privileges):
    return privilege_matrix(report(changed(privileges=privileges)))


def test_a_cell_says_what_is_new_wider_and_gone_and_whether_it_is_granted():
    matrix = of(
        privilege("host-network", ("a", "b"), granted=False),
        privilege("host-path:/:rw:none", ("a",), old="host-path:/run:rw:none", kind=ChangeKind.WIDENED),
        privilege("host-ipc", ("b",), kind=ChangeKind.REMOVED, granted=None),
    )
    cells = dict(zip(matrix.columns, matrix.rows[0].cells, strict=True))

    a, b = cells[("c", "a"),], cells[("c", "b"),]
    assert (a.new, a.wider, a.less, a.granted, a.ungranted, a.reach) == (1, 1, 0, 1, 1, Reach.NODE_ROOT)
    assert (b.new, b.wider, b.less, b.granted, b.ungranted, b.reach) == (1, 0, 1, 0, 1, Reach.NETWORK)


def test_what_is_lost_decides_the_reach_only_where_nothing_is_gained():
    matrix = of(
        privilege("privileged", ("a",), kind=ChangeKind.REMOVED, granted=None), privilege("host-network", ("b",))
    )

    assert {cell.reach for cell in matrix.rows[0].cells} == {Reach.NODE_ROOT, Reach.NETWORK}


def test_pools_that_say_the_same_are_one_column():
    matrix = privilege_matrix(fleet_change(100, 10))

    assert [len(pools) for pools in matrix.columns] == [1000]
    assert len(matrix.rows) == 1


def test_a_fleet_of_unlike_pools_has_few_columns_and_each_pool_is_in_one():
    """Each pool has another workload that gains something."""
    found = [privilege("host-network", (f"p{n}",), workload=f"DaemonSet/w{chr(97 + n)}") for n in range(20)]
    matrix = of(*found)

    assert len(matrix.columns) == MOST_COLUMNS
    assert matrix.is_cut
    assert sorted(pool for column in matrix.columns for pool in column) == sorted(("c", f"p{n}") for n in range(20))
    assert all(any(row.cells) for row in matrix.rows)


def test_names_that_differ_by_a_system_or_a_digest_are_one_family():
    names = ("DaemonSet/driver-ubuntu22.04-5d4", "DaemonSet/driver-rhel9-x7", "DaemonSet/l4", "Job/driver-1")

    assert name_families(names) == {
        "DaemonSet/driver-ubuntu22.04-5d4": "driver-*",
        "DaemonSet/driver-rhel9-x7": "driver-*",
        "DaemonSet/l4": "l4",
        "Job/driver-1": "driver-1",
    }


def test_what_ran_nowhere_is_not_told_as_gone():
    moved = privilege("privileged", ("a",), kind=ChangeKind.MOVED, old="privileged")
    moved = replace(moved, change=replace(moved.change, pools_before=(NO_KNOWN_NODE,)))

    assert of(moved).columns == ((("c", "a"),),)


def test_lanes_have_drivers_first_and_the_longest_first():
    found = lanes(
        report(
            changed(
                disruptions=(
                    replace(restart("exporter", ("a", "b")), waves=drivers(("a",), 4).waves),
                    drivers(("a",), 4),
                    drivers(("b",), 20),
                )
            )
        )
    )

    assert [(lane.kind, lane.waves.waves) for lane in found] == [
        (DisruptionKind.DRIVER, 20),
        (DisruptionKind.DRIVER, 4),
        (DisruptionKind.RESTART, 4),
    ]


def test_pools_that_roll_alike_are_one_lane():
    (lane,) = lanes(fleet_change(100, 10))

    assert len(lane.pools) == 1000


def test_the_lower_limit_sets_the_pace():
    pace = UpgradePace(automatic=True, parallel=4, unavailable="25%", policy="the policy")

    assert pace.waves(8, 8).limit == "maxUnavailable 25%"
    assert pace.waves(100, 100).limit == "maxParallelUpgrades 4"
    assert pace.waves(8, 8).policy == "the policy"
    assert UpgradePace(automatic=True, parallel=0, unavailable=None).waves(8, 8).limit == ""


def test_a_mark_says_the_gravest_first_and_of_a_new_pool_nothing_that_goes_without_saying():
    marks = pool_marks(
        report(
            changed(
                pools=(
                    PoolChange(name="new", standing=Standing.ADDED),
                    PoolChange(name="old", standing=Standing.REMOVED),
                ),
                privileges=(privilege("privileged", ("new",)), privilege("host-ipc", ("a",), granted=False)),
                disruptions=(drivers(("a",), 4), restart("exporter", ("a", "b"))),
            )
        )
    )

    assert marks == {
        ("c", "new"): (PoolMark.NEW,),
        ("c", "old"): (PoolMark.GONE,),
        ("c", "a"): (PoolMark.DRIVER, PoolMark.UNGRANTED, PoolMark.RESTARTS),
        ("c", "b"): (PoolMark.RESTARTS,),
    }
