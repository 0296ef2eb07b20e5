"""Our `toYaml` against what Helm's writer made of the same values: each text below was written by it."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.helm.to_yaml import to_yaml

WRITTEN = [
    (
        {
            "a": "x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x "
        },
        "a: 'x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x\n  x x x x x x x x x x x x x x x x x x x x x '",
    ),
    (
        {
            "b": [
                "'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' 'q' ",
                '"d: # "d: # "d: # "d: # "d: # "d: # "d: # "d: # "d: # "d: # "d: # "d: # "d: # "d: # "d: # "d: # "d: # "d: # "d: # "d: # ',
            ]
        },
        "b:\n- '''q'' ''q'' ''q'' ''q'' ''q'' ''q'' ''q'' ''q'' ''q'' ''q'' ''q'' ''q'' ''q'' ''q''\n  ''q'' ''q'' ''q'' ''q'' ''q'' ''q'' ''q'' ''q'' ''q'' ''q'' ''q'' ''q'' ''q'' ''q''\n  ''q'' ''q'' '\n- '\"d: # \"d: # \"d: # \"d: # \"d: # \"d: # \"d: # \"d: # \"d: # \"d: # \"d: # \"d: # \"d: # \"d:\n  # \"d: # \"d: # \"d: # \"d: # \"d: # \"d: # '",
    ),
    (
        {"a": "a\nb\n", "b": " lead\nx", "c": "t\n\n", "d": ["l\nm"], "e": {"x\ny": 1}},
        "a: |\n  a\n  b\nb: |2-\n   lead\n  x\nc: |+\n  t\n\nd:\n- |-\n  l\n  m\ne:\n  ? |-\n    x\n    y\n  : 1",
    ),
    (
        {
            "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk": [
                "v"
            ]
        },
        "? kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\n: - v",
    ),
    ([[1, [2, []]], {}], "- - 1\n  - - 2\n    - []\n- {}"),
    (
        {"a10": 1, "a2": 2, "a": 3, "B": 4, "1": 5, "10": 6, "2": 7, "_x": 8, "01": 9},
        '_x: 8\n"1": 5\n"01": 9\n"2": 7\n"10": 6\nB: 4\na: 3\na2: 2\na10: 1',
    ),
    (
        {"a": 1.5, "b": 1e21, "c": 1e-07, "d": 9007199254740992, "e": 1e20},
        "a: 1.5\nb: 1e+21\nc: 1e-07\nd: 9007199254740992\ne: 1e+20",
    ),
    ({"a": "😀", "t": "a\tb", "n": "\xa0x", "z": "a\r\nb"}, 'a: "\\U0001F600"\n"n": \xa0x\nt: "a\\tb"\nz: "a\\r\\nb"'),
    (
        {
            "y": "y",
            "d": "2001-01-01",
            "no": "2001-13-01",
            "s": "12:30",
            "f": "1.5:30",
            "x": "0o7",
            "o": "017",
            "u": "1_0",
            "t": "2001-1-1 10:00:00",
            "h": "99:30",
        },
        'd: "2001-01-01"\nf: 1.5:30\nh: "99:30"\n"no": 2001-13-01\no: "017"\ns: "12:30"\nt: "2001-1-1 10:00:00"\nu: "1_0"\nx: "0o7"\n"y": "y"',
    ),
    ("s", "s"),
    ("", '""'),
    (None, "null"),
    ([], "[]"),
    ({}, "{}"),
    (
        {"a": [], "b": {}, "c": None, "d": True, "e": "null", "f": "~", "g": ""},
        'a: []\nb: {}\nc: null\nd: true\ne: "null"\nf: "~"\ng: ""',
    ),
    (
        ["- a", "a: b", "a:", "#a", "a #b", "{a", "*a", "%a", "@a", "a ", "---", "a'b", '"q"', "it's: so"],
        "- '- a'\n- 'a: b'\n- 'a:'\n- '#a'\n- 'a #b'\n- '{a'\n- '*a'\n- '%a'\n- '@a'\n- 'a '\n- '---'\n- a'b\n- '\"q\"'\n- 'it''s: so'",
    ),
    (
        {"a": "word word word word word word word word word word word word word word word word word end"},
        "a: word word word word word word word word word word word word word word word word\n  word end",
    ),
    (
        {
            "a": {
                "b": {
                    "c": [
                        "w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w '"
                    ]
                }
            }
        },
        "a:\n  b:\n    c:\n    - w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w\n      w w w w w w w w w w w w '",
    ),
]


@pytest.mark.parametrize(("value", "text"), WRITTEN)
def test_a_value_is_written_as_helm_writes_it(value, text):
    assert to_yaml(value) == text
