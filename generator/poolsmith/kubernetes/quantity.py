"""Kubernetes quantities, as they read once they were parsed and written again.

Rules: kubernetes/apimachinery:pkg/api/resource. What counts as canonical there is kept as it was written, be it so or
not (`+5`, `1.500`); the rest is written anew: `0.5` is 500m, `1024Mi` is 1Gi.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from poolsmith.core.pattern import pattern

_QUANTITY = pattern(r"([+-]?)0*+(\d*+)(?:\.(\d*+))?([eEinumkKMGTP]*+(?:[+-]?\d*+)?)", re.ASCII)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_LETTERS = {power: letter for letter, power in _DECIMAL.items()}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_BINARY_LETTERS = ("", *_BINARY)
_EXPONENT = pattern(r"[eE]([+-]?\d{1,4})", re.ASCII)
_STEP = 1024
_LARGEST = (1 << 63) - 1
_SMALLEST = -9
_FAST_DIGITS = 18
_FAST_BINARY_DIGITS = 14
_LONGEST = 200


class QuantityError(ValueError):
    """A text that is no quantity, or is longer or larger than anybody means."""


@lru_cache(maxsize=4096)
def canonical_quantity(text: str) -> str:
    """Raises QuantityError."""
    found = _QUANTITY.fullmatch(text) if 0 < len(text) <= _LONGEST else None
    if found is None:
        raise QuantityError(text)
    sign, whole, fraction, suffix = found[1], found[2], found[3] or "", found[4]
    if suffix in _BINARY:
        return _binary(text, sign, whole, fraction, _BINARY[suffix])
    if suffix in _DECIMAL:
        return _decimal(text, sign, whole, fraction, _DECIMAL[suffix], letters=True)
    exponent = _EXPONENT.fullmatch(suffix)
    if exponent is None:
        raise QuantityError(text)
    return _decimal(text, sign, whole, fraction, int(exponent[1]), letters=False)


def amount_of(value: object) -> Decimal | None:
    """What a quantity is worth; None for what is none."""
    try:
        return quantity_amount(str(value))
    except QuantityError:
        return None


def quantity_amount(text: str) -> Decimal:
    """What a quantity is worth. Raises QuantityError."""
    found = _QUANTITY.fullmatch(text) if 0 < len(text) <= _LONGEST else None
    if found is None or not any(map(str.isdigit, text[: found.start(4)])):
        raise QuantityError(text)
    number, suffix = Decimal(f"{found[1]}{found[2] or '0'}.{found[3] or '0'}"), found[4]
    if suffix in _BINARY:
        return number * (1 << _BINARY[suffix])
    exponent = _EXPONENT.fullmatch(suffix)
    if suffix not in _DECIMAL and exponent is None:
        raise QuantityError(text)
    return number.scaleb(_DECIMAL[suffix] if exponent is None else int(exponent[1]))


def _decimal(text: str, sign: str, whole: str, fraction: str, exponent: int, *, letters: bool) -> str:
    digits, power = (whole or "0") + fraction, exponent - len(fraction)
    if len(digits) <= _FAST_DIGITS and power >= _SMALLEST:
        if power % 3 == 0 and not digits.endswith("000") and digits[0] != "0":
            return text
        return _in_thousands(sign, int(digits), power, letters=letters)
    amount, power = _no_finer_than_a_billionth(text, whole, fraction, int(digits), power)
    return _in_thousands(sign, amount, power, letters=letters)


def _binary(text: str, sign: str, whole: str, fraction: str, bits: int) -> str:
    digits = whole or "0"
    if not fraction and len(digits) + bits * 3 // 10 <= _FAST_BINARY_DIGITS:
        amount = int(digits)
        if amount & 7:
            return text
        power = 0
        amount <<= bits
    else:
        amount, power = _no_finer_than_a_billionth(
            text, whole, fraction, int(digits + fraction) << bits, -len(fraction)
        )
    unit = 10**-power
    if amount > _LARGEST * unit:
        amount, unit, power = _LARGEST, 1, 0
    if amount < _STEP * unit or amount % unit:
        return _in_thousands(sign, amount, power, letters=True)
    amount //= unit
    times = 0
    while amount >= _STEP and amount % _STEP == 0:
        amount //= _STEP
        times += 1
    return f"{_minus(sign)}{amount}{_BINARY_LETTERS[times]}"


def _no_finer_than_a_billionth(text: str, whole: str, fraction: str, amount: int, power: int) -> tuple[int, int]:
    if not whole and not fraction and "0" not in text:
        raise QuantityError(text)
    if power < _SMALLEST:
        amount = -(-amount // 10 ** (_SMALLEST - power))
        power = _SMALLEST
    return amount, power


def _in_thousands(sign: str, amount: int, power: int, *, letters: bool) -> str:
    """The largest power of a thousand that leaves a whole number. A power without a letter gets none, as upstream."""
    if not amount:
        return "0"
    while amount % 10 == 0:
        amount //= 10
        power += 1
    amount, power = amount * 10 ** (power % 3), power - power % 3
    suffix = _LETTERS.get(power, "") if letters else f"e{power}" if power else ""
    return f"{_minus(sign)}{amount}{suffix}"


def _minus(sign: str) -> str:
    return "-" if sign == "-" else ""
