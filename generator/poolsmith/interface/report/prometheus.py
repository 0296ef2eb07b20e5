"""Metrics of a run in Prometheus' text, for the textfile collector of the node exporter or a Pushgateway.

Findings are counted by cluster, rule, severity and whether somebody has waived them. A message is no label, so there
are as many series as rules that speak. What was not evaluated is counted too, and noughts are written: an alert
asks for `> 0`, and one with `absent()` tells that nobody runs it.
Source: https://prometheus.io/docs/instrumenting/exposition_formats/, text format 0.0.4.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.interface.report.finding_blocks import cluster_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.interface.report.formats import ReportContext

Labels = tuple[tuple[str, str], ...]


def check_report(outcome: Outcome, context: ReportContext) -> str:
    """UTF-8; each line ends in a newline."""
    del context
    return "".join(f"{line}\n" for line in _lines(outcome))


def _lines(outcome: Outcome) -> Iterator[str]:
    totals: dict[Labels, int] = {(("severity", item.value),): outcome.count(item) for item in Severity}
    yield from _gauge("open_findings", "Findings that nobody has waived.", totals)
    yield from _gauge("findings", "Findings by cluster and rule.", _by_rule(outcome))
    yield from _gauge("not_evaluated", "Things that could not be evaluated.", _one(outcome.not_evaluated))
    yield from _gauge("skipped", "Things that were not looked at.", _one(len(outcome.skipped)))
    checked: dict[Labels, int] = {(("kind", kind),): count for kind, count in sorted(outcome.checked.items())}
    yield from _gauge("checked", "Things that were looked at, by kind.", checked)
    if outcome.taken:
        yield from _gauge("taken_timestamp_seconds", "When the cluster was read.", _one(_seconds(outcome.taken)))
    if outcome.first_seen:
        oldest = min(map(_seconds, outcome.first_seen.values()))
        yield from _gauge("oldest_finding_timestamp_seconds", "When the oldest finding was first seen.", _one(oldest))


def _by_rule(outcome: Outcome) -> Mapping[Labels, int]:
    found: Counter[Labels] = Counter()
    for item in outcome.diagnostics:
        words = cluster_of(item), item.code, item.name, item.severity.value, item.status
        found[tuple(zip(("cluster", "code", "name", "severity", "status"), words, strict=True))] += 1
    return dict(sorted(found.items()))


def _one(value: int) -> Mapping[Labels, int]:
    return {(): value}


def _gauge(name: str, told: str, samples: Mapping[Labels, int]) -> Iterator[str]:
    yield f"# HELP poolsmith_{name} {told}"
    yield f"# TYPE poolsmith_{name} gauge"
    for labels, value in samples.items():
        yield f"poolsmith_{name}{_in_braces(labels)} {value}"


def _in_braces(labels: Iterable[tuple[str, str]]) -> str:
    text = ",".join(f'{name}="{_escaped(word)}"' for name, word in labels)
    return f"{{{text}}}" if text else ""


def _escaped(word: str) -> str:
    return word.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _seconds(moment: str) -> int:
    return int(dt.datetime.fromisoformat(moment).timestamp())
