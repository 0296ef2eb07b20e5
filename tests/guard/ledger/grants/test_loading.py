"""Grants as files: what is taken, and each mistake at its line."""

from __future__ import annotations

import datetime as dt

import pytest


def told(problems):
    return [f"{item.primary.span} {item.name}" for item in problems]


def test_a_grant_says_who_may_hold_what_and_until_when(load, grant_text):
    (loaded,), problems = load(grant_text(privileges='[host-pid, "host-path:/run//nvidia/:rw:none"]'))

    assert problems == ()
    assert loaded.grant.name == "driver"
    assert [str(item.privilege) for item in loaded.grant.tokens] == ["host-pid", "host-path:/run/nvidia:rw:none"]
    assert loaded.grant.last_day == dt.date(2027, 6, 30)


def test_verbs_of_one_right_stand_together_and_are_tokens_of_their_own(load, grant_text):
    (loaded,), problems = load(
        grant_text(privileges='["rbac:core/nodes:get,list@cluster", "rbac:core/pods:a%2Cb@ns/x#y"]')
    )

    assert problems == ()
    assert [item.entry for item in loaded.grant.tokens] == [0, 0, 1]
    assert [item.privilege.arguments[2] for item in loaded.grant.tokens] == ["get", "list", "a,b"]


def test_a_file_may_hold_several_grants_and_places_are_those_of_their_documents(load, grant_text):
    text = "# first\n" + grant_text() + "---\n" + grant_text("other", privileges="[hostpid]")
    found, problems = load(text)

    assert [item.grant.name for item in found] == ["driver", "other"]
    assert told(problems) == ["policies/privileges/file-0.yaml:21:16 invalid-value"]
    assert "did you mean `host-pid`?" in problems[0].message


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"cluster": '["*"]'}, ["unknown-field"]),
        ({"clusters": None}, ["missing-field"]),
        ({"workload": "a/b/c"}, ["invalid-name"]),
        ({"workload": "'[ab]'"}, ["invalid-name"]),
        ({"containers": '["driver-*"]'}, ["invalid-name"]),
        ({"images": '["nvcr.io/nvidia/driver:580"]'}, ["invalid-name"]),
        ({"images": '["nvcr.io/nvidia/driver@sha256:0123"]'}, ["invalid-name"]),
        ({"images": '["nvcr.io/*"]'}, ["invalid-name"]),
        ({"privileges": "privileged"}, ["wrong-type"]),
        ({"expires": "20270630"}, ["ambiguous-scalar"]),
    ],
)
def test_a_grant_of_a_wrong_shape_is_told_and_allows_nothing(load, grant_text, fields, expected):
    found, problems = load(grant_text(**fields))

    assert found == ()
    assert [item.name for item in problems] == expected


@pytest.mark.parametrize(
    "token",
    [
        "host-path:run:rw:none",
        "host-path:/run:w:none",
        "rbac:core/nodes:@cluster",
        "rbac:nodes:get@cluster",
        "x" * 5000,
    ],
)
def test_what_is_no_privilege_is_told_and_the_others_hold(load, grant_text, token):
    (loaded,), problems = load(grant_text(privileges=f'[host-pid, "{token}"]'))

    assert [str(item.privilege) for item in loaded.grant.tokens] == ["host-pid"]
    assert [item.primary.pointer for item in problems] == ["/spec/privileges/1"]
    assert len(problems[0].message) < 600


def test_the_same_privilege_twice_is_told_however_it_is_written(load, grant_text):
    _, problems = load(grant_text(privileges='["host-path:/run:ro:none", "host-path:/run/:ro:none"]'))

    assert [item.name for item in problems] == ["duplicate-item"]


@pytest.mark.parametrize("day", ["2027-02-30", "30.6.2027", "soon"])
def test_a_day_that_is_none_is_told(load, grant_text, day):
    (loaded,), problems = load(grant_text(expires=f'"{day}"'))

    assert loaded.grant.last_day is None
    assert [item.primary.pointer for item in problems] == ["/spec/expires"]


@pytest.mark.parametrize("day", [None, '""', "TODO"])
def test_a_day_that_is_still_to_be_said_is_another_rules_business(load, grant_text, day):
    (loaded,), problems = load(grant_text(expires=day))

    assert loaded.grant.last_day is None
    assert problems == ()


def test_names_are_unique_over_all_files(load, grant_text):
    found, problems = load(a=grant_text(), b="\n" + grant_text())

    assert len(found) == 1
    assert told(problems) == ["policies/privileges/b.yaml:4:12 duplicate-name"]
    assert problems[0].related[0].span.path == "policies/privileges/a.yaml"


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "[]\n", "a: [\n", "kind: Pod\n", "a: &a [*a]\n", "\x00", "{" * 10_000]
)
def test_whatever_a_file_holds_is_told_and_never_raised(load, text):
    found, problems = load(text)

    assert found == ()
    assert problems


def test_a_file_of_many_documents_is_composed_once(load, grant_text):
    found, problems = load("---\n".join(grant_text(f"g{number}", privileges="[nope]") for number in range(300)))

    assert len(found) == len(problems) == 300
    assert problems[-1].primary.span.start.line == 299 * 12 + 8
