"""Runs of the operator's own binaries held against the expansion;
`PYTHONPATH=generator:tests python -m operands.binary_runs [RELEASE]` lists all differences, one a line.
"""

from __future__ import annotations

import sys

from fleet.operands import oracle, verdicts
from oracle.operator.observed import bared
from poolsmith.gpu.catalog.operands import operand_releases
from support.recordings import recording

RUNS = recording("operator_binaries")
"""What the binary of a release made of each scenario against a real API server, by `release/scenario`."""
KNOWN = [case for case in RUNS if case.partition("/")[0] in operand_releases()]
"""Those of releases whose operands are predicted."""


def ours(recorded):
    """The recorded form of what we say, bared of defaults like the recording; and what we say that we do not know."""
    return verdicts.form_of(recorded, bared)


def theirs(recorded):
    result = recorded["result"]
    if "chartError" in result:
        return {"chartError": result["chartError"]}
    found = oracle.created(result, recorded["inputs"])
    found["appliedCRs"] = [{key: value for key, value in item.items() if key != "uid"} for item in result["appliedCRs"]]
    return found


def differing(recorded):
    """What differs, a line each, and what the expansion says that it does not know."""
    form, unknown = ours(recorded)
    return oracle.differences(theirs(recorded), form), unknown


def fields(value):
    """How many values a recorded result holds."""
    if isinstance(value, dict):
        return sum(map(fields, value.values()))
    return sum(map(fields, value)) if isinstance(value, list) else 1


def main(releases):
    for case in KNOWN:
        if releases and case.partition("/")[0] not in releases:
            continue
        lines, unknown = differing(RUNS[case])
        print(*(f"{case} {line}" for line in [*lines, *(f"unknown: {text}" for text in unknown)]), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
