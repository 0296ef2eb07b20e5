"""Recorded scenarios held against the expansion; `PYTHONPATH=generator:tests python tests/fleet/operands/verdicts.py [OUTPUT]`
lists all differences, one a line: release, scenario, path, what was recorded, what we say.
"""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

from fleet.operands import oracle, scenarios
from support.recordings import recording

RUNS = recording("operator_runs")
"""What the operator's own code made of each scenario, by `release/scenario`."""
KATA_HASH = "nvidia.com/kata-manager.last-applied-hash"
MATCHED, DIFFERS, NOT_MODELLED = "matched", "differs", "not modelled"


def form_of(recorded, seen=lambda expansion: expansion):
    """The recorded form of what we say, as `seen` by the recording, and what we say that we do not know."""
    from poolsmith.fleet.operands.operator_expansion import expand

    try:
        admitted = scenarios.admitted_resources(recorded)
    except scenarios.ChartError as error:
        return {"chartError": str(error)}, ()
    state = scenarios.cluster_state(recorded, admitted, oracle.node_labels, oracle.NODE_ANNOTATIONS)
    expansion = expand(recorded["tag"], state)
    form = oracle.recorded_form(seen(expansion), recorded["inputs"])
    return {**form, "appliedCRs": scenarios.applied_form(admitted)}, expansion.unknown


def ours(recorded):
    """Without the hash of the Kata configuration, for which these recordings lost an empty map."""
    form, unknown = form_of(recorded)
    for item in form.get("workloads", ()):
        if KATA_HASH in (item["podAnnotations"] or {}):
            item["podAnnotations"] = {key: text for key, text in item["podAnnotations"].items() if key != KATA_HASH}
    return form, unknown


def theirs(recorded):
    """A recorded result, without what no expansion can say."""
    result = recorded["result"]
    if "chartError" in result:
        return {"chartError": result["chartError"]}
    result = oracle.created(result, recorded["inputs"])
    result.pop("firstPassErrors", None)
    for item in result["workloads"]:
        # an API server in memory dropped empty maps, over which the hash goes; a real one is in operator_binaries
        (item.get("podAnnotations") or {}).pop(KATA_HASH, None)
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


def main(arguments):
    lines, counts = [], {}
    for case in RUNS:
        status, found = _verdict_or_failure(case)
        counts[status] = counts.get(status, 0) + 1
        lines.extend(f"{case.replace('/', ' ')} {line}\n" for line in found)
    if arguments:
        Path(arguments[0]).write_text("".join(lines), "utf-8")
    else:
        print(*lines, sep="", end="")
    print(*(f"{status}: {count}" for status, count in sorted(counts.items())), sep=", ", file=sys.stderr)


def _verdict_or_failure(case):
    """What stops one scenario is told, and the others are judged all the same."""
    try:
        return verdict(RUNS[case])
    except Exception as error:  # noqa: BLE001
        place = traceback.extract_tb(error.__traceback__)[-1]
        return "failed", [f"{type(error).__name__}: {error} at {place.filename}:{place.lineno}"]


if __name__ == "__main__":
    main(sys.argv[1:])
