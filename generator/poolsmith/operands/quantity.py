"""Kubernetes quantities, as they read once they were parsed and written again. Floor: operands.

Rules: kubernetes/apimachinery:pkg/api/resource.
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Decimal
from typing import Any

from poolsmith.operands.kube import NotModelled

_QUANTITY = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))([eE][+-]?\d+|[A-Za-z]{0,2})", re.ASCII)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_LETTERS = {power: letter for letter, power in _DECIMAL.items()}
_EXPONENTS = {power: f"e{power}" if power else "" for power in _LETTERS}
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_STEP = 1024
_LARGEST = 2**63 - 1
_SMALLEST = Decimal("1e-9")


def canonical(value: Any) -> str:
    """`0.5` is 500m, `1024Mi` is 1Gi. Raises NotModelled for what is none, or beyond 63 bits."""
    number, suffix = _parts(value)
    try:
        if suffix in _BINARY[1:]:
            return _binary(number)
        return _decimal(number, _LETTERS if suffix in _DECIMAL else _EXPONENTS)
    except (ArithmeticError, ValueError):
        raise _none(value) from None


def amount(value: Any) -> Decimal:
    """What a quantity is worth. Raises NotModelled for what is none."""
    return _parts(value)[0]


def _parts(value: Any) -> tuple[Decimal, str]:
    """The worth and the suffix."""
    found = _QUANTITY.fullmatch(str(value))
    if found is None:
        raise _none(value)
    number, suffix = Decimal(found[1]), found[2]
    try:
        if suffix in _BINARY[1:]:
            return number * _STEP ** _BINARY.index(suffix), suffix
        if suffix in _DECIMAL:
            return number.scaleb(_DECIMAL[suffix]), suffix
        if suffix[0] in "eE" and suffix[1:]:
            return number.scaleb(int(suffix[1:])), suffix
    except (ArithmeticError, ValueError):
        pass
    raise _none(value)


def _none(value: Any) -> NotModelled:
    return NotModelled(f"a quantity that cannot be read: {str(value)[:40]}")


def _decimal(number: Decimal, suffixes: dict[int, str]) -> str:
    """The largest power of a thousand that leaves a whole number; nothing is finer than a billionth."""
    number = _within(number).quantize(_SMALLEST, ROUND_CEILING)
    for power in range(18, -10, -3):
        amount = number.scaleb(-power)
        if amount == amount.to_integral_value():
            return f"{int(amount)}{suffixes[power] if amount else ''}"
    raise AssertionError("a billionth divides it")


def _binary(number: Decimal) -> str:
    if abs(number) < _STEP:
        return _decimal(number, _LETTERS)
    amount = int(_within(number).to_integral_value(ROUND_CEILING))
    power = 0
    while amount % _STEP == 0 and power < len(_BINARY) - 1:
        amount //= _STEP
        power += 1
    return f"{amount}{_BINARY[power]}"


def _within(number: Decimal) -> Decimal:
    if abs(number) >= _LARGEST:
        raise ValueError("beyond 63 bits")
    return number
