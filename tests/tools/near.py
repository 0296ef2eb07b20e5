"""Run the tests that are near what has changed, in seconds. Before a commit, `make test` runs all of them.

    PYTHONPATH=generator:tests python -m tools.near [--base COMMIT] [--list] [FILE...]

What has changed is what differs from the merge base with `origin/main` or `main` (or the commit that --base names),
committed or not, and files that git does not know yet; or the files that are named. `near_map.py` says what is near a
file. The nearest come first. What takes too long, by what earlier runs cost or by what this one has, is left and
named.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tools.near_index import CACHE, Index
from tools.near_map import ROOT_CONFTEST, Near, joined, near, whole_program

ROOT = Path(__file__).resolve().parents[2]
BASES = ("origin/main", "main")
SECONDS = 9.0
"""Processor time of a worker after which it starts no further test. With starting and the last tests, a run takes less
than twenty seconds where nobody else wants the processor."""
WORKERS = 2
UNKNOWN = 0.4
"""Seconds of a test file that no earlier run has timed."""
COLLECTING = 0.15
"""The same, of collecting it; each worker does."""
SHOWN = 3
KNOWN = ".pytest_cache/v/near/seconds"


def changed_files(root: Path, base: str | None) -> list[str]:
    """Since the branch left its base, and not yet committed."""
    start = None
    for name in (base,) if base else BASES:
        run = _git(root, "merge-base", "HEAD", name)
        if run is not None:
            start = run.strip()
            break
    if base and start is None:
        raise SystemExit(f"near: git knows no commit `{base}`")
    differ = _git(root, "diff", "--name-only", "--no-renames", "-z", start or "HEAD", "--") or ""
    untracked = _git(root, "ls-files", "--others", "--exclude-standard", "-z") or ""
    return sorted({path for path in (differ + untracked).split("\0") if path})


def _git(root: Path, *arguments: str) -> str | None:
    run = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    return run.stdout if run.returncode == 0 else None


def chosen(changed: Iterable[str], index: Index) -> tuple[list[Near], list[str]]:
    """What is near the changed files, nearest first, and the files that nothing is near."""
    found: dict[str, Near] = {}
    alone = []
    for path in changed:
        items = near(path, index)
        if not items:
            alone.append(path)
        for item in items:
            found[item.test] = joined(found.get(item.test), item)
    for item in whole_program():
        if item.test in index.tests:
            found[item.test] = joined(found.get(item.test), item)
    order = sorted(
        found.values(), key=lambda item: (item.distance, not item.words, index.breadth.get(item.test, 0), item.test)
    )
    return order, alone


def within(order: list[Near], known: dict[str, dict[str, float]], seconds: float) -> tuple[list[Near], list[Near]]:
    """As many of the nearest as the time allows, and the others; what is known to be longer than all of it is left."""
    taken: list[Near] = []
    left: list[Near] = []
    for item in order:
        times = known.get(item.test, {"": UNKNOWN, "import": COLLECTING})
        cost = times.get("import", COLLECTING) * WORKERS + estimate(item, times)
        if cost <= seconds:
            seconds -= cost
            taken.append(item)
        else:
            left.append(item)
    return taken, left


def estimate(item: Near, times: dict[str, float]) -> float:
    """What the tests of a file cost; of one of which only some are taken, those that are known by their names."""
    if not item.words:
        return times.get("", UNKNOWN)
    return sum(cost for name, cost in times.items() if any(word in name for word in item.words))


def first_line(changed: list[str], taken: list[Near]) -> str:
    """Which files changed, how many test files are taken, and why."""
    reasons: dict[str, int] = {}
    for item in taken:
        reasons[item.why] = reasons.get(item.why, 0) + 1
    why = [f"{number} {reason}" if number > 1 else reason for reason, number in reasons.items()]
    return f"near {_some(changed)}: {_count(len(taken), 'test file')} ({_some(why, 5, '; ')})"


def _some(items: list[str], shown: int = SHOWN, between: str = ", ") -> str:
    more = [f"{len(items) - shown} more"] if len(items) > shown else []
    return between.join([*items[:shown], *more])


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def main(arguments: list[str], root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(prog="near", description=__doc__.partition("\n")[0])
    parser.add_argument("--base", help="the commit that the change began at")
    parser.add_argument("--list", action="store_true", help="say what is near, and run nothing")
    parser.add_argument("files", nargs="*", metavar="FILE", help="files that count as changed; none for git's word")
    options = parser.parse_args(arguments)
    changed = options.files or changed_files(root, options.base or None)
    if not changed:
        print("near: nothing has changed")
        return 0
    index = Index(root)
    order, alone = chosen(changed, index)
    taken, left = within(order, _known(root), SECONDS * WORKERS)
    print(first_line(changed, taken))
    for path in alone:
        print("touches every test: make test" if path == ROOT_CONFTEST else f"nothing near `{path}`: make test")
    if left:
        print(f"left, for they take too long: {_some([item.test for item in left])}: make test")
    sys.stdout.flush()
    if options.list:
        for item in taken:
            print(f"  {item.distance} {item.test}: {item.why}")
        return 0
    plan = root / CACHE / "plan.json"
    plan.parent.mkdir(parents=True, exist_ok=True)
    tests = [(item.test, sorted(item.words)) for item in taken]
    plan.write_text(json.dumps({"seconds": SECONDS, "tests": tests}), "utf-8")
    return run([f"--near-plan={plan}", *(item.test for item in taken)])


def _known(root: Path) -> dict[str, dict[str, float]]:
    try:
        known: dict[str, dict[str, float]] = json.loads((root / KNOWN).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return known


def run(arguments: list[str], main: Any = None) -> int:
    import pytest

    steady = ("-q", "--circle=test", f"-n{WORKERS}", "--dist=load", "--maxschedchunk=8", "-p", "no:randomly")
    return int((main or pytest.main)([*steady, *arguments]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
