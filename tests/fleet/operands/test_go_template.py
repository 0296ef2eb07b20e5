"""What a template makes of values, and what Kubernetes reads back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.kubernetes.helm.go_template import (
    SetInteger,
    TemplateError,
    as_data,
    is_true,
    look_up,
    plain,
    printed,
    quoted,
)


@pytest.mark.parametrize("value", [None, False, 0, 0.0, "", [], {}, SetInteger(0)], ids=repr)
def test_false_to_a_guard(value):
    assert not is_true(value)


@pytest.mark.parametrize("value", [True, 1, -1, 0.5, "false", "0", " ", [None], {"a": None}], ids=repr)
def test_true_to_a_guard(value):
    assert is_true(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "true"),
        (550, "550"),
        (570.1, "570.1"),
        (123456.0, "123456"),
        (1000000, "1e+06"),
        (1234567, "1.234567e+06"),
        (-20000000, "-2e+07"),
        (SetInteger(1000000), "1000000"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        ([1, "a", None], "[1 a <nil>]"),
        ({"b": 1, "a": True}, "map[a:true b:1]"),
    ],
    ids=repr,
)
def test_printed(value, text):
    assert printed(value) == text


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("yes", True),
        ("off", False),
        ("1e3", 1000),
        ("0777", 511),
        ("570.10", 570.1),
        ("550", 550),
        ("", None),
        ("~", None),
        ("null", None),
        (True, True),
        (12, 12),
        (1000000, 1000000),
        ("v1.2", "v1.2"),
        ("nvcr.io/nvidia:5000/x", "nvcr.io/nvidia:5000/x"),
        ("sha256:0a", "sha256:0a"),
        ("25%", "25%"),
        ("a#b", "a#b"),
        ("  a\n", "a"),
        ([], []),
        (["a"], ["a"]),
        ("'quoted'", "quoted"),
    ],
    ids=repr,
)
def test_without_quotes_a_value_is_typed_anew(value, read):
    assert plain(value, "x") == read
    assert type(plain(value, "x")) is type(read)


@pytest.mark.parametrize(
    "value",
    ["a: b", "[a", "*a", "a\nb: c", "@x", ".inf", "a # b", "{a: 1}", "- a", "a\n  b", "'a' # b", ["a: b"], ["a\nb"]],
    ids=repr,
)
def test_text_that_breaks_the_document_is_an_error(value):
    with pytest.raises(TemplateError, match=r"at <\.Values\.driver\.image>"):
        plain(value, "driver.image")


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20))
def test_unquoted_text_never_ends_in_another_error(text):
    try:
        plain(text, "x")
    except TemplateError:
        return


@given(st.text(max_size=20))
def test_a_quoted_string_is_that_string(text):
    assert quoted(text) == text


@pytest.mark.parametrize(("value", "text"), [(None, None), (550, "550"), (True, "true"), (0, "0"), ("", "")], ids=repr)
def test_quoted(value, text):
    assert quoted(value) == text


def test_a_missing_last_key_is_null_and_anything_above_is_an_error():
    values = {"driver": {"rdma": None, "image": "driver"}}

    assert look_up(values, ("driver", "nothing")) is None
    with pytest.raises(TemplateError, match=r"nil pointer evaluating interface \{\}\.enabled"):
        look_up(values, ("driver", "rdma", "enabled"))
    with pytest.raises(TemplateError, match=r"`driver\.image` is not a map"):
        look_up(values, ("driver", "image", "tag"))


def test_an_integer_of_set_comes_back_as_an_integer_like_others():
    (number,) = as_data({"a": [SetInteger(3)]}, "a")["a"]

    assert (number, type(number)) == (3, int)
