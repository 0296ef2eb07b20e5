"""Amounts of a resource, as Kubernetes writes and compares them. Floor: operands.

Rules: kubernetes/apimachinery:pkg/api/resource. The operator writes every amount anew, in its canonical form.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil

from poolsmith.operands.kube import NotModelled

_AMOUNT = re.compile(r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+))(?P<suffix>[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+|)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_KIBI = Fraction(1024)
_FINEST = -9


def amount(value: object) -> Fraction:
    """What a quantity is worth. Raises NotModelled for a text that is none."""
    number, suffix = _parts(value)
    if suffix in _BINARY:
        return number * _KIBI ** _BINARY[suffix]
    return number * Fraction(10) ** _exponent(suffix)


def canonical(value: object) -> str:
    """The same quantity without fractions, with the largest suffix that leaves a whole number."""
    worth, suffix = amount(value), _parts(value)[1]
    if worth == 0:
        return "0"
    if suffix in _BINARY and worth.denominator == 1 and abs(worth) >= _KIBI:
        return _scaled(worth, {name: _KIBI**power for name, power in {"": 0, **_BINARY}.items()})
    nano = Fraction(10) ** _FINEST
    worth = Fraction(ceil(abs(worth) / nano)) * nano * (1 if worth > 0 else -1)
    if _is_exponent(suffix):
        powers = range(_FINEST, 19, 3)
        return _scaled(worth, {f"e{power}" if power else "": Fraction(10) ** power for power in powers})
    return _scaled(worth, {name: Fraction(10) ** power for name, power in _DECIMAL.items()})


def _parts(value: object) -> tuple[Fraction, str]:
    found = _AMOUNT.fullmatch(str(value).strip())
    if found is None or isinstance(value, bool):
        raise NotModelled(f"the quantity {value!r}")
    return Fraction(found["number"]), found["suffix"]


def _is_exponent(suffix: str) -> bool:
    return len(suffix) > 1 and suffix not in _BINARY


def _exponent(suffix: str) -> int:
    return int(suffix[1:]) if _is_exponent(suffix) else _DECIMAL[suffix]


def _scaled(worth: Fraction, scales: dict[str, Fraction]) -> str:
    name = [name for name, scale in scales.items() if (worth / scale).denominator == 1][-1]
    return f"{worth / scales[name]}{name}"
