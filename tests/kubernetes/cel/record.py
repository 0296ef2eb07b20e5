"""Records what Kubernetes' own evaluator says, by the program of tests/oracle/admission:

    PYTHONPATH=generator:tests python tests/kubernetes/cel/record.py /tmp/vap-oracle

Each file of `recorded/` keeps its questions; only the answers are written anew. Those to random expressions go to
`tests/recorded/data/cel_verdicts.jsonl.xz`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from kubernetes.cel import verdicts
from support.recordings import DATA, ENDING, packed

RANDOM = 20_000
RECORDED = Path(__file__).parent / "recorded"


def questions(recorded, case):
    """One question per object and parameters."""
    common = {
        "kubernetes": case.get("kubernetes", recorded.get("kubernetes")),
        "expression": case["expression"],
        "variables": case.get("variables", []),
        "hasParams": case.get("params", False),
        "authorizer": case.get("authorizer", False),
    }
    if "objects" not in recorded:
        return [{**common, "object": recorded["object"]}]
    made = []
    for one in recorded["objects"]:
        old = recorded["objects"][1] if one is None else None
        namespaced = (one or old)["metadata"].get("namespace")
        for params in recorded["parameters"] if case["params"] else [None]:
            made.append(
                {
                    **common,
                    "object": one,
                    "oldObject": old,
                    "operation": "DELETE" if one is None else "CREATE",
                    "params": params,
                    "namespaceObject": recorded["namespace"] if namespaced else None,
                    "userInfo": {"name": "a", "groups": ["admins"]},
                }
            )
    return made


def outcome(answer):
    if "problem" in answer:
        raise SystemExit(answer["problem"])
    if "compileError" in answer:
        text = answer["compileError"].partition("ERROR: ")[2] or answer["compileError"]
        return {"refused": text.partition("\n")[0].partition(": ")[2] or text}
    if answer.get("error"):
        return {"type": answer["type"], "error": answer["error"].partition("resulted in error: ")[2] or answer["error"]}
    return {"type": answer["type"], "value": answer.get("value", "")}


def ask(binary, asked):
    lines = "".join(json.dumps(one) + "\n" for one in asked)
    done = subprocess.run([binary], input=lines, capture_output=True, text=True, check=True)
    return [outcome(json.loads(line)) for line in done.stdout.splitlines()]


def main(binary):
    for path in sorted(RECORDED.glob("*.json")):
        recorded = json.loads(path.read_text())
        asked = [questions(recorded, case) for case in recorded["cases"]]
        answers = iter(ask(binary, [one for many in asked for one in many]))
        for case, many in zip(recorded["cases"], asked, strict=True):
            case["outcomes"] = [next(answers) for _ in many]
        cases = recorded.pop("cases")
        body = ",\n".join(json.dumps(case) for case in cases)
        path.write_text(json.dumps(recorded)[:-1] + ', "cases": [\n' + body + "\n]}\n")
    (DATA / f"cel_verdicts{ENDING}").write_bytes(packed(dict(blocks(binary))))


def blocks(binary):
    """The verdicts on random expressions, with a digest of what was asked."""
    for first in range(0, RANDOM, verdicts.BLOCK):
        asked = verdicts.block_of(first)
        yield f"{first:06}", {"questions": verdicts.digest(asked), "verdicts": verdicts.asked(binary, asked)}


if __name__ == "__main__":
    main(sys.argv[1])
