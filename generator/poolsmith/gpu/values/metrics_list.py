"""A list of metrics for dcgm-exporter: lines at which it stops, as its own reader does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import did_you_mean, nearest, shorten
from poolsmith.core.pattern import pattern
from poolsmith.gpu.catalog.operand_inputs import operand_inputs
from poolsmith.gpu.values.text_mistake import TextMistake

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = pattern(r"^[ \t]*\"?(?:DCGM_FI_|DCGM_EXP_)[A-Z0-9_]++\"?[ \t]*+,")
_HOLDS = pattern(r"[\s\w.\"'-]++:[ \t]++[|>]")
_TYPES = ("gauge", "counter", "histogram", "summary", "label")
"""NVIDIA/dcgm-exporter@3.0.4-3.0.0 to 4.5.3-4.8.2: promMetricType."""
_COLUMNS = 3
_MOST = 2_000
"""A list has some hundred lines."""


def is_metrics_list(text: str) -> bool:
    """Whether the lines that say something begin with a field of DCGM: half of them is enough to be meant as one.
    YAML may have such a list inside."""
    said = [line for line in text.splitlines()[:_MOST] if line.strip() and not line.lstrip().startswith("#")]
    return sum(bool(_LINE.match(line)) for line in said) * 2 > len(said) and not any(map(_HOLDS.match, said))


def metric_mistakes(text: str, version: str | None) -> Iterator[TextMistake]:
    """`version` is that of dcgm-exporter; where nobody knows it, only what every version refuses is told."""
    inputs = operand_inputs("metrics")
    tag, known = inputs.tag_of(version), inputs.names
    for number, line in enumerate(text.splitlines()[:_MOST]):
        if not line.strip() or line.startswith("#") or '"' in line:  # what stands in quotes may go on in the next line
            continue
        columns = [word.strip(" ") for word in line.split(",")]
        if line.lstrip().startswith("#"):
            yield TextMistake(
                (), "a comment has to begin the line: here it is a metric", "remove the blanks", line=number
            )
        elif len(columns) != _COLUMNS:
            help_text = "write `field, type, help`; a comma in the help needs quotes around it"
            yield TextMistake(
                (), f"it has {len(columns)} columns, and the exporter stops at any but 3", help_text, line=number
            )
        elif columns[0] not in known:
            match = nearest(columns[0], known)
            help_text = f"did you mean `{match}`?" if match else "remove the line"
            yield TextMistake(
                (), f"DCGM has no field `{shorten(columns[0])}`: the exporter stops", help_text, line=number
            )
        elif tag is not None and not inputs.is_read(columns[0], tag):
            told = inputs.told(columns[0], tag)
            yield TextMistake(
                (), f"dcgm-exporter {tag} does not know `{columns[0]}`: {told}", "remove the line", line=number
            )
        elif columns[1] not in _TYPES and columns[0].startswith("DCGM_FI_"):
            help_text = did_you_mean(columns[1], _TYPES)
            yield TextMistake(
                (), f"`{shorten(columns[1])}` is no type of a metric: the exporter stops", help_text, line=number
            )
