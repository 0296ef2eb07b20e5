"""Kubernetes quantities, exact, and semantic versions as blang/semver reads and orders them.

A quantity is `{QUANTITY: [numerator, denominator], "scale": power of ten or None}`; the numbers are decimal text, and
the scale says whether the API server keeps the amount as a whole number.
A version is `{SEMVER: [major, minor, patch, [pre-release parts]]}`. Build metadata has no rank.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Any

from poolsmith.core.pattern import pattern
from poolsmith.kubernetes.cel.errors import CelError
from poolsmith.kubernetes.cel.functions.values import INT64, QUANTITY, SEMVER, marked, parses, text, truth, whole

_QUANTITY = pattern(r"([+-]?)([0-9]*+)(?:\.([0-9]*+))?((?:[eEinumkKMGTP]*+)(?:[+-]?[0-9]*+))", re.ASCII)
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_EXPONENT = pattern(r"[eE]([+-]?[0-9]+)", re.ASCII)
_FACTORS = 18
_NANO = Fraction(1, 10**9)
_LARGEST_EXPONENT = 1000


@lru_cache(maxsize=4096)
def parsed(given: str) -> dict[Any, Any]:
    """Raises ValueError as resource.ParseQuantity."""
    found = _QUANTITY.fullmatch(given)
    if not given or found is None or len(given) > 400:  # noqa: PLR2004
        raise ValueError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
    sign, before, after, suffix = found.group(1), found.group(2), found.group(3) or "", found.group(4)
    base, exponent = _suffix(suffix)
    digits = before.lstrip("0") or "0"
    amount = Fraction(int((before + after) or 0), 10 ** len(after)) * Fraction(base) ** exponent
    scale = (0 if base == 2 else exponent) - len(after)  # noqa: PLR2004
    if base == 2:  # noqa: PLR2004
        room = 15 - len(digits) - int(exponent * 3 / 10) - 1 if not after else -1
    else:
        room = _FACTORS - len(digits) - len(after)
    negative = sign == "-"
    if room >= 0 and scale >= -9 and abs(int(amount / Fraction(10) ** scale)) < INT64:  # noqa: PLR2004
        return _made(-amount if negative else amount, scale)
    if (before + after) == "":
        raise ValueError("unable to parse numeric part of quantity")
    amount = -(-amount // _NANO) * _NANO
    if base == 2 and amount > INT64 - 1:  # noqa: PLR2004
        amount = Fraction(INT64 - 1)
    return _made(-amount if negative else amount, None)


def _suffix(suffix: str) -> tuple[int, int]:
    if suffix in _BINARY:
        return 2, _BINARY[suffix]
    if suffix in _DECIMAL:
        return 10, _DECIMAL[suffix]
    found = _EXPONENT.fullmatch(suffix)
    if found is None or abs(int(found.group(1)[:6])) > _LARGEST_EXPONENT:
        raise ValueError("unable to parse quantity's suffix")
    return 10, int(found.group(1))


def _made(amount: Fraction, scale: int | None) -> dict[Any, Any]:
    return {QUANTITY: [str(amount.numerator), str(amount.denominator)], "scale": scale}


def amount(value: Any) -> Fraction:
    numerator, denominator = marked(value, QUANTITY)[QUANTITY]
    return Fraction(int(numerator), int(denominator))


def quantity(value: Any) -> dict[Any, Any]:
    try:
        return parsed(text(value))
    except ValueError as error:
        raise CelError(str(error)) from None


def is_quantity(value: Any) -> bool:
    return parses(parsed, text(value))


def _as_int64(value: Any) -> int | None:
    scale = marked(value, QUANTITY)["scale"]
    if scale is None or scale < 0:
        return None
    held = amount(value)
    return int(held) if -INT64 <= held < INT64 else None


def is_integer(value: Any) -> bool:
    return _as_int64(value) is not None


def as_integer(value: Any) -> int:
    found = _as_int64(value)
    if found is None:
        raise CelError("cannot convert value to integer")
    return found


def as_float(value: Any) -> float:
    return float(amount(value))


def sign(value: Any) -> int:
    held = amount(value)
    return (held > 0) - (held < 0)


def compare(one: Any, other: Any) -> int:
    left, right = amount(one), amount(other)
    return (left > right) - (left < right)


def plus(one: Any, other: Any) -> dict[Any, Any]:
    return _sum(one, other, 1)


def minus(one: Any, other: Any) -> dict[Any, Any]:
    return _sum(one, other, -1)


def _sum(one: Any, other: Any, factor: int) -> dict[Any, Any]:
    left = amount(one)
    if isinstance(other, dict):
        right, scale = amount(other), other["scale"]
    else:
        right, scale = Fraction(whole(other)), 0
    first = one["scale"]
    result = left + factor * right
    if first is None or scale is None:
        return _made(result, None)
    kept = first if right == 0 else scale if left == 0 else min(first, scale)
    fits = abs(result / Fraction(10) ** kept) < INT64
    return _made(result, kept if fits else None)


_VERSION = pattern(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?", re.ASCII
)
_LARGEST = 2**64


def parsed_version(value: str) -> dict[Any, Any]:
    """Raises ValueError."""
    found = _VERSION.fullmatch(value)
    if found is None:
        raise ValueError(_reason(value))
    numbers = [int(one) for one in found.groups()[:3]]
    if max(numbers) >= _LARGEST:
        raise ValueError("number out of range")
    parts = found.group(4).split(".") if found.group(4) is not None else []
    built = found.group(5).split(".") if found.group(5) is not None else []
    if any(not one for one in (*parts, *built)):
        raise ValueError("Prerelease is empty")
    if any(one.isdecimal() and len(one) > 1 and one[0] == "0" for one in parts):
        raise ValueError("Numeric PreRelease version must not contain leading zeroes")
    return {SEMVER: [*map(str, numbers), parts]}


def _reason(value: str) -> str:
    if not value:
        return "Version string empty"
    parts = value.split(".", 2)
    if len(parts) != 3:  # noqa: PLR2004
        return "No Major.Minor.Patch elements found"
    for part, word in zip(parts[:2], ("major", "minor"), strict=True):
        if not part.isdecimal():
            return f'Invalid character(s) found in {word} number "{part[:40]}"'
        if len(part) > 1 and part[0] == "0":
            return f'{word.capitalize()} number must not contain leading zeroes "{part[:40]}"'
    return f'Invalid character(s) found in patch number "{parts[2][:40]}"'


def normalised(value: str) -> str:
    """Without a leading v and leading zeros, with minor and patch."""
    parts = value.removeprefix("v").split(".", 2)
    for at, part in enumerate(parts):
        if len(part) > 1:
            rest = part.lstrip("0")
            parts[at] = rest if rest and rest[0] in "0123456789" else "0" + rest
    if len(parts) < 3:  # noqa: PLR2004
        if any(sign in parts[-1] for sign in "+-"):
            raise ValueError("Short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def semver(value: Any, normalise: Any = False) -> dict[Any, Any]:
    given, loosely = text(value), truth(normalise)
    try:
        return parsed_version(normalised(given) if loosely else given)
    except ValueError as error:
        raise CelError(str(error)) from None


def is_semver(value: Any, normalise: Any = False) -> bool:
    given, loosely = text(value), truth(normalise)
    return parses(lambda word: parsed_version(normalised(word) if loosely else word), given)


def number(value: Any, place: int) -> int:
    return int(marked(value, SEMVER)[SEMVER][place])


def compare_versions(one: Any, other: Any) -> int:
    left, right = marked(one, SEMVER)[SEMVER], marked(other, SEMVER)[SEMVER]
    first, second = [int(part) for part in left[:3]], [int(part) for part in right[:3]]
    if first != second:
        return 1 if first > second else -1
    return _pre_release(left[3], right[3])


def _pre_release(one: list[str], other: list[str]) -> int:
    if not one or not other:
        return bool(other) * 1 - bool(one) * 1
    for left, right in zip(one, other, strict=False):
        if left == right:
            continue
        if left.isdecimal() and right.isdecimal():
            return 1 if int(left) > int(right) else -1
        if left.isdecimal() != right.isdecimal():
            return -1 if left.isdecimal() else 1
        return 1 if left > right else -1
    return (len(one) > len(other)) - (len(one) < len(other))
