"""Plain scalars mean what sigs.k8s.io/yaml makes of them; every expectation was measured against v1.4.0."""

from __future__ import annotations

import pytest

from poolsmith.core.sources.scalars import NotJsonError, key_text, resolve_plain

BOOLEANS = {
    True: ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"],
    False: ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"],
}

NUMBERS = {
    "0": 0,
    "-0": 0,
    "12": 12,
    "+12": 12,
    "-12": -12,
    "0777": 511,
    "-0777": -511,
    "+0777": 511,
    "0o777": 511,
    "0O17": 15,
    "08": 8,
    "0_8": 8,
    "09.5": 9.5,
    "0x1F": 31,
    "0X1f": 31,
    "-0x1F": -31,
    "0x_1F": 31,
    "0b11": 3,
    "0B11": 3,
    "-0b1": -1,
    "0b-1": -1,
    "0b+1": 1,
    "1_000": 1000,
    "1__0": 10,
    "1_": 1,
    "0_7": 7,
    "1_0.5_0": 10.5,
    "1e3": 1000,
    "1E3": 1000,
    "1.5e3": 1500,
    "1e-7": 1e-7,
    "1e-400": 0,
    "1.0": 1,
    "1.": 1,
    "-0.0": 0,
    "22.04": 22.04,
    "22.10": 22.1,
    ".5": 0.5,
    "+.5": 0.5,
    "-.5": -0.5,
    ".5e3": 500,
    ".5_5": 0.55,
    "+.5_5": 0.55,
    ".5e1_0": 5_000_000_000,
    "5047e85": 5047e85,
    "9007199254740993": 9007199254740993,
    "9223372036854775807": 2**63 - 1,
    "18446744073709551615": 2**64 - 1,
    "0xFFFFFFFFFFFFFFFF": 2**64 - 1,
    "+18446744073709551615": 18446744073709551616,
    "18446744073709551616": 18446744073709551616,
    "-9223372036854775808": -(2**63),
    "1e20": 10**20,
    "1e21": 1e21,
    "99999999999999999999": 10**20,
}

STRINGS = [
    "yEs",
    "tRUE",
    "nULL",
    "None",
    "12:30",
    "12:30:00",
    "0:0",
    "2024-01-01",
    "2024-01-01T00:00:00Z",
    "=",
    "<<",
    "+",
    "-",
    ".",
    "..",
    ".5.",
    ".5_",
    ".e3",
    ".inF",
    "inf",
    "nan",
    "_1",
    "0b",
    "0b2",
    "0o",
    "0o9",
    "0x",
    "0xg",
    "0x1p3",
    "0x1FFFFFFFFFFFFFFFF",
    "0b1-1",
    "--1",
    "+-1",
    "1e",
    "1e+",
    "1.2.3",
    "v1.2.3",
    "550.90.07",
    "1e400",
    "-1e400",
    ".1e999",
    "12e34567",
    "0x" + "9" * 5000,
    "9" * 5000,
    "0b-" + "1" * 64,
    "a100",
    "é",
]


@pytest.mark.parametrize(("text", "value"), [(text, value) for value, texts in BOOLEANS.items() for text in texts])
def test_a_word_is_a_boolean(text, value):
    assert resolve_plain(text) is value


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL"])
def test_a_word_is_null(text):
    assert resolve_plain(text) is None


@pytest.mark.parametrize(("text", "value"), NUMBERS.items())
def test_a_number_has_the_value_that_go_gives_it(text, value):
    resolved = resolve_plain(text)

    assert resolved == value
    assert type(resolved) is type(value)


@pytest.mark.parametrize("text", STRINGS, ids=lambda text: text[:24])
def test_anything_else_stays_a_string(text):
    assert resolve_plain(text) == text


@pytest.mark.parametrize("text", [".inf", ".Inf", ".INF", "+.inf", "-.inf", "-.INF", ".nan", ".NaN", ".NAN"])
def test_infinity_and_not_a_number_have_no_json_form(text):
    with pytest.raises(NotJsonError):
        resolve_plain(text)


@pytest.mark.parametrize("text", ["+.nan", "-.NaN"])
def test_a_signed_nan_is_only_a_string(text):
    assert resolve_plain(text) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (False, "false"), (5, "5"), (511, "511"), (1.5, "1.5"), (1e21, "1e+21"), ("a", "a")],
)
def test_a_key_is_spelt_as_json_spells_it(value, text):
    assert key_text(value) == text
