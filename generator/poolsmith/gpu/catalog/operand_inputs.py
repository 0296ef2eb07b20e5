"""What the operands read, by version: variables, fields of configurations, names of metrics.

Recorded from their code at each tag by `tests/tools/record_operand_inputs.py`.
"""

from __future__ import annotations

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.gpu.catalog.tag_ranges import TagRanges

_NEXT = "next"
"""In the place of a tag: what the code has since the last one."""


class OperandInputs:
    """Of one operand. Tags are as it tags its code; `read` has the runs of tags that read a name."""

    def __init__(self, tags: tuple[str, ...], read: dict[str, str]) -> None:
        self.tags = tags
        self._read = read
        self._ranges = TagRanges(tags)
        self._by_number = {tag.partition("-")[2]: tag for tag in reversed(tags) if "-" in tag}
        self.names = frozenset(read)
        """All that some version reads."""

    def tag_of(self, version: str | None) -> str | None:
        """The tag of an image's version, such as `v0.17.1-ubi9` or `4.2.3-4.1.3-ubuntu22.04`, or of the chart that
        has its number; None for no known one."""
        own = self._by_number.get(version or "-")
        words = (version or "").split("@")[0].split("-")
        heads = ("-".join(words[:length]) for length in range(len(words), 0, -1))
        return own or next((tag for head in heads for tag in (head, f"v{head}") if tag in self._ranges.order), None)

    def reading(self, name: str) -> tuple[str, ...]:
        """The tags that read a name, oldest first."""
        return self._ranges.within(self._read.get(name))

    def is_read(self, name: str, tag: str | None) -> bool:
        """Of no tag: whether any reads it."""
        return name in self._read and (tag is None or self._ranges.holds(self._read[name], tag))

    def told(self, name: str, tag: str) -> str:
        """Which versions read a name that the one at `tag` does not."""
        reading = self.reading(name)
        later = [other for other in reading if self._ranges.order[other] > self._ranges.order[tag]]
        if later:
            return "the next release reads it" if later[0] == _NEXT else f"it is read from {later[0]} on"
        return f"no version after {reading[-1]} reads it"


@remembered
def operand_inputs(operand: str) -> OperandInputs:
    """`operand` is a component as the operator's values call it; or `metrics`, `discovery`."""
    entry = store.read_json("operand_inputs.json")[operand]
    return OperandInputs(tuple(entry["tags"]), entry["read"])
