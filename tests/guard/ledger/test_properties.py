"""What holds of all privileges: one text for each, a partial order, a reach that grows with it, deltas that add up."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from poolsmith.guard.ledger.ledger import Ledger, LedgerLine, line_order
from poolsmith.guard.ledger.ledger_delta import ChangeKind, applied, delta
from poolsmith.guard.ledger.privilege import (
    ACCESS,
    NON_RESOURCE,
    PROPAGATION,
    Privilege,
    covers,
    privilege,
    rbac,
    widens,
)
from poolsmith.guard.ledger.reach import reach_of, reach_table
from support.change_words import in_words

TEXTS = st.text(st.sampled_from("a:%/@#*.") | st.characters(), min_size=1, max_size=6)
FEW = st.sampled_from
PATHS = st.lists(FEW(("a", "b", "..", ".", "", "a:b", "%2F")), max_size=4).map(lambda parts: "/" + "/".join(parts))
MOUNTS = st.builds(privilege, st.just("host-path"), PATHS, FEW(ACCESS), FEW(PROPAGATION))
RIGHTS = st.builds(
    rbac,
    FEW(("core", "*", "apps", NON_RESOURCE)),
    FEW(
        (
            "pods",
            "pods/log",
            "nodes",
            "nodes/log",
            "secrets",
            "*",
            "*/log",
            "*/status",
            "/a",
            "/a*",
            "/ab",
            "*/",
            "a/b/c",
        )
    ),
    FEW(("get", "list", "patch", "use", "*", "escalate")),
    FEW((None, "x", "y")),
    FEW(("", "n")),
)
OTHERS = FEW(
    (
        *map(Privilege, ("privileged", "allow-escalation", "run-as-root", "host-pid", "host-ipc", "host-network")),
        *(Privilege("capability", (name,)) for name in ("ALL", "SYS_ADMIN", "CHOWN", "INVENTED")),
        *(Privilege("host-port", (port,)) for port in ("80", "443")),
        *(Privilege("sysctl", (name,)) for name in ("net.core.somaxconn", "kernel.core_pattern")),
    )
)
ODD = st.one_of(
    st.builds(
        privilege,
        FEW(("capability", "selinux", "sysctl")),
        TEXTS.filter(lambda text: not text.upper().endswith("CAP_")),
    ),
    st.builds(lambda path: privilege("host-path", f"/{path}", "ro", "none"), TEXTS),
    st.builds(rbac, TEXTS, TEXTS, TEXTS, st.none() | TEXTS, st.just("") | TEXTS),
)
PRIVILEGES = MOUNTS | RIGHTS | OTHERS
LINES = st.builds(
    lambda pool, workload, container, token: LedgerLine(pool, workload, container, token, reach_of(token), (), "ns"),
    FEW(("a", "b", "*", "-")),
    FEW(("DaemonSet/x", "DaemonSet/y")),
    FEW(("", "c")),
    PRIVILEGES,
)
LEDGERS = st.lists(LINES, max_size=12).map(Ledger.of)


@given(PRIVILEGES | ODD)
def test_what_is_written_is_read_as_the_same(token):
    text = str(token)

    assert Privilege.parse(text) == token
    assert str(Privilege.parse(text)) == text


@given(PRIVILEGES | ODD, PRIVILEGES | ODD)
def test_different_privileges_have_different_texts(one, other):
    assert (one == other) == (str(one) == str(other))


@given(PRIVILEGES | ODD)
def test_each_privilege_covers_itself(token):
    assert covers(token, token)
    assert not widens(token, token)


@given(PRIVILEGES, PRIVILEGES)
def test_two_privileges_that_cover_each_other_are_one(one, other):
    assert (covers(one, other) and covers(other, one)) == (one == other)


@given(st.data(), FEW((MOUNTS, RIGHTS)))
def test_what_covers_something_covers_all_that_it_covers(data, tokens):
    one, two, three = (data.draw(tokens) for _ in range(3))

    if covers(one, two) and covers(two, three):
        assert covers(one, three)


@given(RIGHTS | MOUNTS | OTHERS, RIGHTS | MOUNTS | OTHERS)
def test_the_wider_privilege_never_reaches_less_far(one, other):
    if covers(one, other):
        assert reach_of(one) <= reach_of(other)


@given(PRIVILEGES | ODD)
def test_the_table_has_a_line_for_each_privilege(token):
    assert any(row.touches(token) for row in reach_table())
    assert reach_of(token) in {row.reach for row in reach_table() if row.touches(token)}


@given(LEDGERS)
def test_nothing_changed_is_an_empty_delta(ledger):
    assert not delta(ledger, ledger)


@given(LEDGERS, LEDGERS)
def test_a_delta_applied_to_the_old_ledger_gives_the_new_one(old, new):
    assert applied(old, delta(old, new)) == new


@given(LEDGERS, LEDGERS)
def test_each_line_that_comes_or_goes_is_in_one_change(old, new):
    before, after = ({line_order(line) for line in ledger.lines} for ledger in (old, new))
    gone, come = Counter(), Counter()
    for change in delta(old, new).changes:
        for privileges, pools, counted in (
            (change.old, change.pools_before, gone),
            (change.new, change.pools_after, come),
        ):
            for pool in pools:
                line = LedgerLine(
                    pool, change.workload, change.container, privileges, change.reach, (), change.namespace
                )
                counted[line_order(line)] += 1

    assert gone == Counter(before - after)
    assert come == Counter(after - before)


@given(LEDGERS, LEDGERS)
def test_a_kind_of_change_is_what_it_says(old, new):
    for change in delta(old, new).changes:
        match change.kind:
            case ChangeKind.WIDENED:
                assert widens(change.old, change.new)
                assert change.pools_before == change.pools_after
            case ChangeKind.NARROWED:
                assert widens(change.new, change.old)
                assert change.pools_before == change.pools_after
            case ChangeKind.MOVED:
                assert change.old == change.new
                assert set(change.pools_before).isdisjoint(change.pools_after)
            case ChangeKind.ADDED:
                assert (change.old, change.pools_before) == (None, ())
            case ChangeKind.REMOVED:
                assert (change.new, change.pools_after) == (None, ())
        assert in_words(change).endswith(".")


@given(st.lists(LINES, max_size=12), st.randoms())
def test_the_order_of_lines_changes_nothing(lines, random):
    shuffled = list(lines)
    random.shuffle(shuffled)

    assert Ledger.of(shuffled) == Ledger.of(lines)
    assert delta(Ledger(), Ledger.of(shuffled)) == delta(Ledger(), Ledger.of(lines))
