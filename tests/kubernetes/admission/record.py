"""Asks Kubernetes' own evaluator (tests/oracle/admission) all questions, and writes recorded/decisions.json.

python tests/kubernetes/admission/record.py /path/to/the/oracle
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from questions import QUESTIONS

TARGET = Path(__file__).parent / "recorded/decisions.json"


def main() -> None:
    lines = [
        json.dumps(
            {"id": name, "kubernetes": "1.34", "typed": True}
            | {key: value for key, value in asked.items() if value is not None}
        )
        for name, asked in QUESTIONS.items()
    ]
    process = subprocess.run(sys.argv[1:2], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    answers = {}
    for line in process.stdout.splitlines():
        answer = json.loads(line)
        if "problem" in answer:
            sys.exit(f"{answer['id']}: {answer['problem']}")
        answers[answer.pop("id")] = answer
    TARGET.write_text(json.dumps(answers, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
