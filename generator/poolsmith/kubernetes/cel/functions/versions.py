"""Semantic versions, as blang/semver reads and orders them; build metadata has no rank.

A version is `{SEMVER: [major, minor, patch, [pre-release parts]]}`.
"""

from __future__ import annotations

import re
from typing import Any

from poolsmith.kubernetes.cel.errors import CelError
from poolsmith.kubernetes.cel.functions.values import SEMVER, marked, parses, text, truth

_VERSION = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?", re.ASCII
)
_LARGEST = 2**64


def parsed(value: str) -> dict[Any, Any]:
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
        return parsed(normalised(given) if loosely else given)
    except ValueError as error:
        raise CelError(str(error)) from None


def is_semver(value: Any, normalise: Any = False) -> bool:
    given, loosely = text(value), truth(normalise)
    return parses(lambda word: parsed(normalised(word) if loosely else word), given)


def number(value: Any, place: int) -> int:
    return int(marked(value, SEMVER)[SEMVER][place])


def compare(one: Any, other: Any) -> int:
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
