"""A ledger is its lines in one order, each once."""

from __future__ import annotations

import random

from poolsmith.guard.ledger.ledger import Ledger, LedgerLine
from poolsmith.guard.ledger.privilege import Privilege
from poolsmith.guard.ledger.reach import Reach, reach_of


def line(pool, workload, container, text, *, origins=(), namespace="gpu-operator"):
    token = Privilege.parse(text)
    return LedgerLine(pool, workload, container, token, reach_of(token), origins, namespace)


LINES = (
    line("a", "DaemonSet/x", "", "host-pid"),
    line("a", "DaemonSet/x", "c", "host-path:/run:ro:none"),
    line("a", "DaemonSet/x", "c", "host-path:/run/nvidia:rw:none"),
    line("a", "DaemonSet/y", "c", "privileged"),
    line("b", "DaemonSet/x", "", "host-pid"),
    line("b", "DaemonSet/x", "", "host-pid", namespace="kube-system"),
)


def test_lines_stand_in_one_order_whatever_order_they_come_in():
    shuffled = list(LINES)
    for seed in range(10):
        random.Random(seed).shuffle(shuffled)
        assert Ledger.of(shuffled) == Ledger(LINES)


def test_what_stands_there_twice_stands_there_once_with_the_origins_of_both():
    one, other = (line("a", "Pod/x", "", "host-pid", origins=origins) for origins in (("p", "q"), ("q", "r")))

    assert Ledger.of([one, other, one]).lines == (line("a", "Pod/x", "", "host-pid", origins=("p", "q", "r")),)


def test_lines_can_be_asked_for_by_pool_workload_namespace_and_reach():
    ledger = Ledger(LINES, ("something",))

    assert ledger.only(pool="b").lines == LINES[4:]
    assert ledger.only(workload="DaemonSet/y").lines == (LINES[3],)
    assert ledger.only(namespace="kube-system").lines == (LINES[5],)
    assert ledger.only(reach=Reach.NODE_READ).lines == (LINES[1],)
    assert ledger.only(pool="a", workload="DaemonSet/x", reach=Reach.NODE_WRITE).lines == (LINES[0], LINES[2])
    assert ledger.only(pool="c") == Ledger((), ("something",))


def test_a_ledger_knows_its_pools_and_workloads():
    assert Ledger(LINES).pools == ("a", "b")
    assert Ledger(LINES).workloads == ("DaemonSet/x", "DaemonSet/y")
    assert LINES[3].workload_name == "y"


def test_unknowns_are_sorted_and_once():
    assert Ledger.of((), ["b", "a", "b"]).unknown == ("a", "b")
