"""What an evaluator answers to a random question, short enough to be recorded, and what it has to do with ours."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import json
import subprocess
from collections import Counter

from kubernetes.cel.random_expressions import NEWEST, Question
from poolsmith.kubernetes.cel import Bindings, CelCompileError, CelEnvironment, CelError, NotEvaluated

BLOCK = 500
"""Questions with one line of the recording."""
ENVIRONMENT = CelEnvironment.of(NEWEST)
_KIND = {"group": "", "version": "v1", "kind": "Thing"}
_RESOURCE = {"group": "", "version": "v1", "resource": "things"}
REQUEST = {
    "uid": "",
    "kind": _KIND,
    "resource": _RESOURCE,
    "requestKind": _KIND,
    "requestResource": _RESOURCE,
    "name": "a",
    "namespace": "ns",
    "operation": "CREATE",
    "userInfo": {},
    "dryRun": False,
    "options": None,
}


def block_of(first):
    return [Question(number) for number in range(first, first + BLOCK)]


def digest(questions):
    """Changes with any question, so that answers are never held against others."""
    return hashlib.sha256(json.dumps([one.asked for one in questions], sort_keys=True).encode()).hexdigest()


def asked(binary, questions):
    """The verdicts of the recorder's program (tests/oracle/admission)."""
    lines = "".join(json.dumps(one.asked) + "\n" for one in questions)
    done = subprocess.run([binary], input=lines, capture_output=True, text=True, check=True)
    return [theirs(json.loads(line)) for line in done.stdout.splitlines()]


def theirs(answer):
    """refused, error, unsaid (no one answer, or none in JSON), or a list with the value."""
    if answer.get("problem"):
        raise SystemExit(answer["problem"])
    if answer.get("compileError") or answer.get("compileErrors"):
        return "refused"
    if answer.get("panic") or answer.get("unstable"):
        return "unsaid"
    if answer.get("error"):
        return "error"
    shown = answer.get("value", "")
    try:
        return [None if shown == "<nil>" else json.loads(shown)]
    except json.JSONDecodeError:
        return "unsaid"


def ours(question):
    """refused, error, not evaluated, or a list with the value."""
    scope = ENVIRONMENT.scope(params=False, authorizer=False)
    try:
        for name, _, text in question.variables:
            scope = scope.with_variable(name, ENVIRONMENT.compile(text, scope))
        compiled = ENVIRONMENT.compile(question.expression, scope)
    except CelCompileError:
        return "refused"
    try:
        return [compiled.evaluate(Bindings(object=question.object, old_object=None, request=REQUEST))]
    except CelError:
        return "error"
    except NotEvaluated:
        return "not evaluated"


def same(one, recorded):
    """A value of ours and the JSON of theirs."""
    if isinstance(one, bytes | bytearray):
        return recorded == base64.b64encode(one).decode()
    if isinstance(one, dt.timedelta):
        return isinstance(recorded, str) and float(recorded.removesuffix("s")) == one.total_seconds()
    if isinstance(one, dt.datetime):
        return isinstance(recorded, str) and dt.datetime.fromisoformat(recorded) == one
    if isinstance(one, bool) or isinstance(recorded, bool):
        return one is recorded
    if isinstance(one, list):
        return isinstance(recorded, list) and len(one) == len(recorded) and all(map(same, one, recorded))
    if isinstance(one, dict):
        named = {_key(key): value for key, value in one.items()}
        return (
            isinstance(recorded, dict)
            and set(named) == set(recorded)
            and all(same(named[k], recorded[k]) for k in named)
        )
    if isinstance(one, int) and isinstance(recorded, str):
        return str(one) == recorded
    return one == recorded


def _key(key):
    return {True: "true", False: "false"}[key] if isinstance(key, bool) else str(key)


def compared(questions, verdicts):
    """How many are equal, refused by both, errors of both, unsaid, not evaluated; and what differs.

    Not evaluated is none of the others: whoever asks is told so.
    """
    counts, different = Counter(), []
    for question, known in zip(questions, verdicts, strict=True):
        found = ours(question)
        if found == "not evaluated" or known == "unsaid":
            counts[found if found == "not evaluated" else known] += 1
        elif isinstance(known, list) and isinstance(found, list) and same(found[0], known[0]):
            counts["equal"] += 1
        elif isinstance(known, str) and found == known:
            counts[f"{known} by both"] += 1
        else:
            allows = isinstance(found, list) and found[0] is True
            counts["different"] += 1
            counts["wrongly allowed"] += allows
            different.append((question.asked, {"ours": found, "theirs": known}))
    return counts, different
