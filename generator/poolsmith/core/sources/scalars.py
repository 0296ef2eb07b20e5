"""What a plain YAML scalar means to Kubernetes.

Kubernetes reads YAML with a fork of go-yaml v2 and turns the result into JSON. That is neither YAML 1.1
nor YAML 1.2: `y` is a boolean, `0o777` and `0777` are numbers, `1e3` is one thousand, `12:30` and dates are
strings, and integral floats become integers. Source: sigs.k8s.io/yaml v1.4.0, resolve.go.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from poolsmith.core.pattern import pattern

if TYPE_CHECKING:
    import re

TRUE_WORDS = frozenset(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"))
FALSE_WORDS = frozenset(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"))
NULL_WORDS = frozenset(("", "~", "null", "Null", "NULL"))
_NOT_FINITE = frozenset(
    word for base in (".inf", ".Inf", ".INF") for word in (base, "+" + base, "-" + base)
) | frozenset((".nan", ".NaN", ".NAN"))

_GO_INTEGER = pattern(
    r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)|(?P<dec>0|[1-9][0-9]*))\Z"
)
_FLOAT = pattern(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_DOT_FLOAT = pattern(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?\Z")
_SIGNED_BINARY = pattern(r"(?:0b(?P<signed>[-+]?[01]+)|-0b(?P<negative>[01]+))\Z")
_INT64_MIN, _INT64_MAX, _UINT64_MAX = -(2**63), 2**63 - 1, 2**64 - 1
_INTEGER_DIGITS = 70  # 2**64 in binary, with a sign and a prefix
_JSON_EXPONENT_FROM = 1e21  # encoding/json prints integral floats below this as integers

Scalar = str | int | float | bool | None


class NotJsonError(ValueError):
    """Infinity and not-a-number have no JSON form; Kubernetes refuses the document."""


@lru_cache(maxsize=65536)
def resolve_plain(text: str) -> Scalar:
    """The value that Kubernetes gives to the unquoted scalar `text`.

    Raises NotJsonError for infinities and not-a-number.
    """
    if text in NULL_WORDS:
        return None
    if text in TRUE_WORDS:
        return True
    if text in FALSE_WORDS:
        return False
    first = text[0]
    if first == ".":
        if text in _NOT_FINITE:
            raise NotJsonError(text)
        return _finite(float(text), text) if _DOT_FLOAT.match(text) else text
    if first in "+-0123456789":
        if text in _NOT_FINITE:
            raise NotJsonError(text)
        return _number(text)
    return text


def _number(text: str) -> int | float | str:
    plain = text.replace("_", "")
    if match := _GO_INTEGER.match(plain):
        value = _integer(match)
        if value is not None:
            return value
    if _FLOAT.match(plain):
        return _finite(float(plain), text)
    if match := _SIGNED_BINARY.match(plain):
        value = int(match["signed"] or "-" + match["negative"], 2)
        return value if _INT64_MIN <= value <= _INT64_MAX else text
    return text


def _integer(match: re.Match[str]) -> int | None:
    """The integer, unless it is out of Go's 64 bits. A sign of either kind leaves 63 of them."""
    for group, base in (("hex", 16), ("bin", 2), ("oct", 8), ("dec", 10)):
        if digits := match[group]:
            digits = digits.lstrip("0") or "0"
            if len(digits) > _INTEGER_DIGITS:
                return None
            value = int(match["sign"] + digits, base)
            return value if _INT64_MIN <= value <= (_INT64_MAX if match["sign"] else _UINT64_MAX) else None
    raise AssertionError(match)


def _finite(value: float, text: str) -> int | float | str:
    if math.isinf(value):
        return text  # Go's ParseFloat reports a range error, and the scalar stays a string
    if value.is_integer() and abs(value) < _JSON_EXPONENT_FROM:
        return int(value)
    return value


def text_of(value: object) -> str:
    """As YAML's scalars are read where a text is wanted; of null nothing."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def key_text(value: Scalar) -> str:
    """A mapping key as Kubernetes spells it in JSON. `value` is neither null nor a collection."""
    return text_of(value)
