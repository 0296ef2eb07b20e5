"""Ask pip-audit whether a known vulnerability is in any lock, and tell apart "none" from "nobody could tell".

    PYTHONPATH=generator:tests python -m tools.audit_locks PIP-AUDIT [--required]

pip-audit ends with 0 when it could look up nothing at all. Here a package that was not looked up is a skip, told in
capitals; with `--required`, as the scheduled workflow runs it, a skip is a failure. Nothing is resolved or installed:
the locks say exactly what there is.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from poolsmith.core.record import record
from tools.locked_packages import locked_packages

ROOT = Path(__file__).resolve().parents[2]
LOCKS = (
    "requirements.lock",
    "requirements-run.lock",
    "requirements-live.lock",
    "requirements-dask.lock",
    ".ci/requirements-audit.lock",
    ".ci/requirements-uv.lock",
    ".ci/requirements-schemas.lock",
)
_OPTIONS = ("--disable-pip", "--require-hashes", "--progress-spinner", "off", "--format", "json")
_SECONDS = 600


@record(kw_only=False)
class Audit:
    """Of one lock: what was looked up, what was not, and what was found; each as `name version`, or a sentence."""

    lock: str
    looked_up: tuple[str, ...]
    skipped: tuple[str, ...]
    vulnerable: tuple[str, ...]


def audit_of(lock: str, packages: tuple[str, ...], report: str) -> Audit:
    """`report` is what pip-audit printed with `--format json`; whatever is missing in it was not looked up."""
    try:
        rows: list[dict[str, Any]] = json.loads(report)["dependencies"]
        told = {row["name"]: row for row in rows if "vulns" in row}
    except (ValueError, KeyError, TypeError):
        told = {}
    return Audit(
        lock,
        tuple(name for name in packages if name in told),
        tuple(name for name in packages if name not in told),
        tuple(
            f"{name} {told[name]['version']}: {one['id']}, fixed in {', '.join(one['fix_versions']) or 'no release'}"
            for name in packages
            for one in told.get(name, {}).get("vulns", ())
        ),
    )


def judged(audits: list[Audit], *, required: bool) -> tuple[int, str]:
    """The exit code, and what is told."""
    lines = [f"VULNERABLE {audit.lock}: {found}" for audit in audits for found in audit.vulnerable]
    for audit in audits:
        if audit.skipped:
            count = f"{len(audit.skipped)} of {len(audit.skipped) + len(audit.looked_up)}"
            lines.append(f"SKIPPED {audit.lock}: {count} packages were NOT audited; is there a network?")
    looked_up = sum(len(audit.looked_up) for audit in audits)
    lines.append(f"{looked_up} packages looked up in {len(audits)} locks")
    failed = any(audit.vulnerable or (required and audit.skipped) for audit in audits)
    return int(failed), "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Exit 1 for a vulnerability, and with `--required` for a package that was not looked up."""
    command, required = arguments[0], "--required" in arguments
    audits = []
    for lock in LOCKS:
        names = tuple(package.name for package in locked_packages(ROOT / lock))
        run = subprocess.run(
            [command, *_OPTIONS, "--requirement", str(ROOT / lock)],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        audits.append(audit_of(lock, names, run.stdout))
    code, told = judged(audits, required=required)
    sys.stdout.write(told)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
