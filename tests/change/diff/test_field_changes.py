"""What differs between two documents: by name where things have names, never as text, and without secrets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.kubernetes.server.field_changes import Standing, field_changes

ADDED, REMOVED, CHANGED = Standing.ADDED, Standing.REMOVED, Standing.CHANGED


def found(old, new, **options):
    return [(item.pointer, item.standing, item.old, item.new) for item in field_changes(old, new, **options)]


def containers(*items):
    return {"spec": {"containers": list(items)}}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
        ({"a": True}, {"a": 1}, [("/a", CHANGED, True, 1)]),
        ({"a": "1"}, {"a": 1}, [("/a", CHANGED, "1", 1)]),
        ({}, {"a": {"b": 1}}, [("/a", ADDED, None, {"b": 1})]),
        ({"a/b": 1}, {}, [("/a~1b", REMOVED, 1, None)]),
        ({"args": ["-a", "-b"]}, {"args": ["-b", "-a"]}, [("/args", CHANGED, ["-a", "-b"], ["-b", "-a"])]),
        ({"verbs": ["get", "list"]}, {"verbs": ["list", "get"]}, []),
        (
            {"tolerations": [{"key": "a", "operator": "Exists"}, {"key": "b"}]},
            {"tolerations": [{"key": "b"}, {"key": "a", "operator": "Exists"}]},
            [],
        ),
        (
            {"tolerations": [{"key": "a", "operator": "Exists"}]},
            {"tolerations": [{"operator": "Exists"}, {"key": "a", "operator": "Exists"}]},
            [("/tolerations/Exists", ADDED, None, {"operator": "Exists"})],
        ),
        (
            {"rules": [{"verbs": ["get"]}, {"verbs": ["list"]}]},
            {"rules": [{"verbs": ["list"]}, {"verbs": ["get"]}]},
            [],
        ),
        (None, None, []),
        ([], {}, [("", CHANGED, [], {})]),
    ],
)
def test_documents_are_compared_as_what_they_mean(old, new, expected):
    assert found(old, new) == expected


def test_one_more_container_in_front_changes_nothing_of_the_others():
    first, second = {"name": "a", "image": "x"}, {"name": "b", "image": "y"}

    assert found(containers(first), containers(second, first)) == [("/spec/containers/b", ADDED, None, second)]


def test_variables_are_compared_by_name():
    old = containers({"name": "a", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]})
    new = containers({"name": "a", "env": [{"name": "B", "value": "3"}, {"name": "A", "value": "1"}]})

    assert found(old, new) == [("/spec/containers/a/env/B/value", CHANGED, "2", "3")]


def test_variables_that_stand_twice_are_one_list():
    old = {"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}
    new = {"env": [{"name": "A", "value": "2"}, {"name": "A", "value": "1"}]}

    assert [item[0] for item in found(old, new)] == ["/env"]


def test_leaves_are_told_one_by_one_where_that_is_asked_for():
    assert found({}, {"a": {"b": 1, "c": {}}}, leaves=True) == [("/a/b", ADDED, None, 1), ("/a/c", ADDED, None, {})]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"password": "hunter2hunter2"}, {"password": "hunter3hunter3"}),
        ({"kind": "Secret", "data": {"a": "aHVudGVyMg=="}}, {"kind": "Secret", "data": {"a": "aHVudGVyMw=="}}),
        ({"kind": "Secret", "stringData": {"a": "hunter2"}}, {"kind": "Secret", "stringData": {}}),
        (
            {"env": [{"name": "NGC_API_KEY", "value": "hunter2hunter2"}]},
            {"env": [{"name": "NGC_API_KEY", "value": "hunter3"}]},
        ),
        ({"args": ["--token", "hunter2hunter2"]}, {"args": ["--token", "hunter3hunter3"]}),
        ({"url": "https://me:hunter2@example.com"}, {"url": "https://me:hunter3@example.com"}),
        ({"a": {"b": {"clientSecret": "hunter2hunter2"}}}, {"a": {"b": {}}}),
        ({"a": 1}, {"a": {"token": "hunter2hunter2"}}),
    ],
)
def test_secrets_are_masked_wherever_they_stand(old, new):
    shown = repr(found(old, new))

    assert "/" in shown
    assert not any(text in shown for text in ("hunter", "aHVudGVy"))


SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(("", "a", "b/c", "~"))
NAMED = st.lists(st.fixed_dictionaries({"name": st.sampled_from("abc"), "value": SCALARS}), max_size=3)
TREES = st.recursive(
    SCALARS | NAMED,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("a", "env", "args", "x/y")), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(old=TREES, new=TREES)
def test_whatever_differs_is_told_and_the_other_way_round(old, new):
    there, back = field_changes(old, new), field_changes(new, old)
    opposite = {ADDED: REMOVED, REMOVED: ADDED, CHANGED: CHANGED}

    assert [(item.pointer, item.old, item.new) for item in there] == [
        (item.pointer, item.new, item.old) for item in back
    ]
    assert [opposite[item.standing] for item in there] == [item.standing for item in back]
    assert field_changes(old, old) == ()
    if not there:
        assert old == new or repr(sorted(map(repr, _leaves(old)))) == repr(sorted(map(repr, _leaves(new))))


def _leaves(value):
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]
