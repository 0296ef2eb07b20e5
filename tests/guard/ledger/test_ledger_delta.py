"""What changed between two ledgers, each change once and in words."""

from __future__ import annotations

import time

import pytest

from poolsmith.guard.ledger.ledger import Ledger, LedgerLine
from poolsmith.guard.ledger.ledger_delta import applied, delta
from poolsmith.guard.ledger.privilege import Privilege
from poolsmith.guard.ledger.reach import Reach, reach_of
from support.change_words import in_words


def ledger(*texts, unknown=()):
    """Lines from `pool token`, `pool container token` or `pool namespace/Kind/name container token`."""
    lines = []
    for text in texts:
        pool, *middle, token = text.split()
        held = Privilege.parse(token)
        container = middle[-1] if middle else "c"
        namespace, workload = middle[0].split("/", 1) if len(middle) == 2 else ("", "DaemonSet/x")
        lines.append(LedgerLine(pool, workload, container, held, reach_of(held), namespace=namespace))
    return Ledger.of(lines, unknown)


def sentences(old, new):
    return [in_words(change) for change in delta(old, new).changes]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ([], ["a privileged"], ["Container c of DaemonSet/x gets `privileged` (node-root) on pool a."]),
        (["a privileged"], [], ["Container c of DaemonSet/x loses `privileged` (node-root) on pool a."]),
        (
            [],
            ["a privileged", "b privileged", "c privileged"],
            ["Container c of DaemonSet/x gets `privileged` (node-root) on pools a, b, c."],
        ),
        (
            ["a host-path:/run:ro:none", "b host-path:/run:ro:none"],
            ["a host-path:/run:rw:none", "b host-path:/run:rw:none"],
            [
                (
                    "Container c of DaemonSet/x gets the wider `host-path:/run:rw:none` for `host-path:/run:ro:none` "
                    "(node-read to node-write) on pools a, b."
                )
            ],
        ),
        (
            ["a host-path:/:rw:none"],
            ["a host-path:/run:rw:none"],
            [
                (
                    "Container c of DaemonSet/x gets the narrower `host-path:/run:rw:none` for `host-path:/:rw:none` "
                    "(node-root to node-write) on pool a."
                )
            ],
        ),
        (
            ["a rbac:core/pods:get@ns/b"],
            ["a rbac:core/pods:get@cluster"],
            [
                (
                    "Container c of DaemonSet/x gets the wider `rbac:core/pods:get@cluster` for "
                    "`rbac:core/pods:get@ns/b` (cluster-read) on pool a."
                )
            ],
        ),
        (
            ["a privileged"],
            ["a privileged", "b privileged"],
            ["Container c of DaemonSet/x gets `privileged` (node-root) on pool b too."],
        ),
        (
            ["a privileged", "b privileged"],
            ["a privileged"],
            ["Container c of DaemonSet/x loses `privileged` (node-root) on pool b, but not everywhere."],
        ),
        (
            ["a privileged"],
            ["b privileged"],
            ["Container c of DaemonSet/x gets `privileged` (node-root) on pool b, and loses it on pool a."],
        ),
        (
            ["- privileged"],
            ["* privileged", "a privileged"],
            [
                (
                    "Container c of DaemonSet/x gets `privileged` (node-root) on pool a and any node, "
                    "and loses it on no known node."
                )
            ],
        ),
    ],
)
def test_each_change_is_told_once_for_all_its_pools(old, new, said):
    assert sentences(ledger(*old), ledger(*new)) == said


def test_what_a_pod_holds_as_a_whole_is_told_of_the_workload_and_its_namespace():
    token = Privilege.parse("host-pid")
    new = Ledger.of([LedgerLine("a", "DaemonSet/y", "", token, reach_of(token), namespace="gpu-operator")])

    assert sentences(Ledger(), new) == ["DaemonSet/y in gpu-operator gets `host-pid` (node-write) on pool a."]


def test_the_same_workload_in_another_namespace_is_another():
    old = ledger("a kube-system/DaemonSet/x c privileged")
    new = ledger("a kube-system/DaemonSet/x c privileged", "a gpu-operator/DaemonSet/x c privileged")

    assert [(change.kind, change.namespace) for change in delta(old, new).changes] == [("added", "gpu-operator")]


def test_another_container_is_no_move():
    found = delta(ledger("a one privileged"), ledger("a two privileged"))

    assert [(change.kind, change.container) for change in found.changes] == [("added", "two"), ("removed", "one")]


def test_wider_on_one_pool_leaves_the_others_alone():
    found = delta(
        ledger("a host-path:/run:ro:none", "b host-path:/run:ro:none"),
        ledger("a host-path:/run:ro:none", "b host-path:/run:rw:none"),
    )

    (change,) = found.widened
    assert (change.pools_before, change.pools_after, len(found.changes)) == (("b",), ("b",), 1)


def test_of_several_wider_ones_the_nearest_stands_for_the_old_one():
    found = delta(
        ledger("a host-path:/run/nvidia:ro:none"),
        ledger("a host-path:/:rw:none", "a host-path:/run/nvidia:rw:none", "a host-path:/run:rw:none"),
    )

    assert [str(change.new) for change in found.widened] == ["host-path:/run/nvidia:rw:none"]
    assert [str(change.new) for change in found.added] == ["host-path:/:rw:none", "host-path:/run:rw:none"]


def test_a_star_for_many_words_is_wider_than_one_of_them():
    verbs = ("create", "get", "list")
    found = delta(ledger(*(f"a rbac:core/pods:{verb}@ns/x" for verb in verbs)), ledger("a rbac:core/pods:*@ns/x"))

    assert len(found.widened) == 1
    assert len(found.removed) == 2


def test_what_gives_more_comes_first_and_the_worst_of_it():
    old = ledger("a host-path:/:rw:none", "a host-port:1", "a host-path:/x:ro:none")
    new = ledger("a host-path:/y:rw:none", "a host-network", "a privileged", "a host-path:/x:rw:none")
    found = delta(old, new)

    assert [(str(change.kind), change.reach) for change in found.changes] == [
        ("added", Reach.NODE_ROOT),
        ("added", Reach.NETWORK),
        ("widened", Reach.NODE_WRITE),
        ("narrowed", Reach.NODE_WRITE),
        ("removed", Reach.NETWORK),
    ]


def test_nothing_changed_is_an_empty_delta():
    same = ledger("a privileged", "b host-pid", unknown=("x",))

    assert not delta(same, same)
    assert delta(same, same).changes == ()


def test_origins_are_no_privileges():
    token = Privilege.parse("host-pid")
    one, other = (Ledger((LedgerLine("a", "Pod/x", "", token, reach_of(token), (text,)),)) for text in "pq")

    assert not delta(one, other)


def test_what_can_no_longer_be_told_is_part_of_the_delta():
    found = delta(ledger(unknown=("x",)), ledger(unknown=("x", "y")))

    assert found
    assert found.unknown == ("y",)


def test_a_change_applied_to_the_old_ledger_gives_the_new_one():
    old = ledger("a host-path:/run:ro:none", "b privileged")
    new = ledger("a host-path:/run:rw:none", "c privileged", "c host-pid")

    assert applied(old, delta(old, new)) == new


def test_thousands_of_rights_against_thousands_take_no_time_to_compare():
    old = ledger(*(f"a rbac:core/r{number}:get@ns/x" for number in range(3000)))
    new = ledger(*(f"a rbac:core/r{number}:get@cluster" for number in range(3000)))
    start = time.perf_counter()
    found = delta(old, new)

    assert time.perf_counter() - start < 2
    assert {str(change.kind) for change in found.changes} == {"added", "removed"}
