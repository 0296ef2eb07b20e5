"""Versions of a chart as Helm, Flux and Argo CD read them: one release, or a range of them.

Source: Masterminds/semver README: `*`, `x`, `^`, `~`, comparisons, `a - b`, several with commas, spaces and `||`. A
number that is not told stands for any. Releases before 1.0 are not among those that are recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.facts.versions import line_of
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable

_EXACT = pattern(r"=?\s*v?\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
_PART = r"v?(?:\d{1,9}|[xX*])(?:\.(?:\d{1,9}|[xX*])){0,2}"
_BOUND = pattern(
    rf"\s*+(?:,\s*+)?(?P<sign>=>|>=|=<|<=|!=|~>|[=<>^~])?\s*+(?P<version>{_PART})(?:-[0-9A-Za-z.-]++)?\s*+(?:,\s*+)?"
)
_HYPHEN = pattern(rf"\s*(?P<low>{_PART})\s+-\s+(?P<high>{_PART})\s*")
_LONGEST = 200
_Key = tuple[int, int, int]
_END = 10**9


@record(kw_only=False)
class _Bound:
    """From `low` on and before `high`; `is_outside` turns it round."""

    low: _Key
    high: _Key
    is_outside: bool = False

    def has(self, key: _Key) -> bool:
        return (self.low <= key < self.high) is not self.is_outside


def is_one_version(text: str) -> bool:
    """Whether it names a single release: all three numbers are told."""
    return _EXACT.fullmatch(text.strip()) is not None


def released_in(text: str, releases: Iterable[str]) -> tuple[str, ...]:
    """Those of the releases that a range takes in, in their order; none of a text that is no range."""
    alternatives = _alternatives(text)
    return tuple(tag for tag in releases if any(all(part.has(_key(tag)) for part in one) for one in alternatives))


def lines_in(text: str, releases: Iterable[str]) -> tuple[str, ...]:
    """Major and minor of the releases in a range."""
    return tuple(dict.fromkeys(line_of(tag) for tag in released_in(text, releases)))


def is_range(text: str) -> bool:
    """Whether Helm can read it as a range of versions."""
    return bool(_alternatives(text))


def _alternatives(text: str) -> tuple[tuple[_Bound, ...], ...]:
    if len(text) > _LONGEST:
        return ()
    found: list[tuple[_Bound, ...]] = []
    for part in text.split("||"):
        bounds = _bounds(part)
        if bounds is None:
            return ()
        found.append(bounds)
    return tuple(found)


def _bounds(text: str) -> tuple[_Bound, ...] | None:
    if (between := _HYPHEN.fullmatch(text)) is not None:
        return (_bound(">=", between["low"]), _bound("<=", between["high"]))
    found: list[_Bound] = []
    at = 0
    while at < len(text):
        match = _BOUND.match(text, at)
        if match is None:
            return None
        found.append(_bound(match["sign"] or "=", match["version"]))
        at = match.end()
    return tuple(found) or None


def _bound(sign: str, version: str) -> _Bound:
    told = _told(version)
    low, after = _padded(told), _after(told)
    if sign in (">=", "=>"):
        return _Bound(low, (_END, 0, 0))
    if sign == ">":
        return _Bound(after, (_END, 0, 0))
    if sign == "<":
        return _Bound((0, 0, 0), low)
    if sign in ("<=", "=<"):
        return _Bound((0, 0, 0), after)
    if sign == "!=":
        return _Bound(low, after, is_outside=True)
    if sign == "^":
        return _Bound(low, _after(told[:1]))
    if sign in ("~", "~>"):
        return _Bound(low, _after(told[:2]))
    return _Bound(low, after)


def _told(version: str) -> tuple[int, ...]:
    """The numbers before the first that may be any."""
    found: list[int] = []
    for part in version.removeprefix("v").split("."):
        if not part.isdigit():
            break
        found.append(int(part))
    return tuple(found)


def _padded(told: tuple[int, ...]) -> _Key:
    first, second, third = (*told, 0, 0, 0)[:3]
    return first, second, third


def _after(told: tuple[int, ...]) -> _Key:
    """The first version after all that begin so."""
    if not told:
        return (_END, 0, 0)
    return _padded((*told[:-1], told[-1] + 1))


def _key(tag: str) -> _Key:
    return _padded(_told(tag.partition("-")[0]))
