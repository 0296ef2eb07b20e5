"""What people see, from the reports of the field and the rules: the page, the package's file, and the figures."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from field.corpus import Report, reports
from poolsmith.core.diagnostics.known_rules import known_rules
from poolsmith.interface.app import rule_book

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/symptoms.md"
DATA = ROOT / "generator/poolsmith/data/symptoms.json"

FAMILIES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Images that cannot be pulled", ("manifest unknown", "pull", "not found: manifest", "image tag")),
    (
        "The API server, Helm or an engine refuses it",
        (
            "invalid",
            "forbidden",
            "refused",
            "no matches",
            "must be",
            "unknown field",
            "specifications of",
            "not permitted",
            "insufficient quota",
            "declared in schema",
            "server-side apply and force",
            "is not served",
            "admission",
            "strict mode",
        ),
    ),
    (
        "Pods that are Pending, and DaemonSets that want none",
        (
            "pending",
            "desired",
            "insufficient",
            "untolerated",
            "affinity",
            "scale-up",
            "cannot allocate",
            "no event",
            "want zero",
            "nodes are available",
        ),
    ),
    (
        "Objects and keys that are not there",
        ("configmap", "not found", "no such file", "non-existent", "serviceaccount"),
    ),
    (
        "Drivers that do not load, and GPUs that are not seen",
        ("nvrm", "driver", "nvml", "module", "gsp", "no devices", "sees all gpus", "nvidia-smi", "license", "peermem"),
    ),
    (
        "Pods that end or wait",
        (
            "crashloop",
            "init:",
            "init container",
            "unable to load",
            "panic",
            "runtime",
            "containerd",
            "config.toml",
            "node notready",
            "waits",
        ),
    ),
    (
        "Metrics",
        ("metric", "scrape", "prometheus", "host engine", "hostengine", "listen", "servicemonitor", "exporter"),
    ),
    (
        "What an engine does again and again",
        ("outofsync", "retries", "reinstall", "uninstalled", "upgrade", "definitions", "comparisonerror", "helm"),
    ),
)
OTHER = "What else is seen"


def family(seen: str) -> str:
    """The first whose words are in it."""
    text = seen.lower()
    return next((title for title, words in FAMILIES if any(word in text for word in words)), OTHER)


def entries() -> list[dict[str, Any]]:
    """Of each report, then of each rule that says what is seen."""
    return [*map(_of_report, reports()), *_of_rules()]


def _of_report(report: Report) -> dict[str, Any]:
    said = report.said
    return {
        "seen": said["seen"],
        "cause": said["wrong"],
        "do": said["right"],
        "told": report.code or "",
        "source": said["report"],
    }


def _of_rules() -> list[dict[str, Any]]:
    return [
        {"seen": [rule.symptom], "cause": rule.why, "do": rule.fix or "", "told": rule.code, "source": ""}
        for rule in sorted(rule_book(), key=lambda rule: rule.code)
        if rule.symptom
    ]


def data() -> str:
    """The package's file."""
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries())
    return f'{{"symptoms": [\n{lines}\n]}}\n'


def page() -> str:
    """All of it by what is seen first."""
    rows: dict[str, list[str]] = {}
    for entry in entries():
        rows.setdefault(family(entry["seen"][0]), []).append(_row(entry))
    parts = [_HEAD]
    for title in (*(title for title, _ in FAMILIES), OTHER):
        if title in rows:
            parts.append(
                f"\n## {title}\n\n| what people see | cause | what to do | found before the merge by |\n| --- | --- | --- | --- |\n"
            )
            parts.extend(sorted(rows[title], key=str.lower))
    return "".join(parts)


_HEAD = """# By what is seen in the cluster

Generated from `tests/field/` and from the rules; do not edit. Each row is a public report, or what a rule says is seen. The last
column names the finding that `poolsmith check` or `generate` makes of it before it is applied; `-` where nothing tells it yet
([which, and why](proof.md#reports-that-are-not-told)).

`poolsmith explain` searches these rows for a message or a state, wherever it is run:

```console
$ poolsmith explain "no runtime for nvidia is configured"
...
```
"""


def _row(entry: dict[str, Any]) -> str:
    seen = "<br>".join(map(_cell, entry["seen"]))
    told = _link(entry["told"]) if entry["told"] else "-"
    return f"| {seen} | {_cell(entry['cause'])} | {_cell(entry['do'])} | {told} |\n"


def _link(code: str) -> str:
    return f"[{code}](rules.md#{code.lower()}-{known_rules()[code].name})"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def figures() -> list[str]:
    """First and today, apart for those that were sought among what was missed."""
    lines = ["| reports | when they were first run | today |", "| --- | --- | --- |"]
    for title, sought in (
        ("found in trackers, whatever is told of them", False),
        ("kept because they were missed", True),
    ):
        own = [report for report in reports() if ("sought" in report.said) is sought]
        first = Counter(report.said["first"] for report in own)
        right = sum(report.is_right_today for report in own)
        then = f"{first['told']} told, {first['part']} in part, {first['no']} not"
        lines.append(f"| {len(own)} {title} | {then} | {right} told, {len(own) - right} not |")
    return lines


def not_told() -> list[str]:
    """Those that nothing tells today."""
    lines = ["| report | what nothing tells | why |", "| --- | --- | --- |"]
    return lines + [
        f"| `{report.name}`: {_cell(report.said['report'])} | {_cell(report.said['wrong'])} | {_cell(report.said['silent'])} |"
        for report in reports()
        if not report.is_right_today
    ]
