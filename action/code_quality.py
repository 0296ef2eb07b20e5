"""The JSON report of check as GitLab's code quality report: what is new stands beside its line in a merge request.

    python code_quality.py REPORT > gl-code-quality-report.json

A report that is not there is an empty list: the run itself says what failed. Waived findings are left out.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def issues(report: dict[str, Any], below: str) -> list[dict[str, Any]]:
    """`below` is where the project stands in its repository: empty, or a path that ends in a slash."""
    return [
        {
            "check_name": f"{item['code']} {item['name']}",
            "description": item["message"],
            "fingerprint": item["fingerprint"],
            "severity": _SEVERITIES[item["severity"]],
            "location": {"path": f"{below}{place['path']}", "lines": {"begin": place.get("line") or 1}},
        }
        for item in report.get("diagnostics", ())
        if item["status"] == "open" and (place := item["primary"])
    ]


def main(arguments: list[str]) -> int:
    path = Path(arguments[0])
    report = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    root = os.environ.get("POOLSMITH_ROOT", "").strip("/.")
    json.dump(issues(report, f"{root}/" if root else ""), sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
