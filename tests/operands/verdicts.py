"""Recorded scenarios held against the expansion; `python tests/operands/verdicts.py [FOLDER] [OUTPUT]` lists all
differences, one a line: release, scenario, path, what was recorded, what we say.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import traceback
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDER = REPOSITORY.parent / "shared/facts/operand-oracle"
MATCHED, DIFFERS, NOT_MODELLED = "matched", "differs", "not modelled"


def beside(name):
    """A module beside this one: tests are no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


oracle = beside("oracle")
scenarios = beside("scenarios")


def ours(recorded):
    """The recorded form of what we say, and what we say that we do not know."""
    from poolsmith.operands.expand import expand

    inputs = recorded["inputs"]
    try:
        admitted = scenarios.admitted_resources(recorded)
    except scenarios.ChartError as error:
        return {"chartError": str(error)}, ()
    state = scenarios.cluster_state(recorded, admitted, oracle.node_labels, oracle.NODE_ANNOTATIONS)
    expansion = expand(recorded["tag"], state)
    form = oracle.recorded_form(expansion, inputs)
    return {**form, "appliedCRs": scenarios.applied_form(admitted)}, expansion.unknown


def theirs(recorded):
    """A recorded result, without what no expansion can say."""
    result = recorded["result"]
    if "chartError" in result:
        return {"chartError": result["chartError"]}
    result = oracle.created(result, recorded["inputs"])
    result.pop("firstPassErrors", None)
    result["appliedCRs"] = [
        {key: value for key, value in item.items() if key not in ("uid", "decodeError")}
        for item in result["appliedCRs"]
    ]
    return result


def verdict(recorded):
    """matched, differs or not modelled; and why."""
    form, unknown = ours(recorded)
    lines = oracle.differences(theirs(recorded), form)
    if unknown:
        return NOT_MODELLED, [f"unknown: {text}" for text in unknown]
    return (DIFFERS, lines) if lines else (MATCHED, [])


def read(path):
    return json.loads(path.read_text("utf-8"))


def main(arguments):
    folder = Path(arguments[0]) if arguments else FOLDER
    lines, counts = [], {}
    for path in sorted(folder.glob("*/*.json")):
        status, found = _verdict_or_failure(path)
        counts[status] = counts.get(status, 0) + 1
        lines.extend(f"{path.parent.name} {path.stem} {line}\n" for line in found)
    if len(arguments) > 1:
        Path(arguments[1]).write_text("".join(lines), "utf-8")
    else:
        print(*lines, sep="", end="")
    print(*(f"{status}: {count}" for status, count in sorted(counts.items())), sep=", ", file=sys.stderr)


def _verdict_or_failure(path):
    """What stops one scenario is told, and the others are judged all the same."""
    try:
        return verdict(read(path))
    except Exception as error:  # noqa: BLE001
        place = traceback.extract_tb(error.__traceback__)[-1]
        return "failed", [f"{type(error).__name__}: {error} at {place.filename}:{place.lineno}"]


if __name__ == "__main__":
    main(sys.argv[1:])
