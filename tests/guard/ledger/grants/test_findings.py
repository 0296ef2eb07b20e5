"""What is said of grants, by what ledgers need of them."""

from __future__ import annotations

import datetime as dt

import pytest

from poolsmith.guard.ledger.grant_check import judge_grants
from poolsmith.guard.ledger.grants.grant_use import GrantUse, ledger_use
from poolsmith.guard.ledger.grants.matching import GrantBook

TODAY = dt.date(2026, 11, 20)


@pytest.fixture
def judged(load, ledger, images_for):
    """The verdict on grants over one cluster named prod, or over ledgers by the names of clusters."""

    def judge(texts, lines, *, clusters=("prod",), complete=True, are_kept=True, unknown=(), days=30):
        loaded, problems = load(*texts)
        assert problems == ()
        book = GrantBook([item.grant for item in loaded])
        found = ledger(*lines)
        uses = [
            GrantUse(
                cluster=name,
                use=ledger_use(found, images_for(found), book, book.of_cluster(name))[0],
                is_known=name not in unknown,
            )
            for name in clusters
        ]
        return judge_grants(loaded, book, uses, are_kept=are_kept, today=TODAY, complete=complete, expiring_days=days)

    return judge


def told(verdict):
    return [f"{item.name} {item.primary.pointer}" for item in verdict.diagnostics]


PRIVILEGED = ("driver", "ctr", "privileged")


def test_a_grant_that_is_just_what_is_needed_is_not_mentioned(judged, grant_text):
    verdict = judged([grant_text(containers="[ctr]", images="[nvcr.io/nvidia/x]")], [PRIVILEGED])

    assert told(verdict) == []
    assert (verdict.grants, verdict.lines, verdict.granted, verdict.not_evaluated) == (1, 1, 1, 0)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"privileges": "[privileged, host-pid]"}, ["/spec/privileges/1"]),
        ({"privileges": '[privileged, "rbac:core/nodes:get,list@cluster"]'}, ["/spec/privileges/1"]),
        ({"containers": "[init, ctr]"}, ["/spec/containers/0"]),
        ({"images": "[nvcr.io/nvidia/x, nvcr.io/nvidia/y]"}, ["/spec/images/1"]),
        ({"pools": '["*", b]'}, ["/spec/pools/1"]),
        ({"clusters": "[prod, edge]"}, ["/spec/clusters/1"]),
        ({"workload": "drivers"}, ["/metadata/name"]),
        ({"clusters": "[edge]"}, ["/metadata/name"]),
        ({"containers": "[init]"}, ["/metadata/name"]),
        ({"pools": "[]"}, ["/metadata/name"]),
    ],
)
def test_what_nothing_needs_is_told_part_by_part(judged, grant_text, fields, expected):
    assert told(judged([grant_text(**fields)], [PRIVILEGED])) == [f"unused-grant {pointer}" for pointer in expected]


def test_of_two_grants_that_say_the_same_the_second_is_not_needed(judged, grant_text):
    verdict = judged([grant_text(), grant_text("other")], [PRIVILEGED])

    assert [(item.name, item.subject) for item in verdict.diagnostics] == [("unused-grant", "other")]


def test_a_wider_privilege_beside_the_exact_one_is_not_needed(judged, grant_text):
    text = grant_text(privileges='["host-path:/:rw:none", "host-path:/run:ro:none"]')

    assert told(judged([text], [("driver", "ctr", "host-path:/run:ro:none")])) == ["unused-grant /spec/privileges/0"]


@pytest.mark.parametrize(
    ("granted", "held", "narrower"),
    [
        ("host-path:/run:rw:none", "host-path:/run/nvidia:rw:none", "`host-path:/run/nvidia:rw:none`"),
        ("host-path:/run:rw:none", "host-path:/run:ro:none", "`host-path:/run:ro:none`"),
        ("host-path:/run:ro:bidirectional", "host-path:/run:ro:none", "`host-path:/run:ro:none`"),
        ("capability:ALL", "capability:SYS_ADMIN", "`capability:SYS_ADMIN`"),
        ("rbac:core/nodes:*@cluster", "rbac:core/nodes:get@cluster", "`rbac:core/nodes:get@cluster`"),
        ("rbac:*/*:get@cluster", "rbac:core/nodes:get@cluster", "`rbac:core/nodes:get@cluster`"),
        ("rbac:core/pods:get@cluster", "rbac:core/pods:get@ns/x", "`rbac:core/pods:get@ns/x`"),
        ("rbac:core/secrets:get@ns/x", "rbac:core/secrets:get@ns/x#y", "`rbac:core/secrets:get@ns/x#y`"),
    ],
)
def test_a_privilege_that_covers_more_than_is_needed_is_told_with_what_would_do(
    judged, grant_text, granted, held, narrower
):
    container = "" if held.startswith("rbac") else "ctr"
    verdict = judged([grant_text(privileges=f'["{granted}"]')], [("driver", container, held)])

    assert told(verdict) == ["wide-grant /spec/privileges/0"]
    assert verdict.diagnostics[0].help == f"write {narrower} instead"


def test_verbs_that_are_needed_of_a_star_are_named_together(judged, grant_text):
    lines = [("driver", "", f"rbac:core/nodes:{verb}@cluster") for verb in ("get", "patch")]
    (found,) = judged([grant_text(privileges='["rbac:core/nodes:*@cluster"]')], lines).diagnostics

    assert found.help == "write `rbac:core/nodes:get,patch@cluster` instead"


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        ("2026-11-19", ["expired-grant /spec/expires"]),
        ("2026-11-20", ["expiring-grant /spec/expires"]),
        ("2026-12-20", ["expiring-grant /spec/expires"]),
        ("2026-12-21", []),
    ],
)
def test_the_last_day_still_holds_and_thirty_days_before_it_are_a_warning(judged, grant_text, day, expected):
    assert told(judged([grant_text(expires=day)], [PRIVILEGED])) == expected


def test_how_many_days_before_is_a_number_of_the_rule(judged, grant_text):
    text = grant_text(expires="2026-12-01")

    assert told(judged([text], [PRIVILEGED], days=10)) == []
    assert told(judged([text], [PRIVILEGED], days=11)) == ["expiring-grant /spec/expires"]


@pytest.mark.parametrize("word", ['""', '"  "', "TODO", "tbd", '"<reason>"', "null", "n/a"])
def test_words_that_stand_in_for_a_reason_are_none(judged, grant_text, word):
    assert told(judged([grant_text(reason=word)], [PRIVILEGED])) == ["grant-without-reason /spec/reason"]


def test_all_that_a_grant_does_not_say_is_told_at_once(judged, grant_text):
    (found,) = judged([grant_text(reason=None, owner=None, expires=None)], [PRIVILEGED]).diagnostics

    assert found.message == "grant `driver` says nothing in `reason`, `owner`, `expires`"


def test_without_a_folder_for_grants_all_lines_are_counted_as_reviewed_by_nobody(judged):
    verdict = judged([], [PRIVILEGED, ("driver", "", "host-pid")], are_kept=False)

    assert [(item.name, str(item.severity)) for item in verdict.diagnostics] == [("no-grants", "note")]
    assert verdict.diagnostics[0].message.startswith("2 lines of ledgers")
    assert verdict.not_evaluated == 2


def test_an_incomplete_run_does_not_tell_what_is_needed_and_says_so(judged, grant_text):
    texts = [grant_text(privileges="[privileged, host-pid]"), grant_text("other", workload="other")]
    verdict = judged(texts, [PRIVILEGED], complete=False)

    assert told(verdict) == []
    assert [item.reason for item in verdict.skipped] == ["not all clusters were looked at"]


def test_a_grant_for_what_could_not_be_foretold_is_not_judged_but_counted(judged, grant_text):
    texts = [grant_text(), grant_text("kata", workload="kata-deploy"), grant_text("edge", clusters="[edge]")]
    verdict = judged(texts, [PRIVILEGED], clusters=("prod", "lab"), unknown=("lab",))

    assert [(item.name, item.subject) for item in verdict.diagnostics] == [("unused-grant", "edge")]
    assert verdict.not_evaluated == 1
    assert "kata" in verdict.skipped[0].what
