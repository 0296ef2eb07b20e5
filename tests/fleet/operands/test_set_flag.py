"""`--set` as Helm reads it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.kubernetes.helm.set_flag import SetError, apply_set


def read(text, values=None):
    values = {} if values is None else values
    apply_set(values, text)
    return values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a=1", {"a": 1}),
        ("a=true,b=FALSE,c=null", {"a": True, "b": False, "c": None}),
        ("a=0,b=07,c=-3,d=1.5,e=1e3", {"a": 0, "b": "07", "c": -3, "d": "1.5", "e": "1e3"}),
        ("a=,b=x", {"a": "", "b": "x"}),
        ("a.b.c=x", {"a": {"b": {"c": "x"}}}),
        ("a.b=1,a.c=2", {"a": {"b": 1, "c": 2}}),
        (r"a\.b=1", {"a.b": 1}),
        (r"nodeSelector.kubernetes\.io/os=linux", {"nodeSelector": {"kubernetes.io/os": "linux"}}),
        (r"a=x\,y,b=z", {"a": "x,y", "b": "z"}),
        (r"a=x\\y", {"a": "x\\y"}),
        ("a=b=c", {"a": "b=c"}),
        ("a={x,y}", {"a": ["x", "y"]}),
        ("a={1,true,null}", {"a": [1, True, None]}),
        ("a={},b=1", {"a": [], "b": 1}),
        ("a={x},b=1", {"a": ["x"], "b": 1}),
        ("a[0]=x", {"a": ["x"]}),
        ("a[1]=x", {"a": [None, "x"]}),
        ("a[0].b=1,a[0].c=2,a[1].b=3", {"a": [{"b": 1, "c": 2}, {"b": 3}]}),
        ("a[0][1]=x", {"a": [[None, "x"]]}),
        ("a.b[0].c=x", {"a": {"b": [{"c": "x"}]}}),
        ("a=99999999999999999999", {"a": "99999999999999999999"}),
        ("", {}),
        ("a=1,", {"a": 1}),
    ],
    ids=str,
)
def test_grammar(text, values):
    assert read(text) == values


def test_it_writes_into_what_the_files_say():
    values = {"env": [{"name": "A", "value": "1"}], "driver": {"image": "x"}, "toolkit": "text"}

    assert read("env[0].value=2,driver.version=3,toolkit.enabled=false", values) == {
        "env": [{"name": "A", "value": 2}],
        "driver": {"image": "x", "version": 3},
        "toolkit": {"enabled": False},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "key `a` has no value"),
        ("a,b=1", "cannot end with `,`"),
        ("a.", "has no value"),
        ("a={x", "must end with `}`"),
        ("a[0=x", "closing"),
        ("a[x]=1", "not a number"),
        ("a[-1]=1", "not a number"),
        ("a[65537]=1", "greater than 65536"),
        ("a[0]", "has no value"),
        (".".join("a" * 40) + "=1", "nested deeper than 30"),
    ],
    ids=str,
)
def test_mistakes(text, message):
    with pytest.raises(SetError, match=message):
        read(text)


@given(st.text(alphabet="ab.=,[]{}\\01 ", max_size=20))
def test_any_text_is_values_or_a_set_error(text):
    try:
        read(text)
    except SetError:
        return
