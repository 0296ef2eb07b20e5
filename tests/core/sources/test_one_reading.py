"""Each form that readers of YAML take in different ways is told at its place, with what to write; others are not."""

from __future__ import annotations

import pytest

from poolsmith.core.sources.one_reading import MAX_PROBLEMS, ambiguities
from poolsmith.core.sources.yaml_reader import read_documents
from support.marked import unmarked

ODD = {
    "a carriage return between documents": "a: b«\r---\nc: d\n",
    "a carriage return in a value": 'a: "b«\rc"\n',
    "next line": "a: b«\x85c: d\n",
    "a line separator in a comment": "# a«\u2028b: c\n",
    "a paragraph separator": 'a: "«\u2029"\n',
    "a byte-order mark inside": 'a: "b«\ufeff"\n',
    "the end of a document": "a: b\n«...\n---\nc: d\n",
    "a version": "«%YAML 1.1\n---\na: b\n",
    "names of tags": "«%TAG ! x:\n---\na: b\n",
    "a tag of a text": "a: «!!str 5\n",
    "a tag of a number": "a: «!!int '5'\n",
    "a tag of nobody": "a: «!x 5\n",
    "a tag of a mapping": "a: «!!map {b: c}\n",
    "a tag of a list": "a: «!!seq [b]\n",
    "no tag": "a: «! 5\n",
    "a merge": "a: &a {b: c}\nd:\n  «<<: *a\n",
    "a key that is quoted and looks like a merge": "a: {«'<<': c}\n",
    "an alias as a key": "a: &a b\nc: {«*a : d}\n",
    "an anchor twice": "a: &a b\nc: «&a d\ne: *a\n",
    "yes": "a: «yes\n",
    "Off": "a: [b, «Off]\n",
    "n as a key": "a: {«n: c}\n",
    "a number as a key": "a: {«1: c}\n",
    "a boolean as a key": "a: {«true: c}\n",
    "octal": "a: «0777\n",
    "octal of YAML 1.2": "a: «0o17\n",
    "leading zeros": "a: «08\n",
    "hexadecimal": "a: «0x1F\n",
    "binary": "a: «0b11\n",
    "places parted": "a: «1_000\n",
    "base 60": "a: «1:30\n",
    "a plus": "a: «+1\n",
    "no digit before the point": "a: «.5\n",
    "no digit after the point": "a: «1.\n",
    "more than 64 bits": "a: «18446744073709551616\n",
    "too large": "a: «1e400\n",
    "a date": "a: «2024-01-01\n",
    "a short date": "a: «2024-1-1\n",
    "a moment": "a: «2024-01-01T00:00:00Z\n",
    "no value in braces": "a: {b«}\n",
    "no blank after the colon": "a: {b:1«}\n",
    "an empty value in braces": "a: {b: «, c: d}\n",
    "an escaped slash": 'a: «"b\\/c"\n',
    "a control character": 'a: «"\\x7f"\n',
    "a next line that is escaped": 'a: «"\\N"\n',
    "a tab at the beginning of a block": "a: «|2\n  \tb\n",
    "an indented line of a folded text": "a: «>-\n  b\n    c\n  d\n",
    "empty lines at the end of a folded text": "a: «>+\n  b\n\n",
    "a text of many lines in a folded expression": "expression: «>-\n  '''b\n    c'''\n",
    "a folded expression that is data": "data:\n  expression: «>-\n    b\n      c\n",
}
EVEN = {
    "a comment with anything": "# yes: 0777 !!str <<\na: b # 1_000\n",
    "line feeds after carriage returns": "a: |\r\n  b\r\n---\r\nc: d\r\n",
    "numbers": "a: [0, -1, 42, 1.5, 1e3, 9223372036854775807]\n",
    "booleans and null": "a: [true, False, null, ~]\nb:\n",
    "quotes": "a: ['yes', \"0777\", '2024-01-01', '<<', '']\n",
    "versions and addresses": "a: [1.2.3, v1, 10.0.0.0/8, nvcr.io/nvidia, 'a:80', pods/*, 10Gi, 100m]\n",
    "an anchor": "a: &a [b]\nc: *a\n---\nd: &a e\n",
    "literal texts": "a: |-\n  b\n    c\n\n  \n  d\ne: |+\n  f\n\n",
    "a folded text": "a: >-\n  b\n  c\n\n  d\n",
    "an indented line of a folded expression": "expression: >-\n  object.spec.all(a,\n    a.b)\n",
    "a folded description": "metadata:\n  annotations:\n    why: >\n      because\n        - of this\n",
    "escapes": 'a: "\\n\\t\\"\\\\\\u00e9\\u2028"\n',
    "letters of others": "a: é 😀\n",
    "empty collections": "a: {}\nb: []\nc: [d, ]\n",
    "markers with comments": "--- # a\na: b\n---\n---\n",
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_taken_in_different_ways_is_told_at_its_place(name):
    text, place = unmarked(ODD[name])

    found = ambiguities(text)

    assert [f"{item.position.line}:{item.position.column}" for item in found] == [place]
    assert found[0].message
    assert found[0].help
    assert found[0].reason == "ambiguous-yaml"


@pytest.mark.parametrize("name", EVEN)
def test_what_is_taken_alike_is_not(name):
    assert read_documents(EVEN[name])
    assert ambiguities(EVEN[name]) == []


def test_of_many_some_are_told():
    assert len(ambiguities("- yes\n" * 1000)) == MAX_PROBLEMS
    assert len(ambiguities("a\r" * 1000)) == MAX_PROBLEMS
