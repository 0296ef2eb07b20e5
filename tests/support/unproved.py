"""What a run did not prove, in one line, with the command that gets it; a plugin of pytest.

A test is skipped only for what is missing: a tool or a checkout. What is no proof is no test; what another circle of
tests holds is not skipped (`circles.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_REMEDIES = (
    (
        re.compile(r"the browser `(?P<what>.+)` is not on PATH"),
        "a real browser (install {what}, or make tools as root)",
    ),
    (re.compile(r"the tool `(?P<what>.+)` is not on PATH"), "`{what}` (make tools)"),
    (re.compile(r"the schema `(?P<what>.+)` is not in"), "`{what}` (make tools)"),
    (re.compile(r"the engine `(?P<what>.+)` is not on PATH"), "the real Flux and Argo CD (make engines)"),
    (re.compile(r"the engine's definitions are not in"), "the real Flux and Argo CD (make engines)"),
    (re.compile(r"(?P<what>POOLSMITH_OPERATOR_BINARIES) names no"), "the operator itself (set {what}, docs/e2e.md)"),
    (re.compile(r"(?P<what>[A-Z_]+) names no folder"), "real checkouts (set {what}, tests/recorded/README.md)"),
    (
        re.compile(r"the extra `(?P<what>\w+)`"),
        "the extra `{what}` (pip install --require-hashes -r requirements.lock)",
    ),
    (
        re.compile(r"(?P<what>import-linter|yamllint) is not installed"),
        "`{what}` (pip install --require-hashes -r requirements.lock)",
    ),
    (re.compile(r"the package index"), "an installed wheel (reach the package index that pip is set up for)"),
    (
        re.compile(r"only Linux|other systems|file system"),
        "Linux and its file names (run on Linux, on its own file system)",
    ),
    (re.compile(r"superuser|root may (?:read|write)"), "files without permission (run as an ordinary user)"),
    (
        re.compile(r"no Python (?P<what>[0-9.]+|IT) with the packages"),
        "Python {what} (install it with requirements-run.lock, and name it in POOLSMITH_PYTHONS)",
    ),
    (re.compile(r"counts are those of Python (?P<what>[0-9.]+)"), "exact counts of runs (run with Python {what})"),
    (re.compile(r"CEL engine"), "policies in CEL (pip install --require-hashes -r requirements-run.lock)"),
)


def remedy(reason: str) -> str:
    """What was not proved, and how to get it; the reason itself where nobody knows better."""
    for pattern, text in _REMEDIES:
        if found := pattern.search(reason):
            return text.format(**found.groupdict())
    return reason.removeprefix("Skipped: ")


def sentence(reasons: Iterable[str]) -> str:
    """One line for the end of a run; empty where everything was proved."""
    counts = Counter(map(remedy, reasons))
    if not counts:
        return ""
    return "not proved here: " + "; ".join(
        f"{count} test{'s' * (count > 1)} of {what}" for what, count in sorted(counts.items())
    )


def pytest_terminal_summary(terminalreporter):
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = [report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple)]
    if line := sentence(reasons):
        terminalreporter.write_line(line, yellow=True)
