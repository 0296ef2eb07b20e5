"""Lists of metrics for dcgm-exporter, wherever they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.guard.rules.texts.stack_text import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.rules.texts.stack_text import StackText

RULE = RuleInfo(
    code="PSM334",
    name="metrics-list",
    applies_to="manifest",
    what="A list of metrics for dcgm-exporter has a line at which it stops: a field that DCGM does not have, a type "
    "that Prometheus does not have, more or fewer than three columns, or a comment that does not begin its line.",
    why="The exporter reads the list as a whole: one such line, and its pods crash on every node.",
    fix="correct the line, or remove it",
    bad="data:\n  dcgm-metrics.csv: |\n    DCGM_FI_DEV_GPU_TEMPERATURE, gauge, GPU temperature\n",
    good="data:\n  dcgm-metrics.csv: |\n    DCGM_FI_DEV_GPU_TEMP, gauge, GPU temperature\n",
    symptom="`could not find DCGM field`, `malformed CSV record`, `could not find Prometheus metric type` in the log "
    "of dcgm-exporter, whose pods restart",
    references=(
        "NVIDIA/dcgm-exporter:internal/pkg/counters/counter_config.go, pkg/dcgmexporter/parser.go at the tags",
        "NVIDIA/go-dcgm:pkg/dcgm at the commits that the tags are built with",
    ),
)


def check(texts: tuple[StackText, ...]) -> Iterator[Finding[Location]]:
    for item in texts:
        if item.shape is Shape.METRICS:
            from poolsmith.gpu.values.metrics_list import metric_mistakes  # on demand

            yield from item.told(metric_mistakes(item.text or "", item.version))
