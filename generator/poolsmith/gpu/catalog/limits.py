"""Where support ends, and which versions are open to published attacks. All of it as of a day: no clock is read."""

from __future__ import annotations

from typing import Any

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.facts.versions import at_least, version_key
from poolsmith.core.record import record
from poolsmith.gpu.catalog.container_toolkit import numbers
from poolsmith.gpu.catalog.releases import advisable


@record
class Vulnerability:
    """`toolkit` and `operator` are the first versions that have the fix; no `operator`: no release with it is known."""

    ids: tuple[str, ...]
    toolkit: str
    operator: str | None
    source: str
    published: str | None = None
    critical: bool = False

    @property
    def shown(self) -> str:
        """Its identifiers, with the date of their record."""
        return ", ".join(self.ids) + (f" (published {self.published})" if self.published else "")

    @property
    def way_out(self) -> str:
        """What to pin, for messages."""
        of_toolkit = f"`toolkit.version` {self.toolkit} or later"
        return (
            of_toolkit if self.operator is None else f"{advisable(self.operator)} or a later release, or {of_toolkit}"
        )


@record
class Branch:
    """A branch of drivers. `ends` is its last month; `ended`: it had ended when the sources were read."""

    number: int
    designation: str | None
    ends: str | None
    ended: bool


@record
class Limits:
    """`as_of` is the day that the sources were read as they were then."""

    as_of: str
    branches: dict[int, Branch]
    vulnerabilities: tuple[Vulnerability, ...]

    def of_toolkit(self, version: str) -> tuple[Vulnerability, ...]:
        """What a toolkit is open to, oldest first; nothing for a tag that is no number."""
        number = numbers(version)
        if number is None:
            return ()
        shown = ".".join(map(str, number))
        return tuple(item for item in self.vulnerabilities if not at_least(shown, item.toolkit))

    def of_operator(self, release: str) -> tuple[Vulnerability, ...]:
        """What a release is open to with the toolkit that it brings."""
        return tuple(
            item
            for item in self.vulnerabilities
            if item.operator is None or version_key(release) < version_key(item.operator)
        )

    def ended(self, number: int | None) -> str | None:
        """That support of a driver branch has ended, in words."""
        known = None if number is None else self.branches.get(number)
        if known is None or not known.ended:
            return None
        when = f" in {known.ends}" if known.ends else ""
        return f"support of the driver branch {known.number} ended{when} (as of {self.as_of})"

    def unlikely(self, number: int | None) -> str | None:
        """That no driver branch has a number: they go by fives since R430, and far beyond the newest is none."""
        newest = max(self.branches)
        if number is None or (number <= newest + _FAR and (number < _BY_FIVES_SINCE or number % _BRANCHES_APART == 0)):
            return None
        return f"there is no driver branch {number} (as of {self.as_of} the newest is {newest})"


_BRANCHES_APART = 5
_BY_FIVES_SINCE = 430
_FAR = 40


@remembered
def limits() -> Limits:
    data = store.read_yaml("support/limits.yaml")
    return Limits(
        as_of=data["asOf"],
        branches={
            int(number): _branch(int(number), entry, data["asOf"])
            for number, entry in data["branches"].items()
            if number.isdecimal()
        },
        vulnerabilities=tuple(_vulnerability(entry) for entry in data["vulnerabilities"]),
    )


def _branch(number: int, entry: dict[str, Any], as_of: str) -> Branch:
    ends = entry["ends"]
    ended = entry.get("ended", False) or (ends is not None and ends < as_of[: len(ends)])
    return Branch(number=number, designation=entry["designation"], ends=ends, ended=ended)


def _vulnerability(entry: dict[str, Any]) -> Vulnerability:
    return Vulnerability(
        ids=tuple(entry["ids"]),
        toolkit=f"v{entry['toolkit']}",
        operator=entry.get("operator"),
        source=entry["source"],
        published=entry.get("published"),
        critical=entry.get("critical", False),
    )
