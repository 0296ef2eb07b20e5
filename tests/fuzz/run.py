"""Fuzz the readers for FUZZ_SECONDS (all targets together), or only those that are named; see CONTRIBUTING.md.

FUZZ_SEED makes a run another one; it is printed, and the same seed tries the same inputs, as far as time allows. With
FUZZ_SWEEP=part/parts nothing is random: each node of each seed becomes each value that has ever mattered, in turn.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from fuzz.engine import REGRESSIONS, fuzz, save, sweep  # noqa: E402 - run as a script
from fuzz.targets import commands, texts  # noqa: E402 - same

MEMORY = 6 << 30
ROUND = 20.0
"""Seconds for one target before the next has its turn."""


def main(names):
    seconds, seed = float(os.environ.get("FUZZ_SECONDS", "60")), os.environ.get("FUZZ_SEED", "1")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    known = {target.name: target for target in (*texts.TARGETS, *commands.TARGETS)}
    if unknown := set(names) - known.keys():
        sys.exit(f"no such target: {', '.join(sorted(unknown))}; known are {', '.join(known)}")
    targets = [known[name] for name in names] or list(known.values())
    end, turn, found, runs = time.monotonic() + seconds, 0, 0, dict.fromkeys(known, 0)
    steps = os.environ.get("FUZZ_SWEEP", "")
    share = seconds / len(targets) if steps else min(ROUND, seconds / len(targets))
    while time.monotonic() < end and not (steps and turn >= len(targets)):
        target = targets[turn % len(targets)]
        left = min(share, end - time.monotonic())
        if steps:
            part, _, parts = steps.partition("/")
            result = sweep(target, left, int(part), int(parts or 1))
        else:
            result = fuzz(target, left, f"{seed}.{turn // len(targets)}")
        runs[target.name] += result.runs
        print(f"{target.name}: {result.runs} inputs, {result.kept} behaviours", flush=True)
        for crash in result.crashes.values():
            found += 1
            print(f"{crash.trace}\n{target.name}: {crash.kind}: {save(target, crash)}", flush=True)
        turn += 1
    print(
        f"seed {seed}: {sum(runs.values())} inputs for {len(targets)} targets, {found} crashes; new cases stand in {REGRESSIONS}"
    )
    sys.exit(found > 0)


if __name__ == "__main__":
    main(sys.argv[1:])
