"""Kubernetes quantities in what operands are made of."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from poolsmith.operands.kube import NotModelled
from poolsmith.profiles.quantity import QuantityError, canonical_quantity

_QUANTITY = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))([eE][+-]?\d+|[A-Za-z]{0,2})", re.ASCII)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_STEP = 1024
_LARGEST = 2**63 - 1


def canonical(value: Any) -> str:
    """`0.5` is 500m, `1024Mi` is 1Gi. Raises NotModelled for what is none, or beyond 63 bits."""
    if abs(amount(value)) >= _LARGEST:
        raise _none(value)
    try:
        return canonical_quantity(str(value))
    except QuantityError:
        raise _none(value) from None


def amount(value: Any) -> Decimal:
    """What a quantity is worth. Raises NotModelled for what is none."""
    found = _QUANTITY.fullmatch(str(value))
    if found is None:
        raise _none(value)
    number, suffix = Decimal(found[1]), found[2]
    try:
        if suffix in _BINARY[1:]:
            return number * Decimal(_STEP ** _BINARY.index(suffix))
        if suffix in _DECIMAL:
            return number.scaleb(_DECIMAL[suffix])
        if suffix[0] in "eE" and suffix[1:]:
            return number.scaleb(int(suffix[1:]))
    except (ArithmeticError, ValueError):
        pass
    raise _none(value)


def _none(value: Any) -> NotModelled:
    return NotModelled(f"a quantity that cannot be read: {str(value)[:40]}")
