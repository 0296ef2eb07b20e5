"""Runs of tags, as recorded tables write them: `all`, or `v23.3.0..v24.9.2 v26.7.0`."""

from __future__ import annotations


class TagRanges:
    """Of one table, whose tags are in their order, oldest first."""

    def __init__(self, tags: tuple[str, ...]) -> None:
        self.tags = tags
        self.order = {tag: index for index, tag in enumerate(tags)}

    def holds(self, ranges: str | None, tag: str) -> bool:
        if ranges is None or ranges == "all":
            return ranges == "all"
        at = self.order[tag]
        for run in ranges.split(" "):
            first, _, last = run.partition("..")
            if self.order[first] <= at <= self.order[last or first]:
                return True
        return False

    def within(self, ranges: str | None) -> tuple[str, ...]:
        """The tags, oldest first."""
        return tuple(tag for tag in self.tags if self.holds(ranges, tag))
