"""One fault at a time: the tests that reach it run, nearest and cheapest first, until one of them notices it."""

from __future__ import annotations

import json
import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tools.mutation.copies import Copy, Run
from tools.mutation.places import Place
from tools.mutation.reach import Reach

CIRCLES = ("before", "test", "real", "deep")
_BATCHES = ((30, 8.0), (300, 40.0))
"""The first batches, by the number of tests and by seconds: most faults are noticed at once. The rest is one batch."""
_START, _SLOWER = 90.0, 12.0
"""A run may take so many seconds, and so many times what its tests took without a fault: the machine may be busy."""


@dataclass(frozen=True)
class Result:
    """What became of one place."""

    id: str
    circle: str = ""
    """The circle of the test that noticed the fault; empty if none did."""
    by: str = ""
    how: str = ""
    """`failed`, `endless`, `import`; or, where nothing noticed it, `not there`, `not reached`, `not noticed`."""
    reached: dict[str, int] = field(default_factory=dict)
    """By circle: how many tests reach the place."""
    ran: dict[str, int] = field(default_factory=dict)
    capped: tuple[str, ...] = ()
    """Circles of which not all tests ran that reach the place."""
    unreliable: tuple[str, ...] = ()
    """Tests that failed, and pass with the fault when they run alone, or fail without it."""


def ordered(place: Place, tests: Sequence[str], reach: Reach) -> list[str]:
    """Nearest and cheapest first, and one case of each test function before the others."""
    stem = Path(place.file).stem
    seen: Counter[str] = Counter()
    keys: dict[str, tuple[int, int, float, str]] = {}
    for test in sorted(tests, key=lambda test: (reach.tests[test].seconds, test)):
        function = test.partition("[")[0]
        seen[function] += 1
        rank, seconds = seen[function], reach.tests[test].seconds
        if f"/test_{stem}.py" in test and rank <= 10:
            tier = 0
        elif test.startswith(f"tests/{place.package}/"):
            tier = 1 if rank <= 3 else 3
        else:
            tier = 2 if rank == 1 and seconds < 2 else 4 if rank == 1 else 5
        keys[test] = tier, rank, seconds, test
    return sorted(tests, key=keys.__getitem__)


def capped(tests: Sequence[str], reach: Reach, seconds: float) -> list[str]:
    """As many as fit; always the first."""
    kept: list[str] = []
    for test in tests:
        seconds -= reach.tests[test].seconds
        if seconds < 0 and kept:
            break
        kept.append(test)
    return kept


def batches(tests: Sequence[str], reach: Reach) -> Iterator[list[str]]:
    """Small ones first."""
    rest = list(tests)
    for count, seconds in _BATCHES:
        batch = capped(rest[:count], reach, seconds)
        if batch:
            yield batch
        rest = rest[len(batch) :]
    if rest:
        yield rest


def beside(place: Place, reach: Reach) -> list[str]:
    """Tests that are not known to reach a place, but may: others of the same modules, or of the package's folder.

    What a process does once only, and keeps in a way that is not watched, is seen for its first test alone.
    """
    reaching = frozenset(reach.places[place.id])
    modules = {test.partition("::")[0] for test in reaching}
    folder = f"tests/{place.package}/"
    return [
        test
        for test in reach.tests
        if test not in reaching and (test.partition("::")[0] in modules or test.startswith(folder))
    ]


class Trials:
    """Trials of places of one commit, some at the same time."""

    def __init__(self, reach: Reach, *, cap: float, options: Sequence[str]) -> None:
        self.reach = reach
        self.cap = cap
        self.options = options
        self._reliable: dict[str, bool] = {}

    def run(self, places: Sequence[Place], copies: Sequence[Copy], path: Path, tell: Callable[[str], None]) -> None:
        """Add a line to a file for each place."""
        free: queue.Queue[Copy] = queue.Queue()
        for copy in copies:
            free.put(copy)
        lock = threading.Lock()

        def one(place: Place) -> None:
            copy = free.get()
            try:
                result = self.trial(place, copy)
            finally:
                copy.restore()
                free.put(copy)
            with lock, path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(result)) + "\n")
            with lock:
                tell(
                    f"{place.id} {place.file}:{place.line} {place.kind}: {result.circle or '-'} {result.how} {result.by}"
                )

        with ThreadPoolExecutor(len(copies)) as pool:
            for finished in [pool.submit(one, place) for place in places]:
                finished.result()

    def trial(self, place: Place, copy: Copy) -> Result:
        """Put the fault, and run what reaches it, circle by circle."""
        if place.id not in self.reach.places or not copy.apply(place):
            return Result(place.id, how="not there")
        near, far = self.reach.places[place.id], beside(place, self.reach)
        reached = Counter(self.reach.tests[test].circle for test in near)
        ran: Counter[str] = Counter()
        short: list[str] = []
        unreliable: list[str] = []
        circle, by, how = "", "", "not noticed" if near else "not reached"
        for circle in CIRCLES:
            queued = [
                *ordered(place, [test for test in near if self.reach.tests[test].circle == circle], self.reach),
                *ordered(place, [test for test in far if self.reach.tests[test].circle == circle], self.reach),
            ]
            chosen = capped(queued, self.reach, self.cap)
            if len(chosen) < reached[circle]:
                short.append(circle)
            for batch in batches(chosen, self.reach):
                ran[circle] += len(batch)
                by, how_it_ended = self._noticed(place, copy, batch, unreliable)
                if by:
                    how = how_it_ended
                    break
            if by:
                break
        return Result(
            place.id,
            circle if by else "",
            by,
            how,
            dict(reached),
            dict(ran),
            tuple(short),
            tuple(unreliable),
        )

    def _noticed(self, place: Place, copy: Copy, batch: list[str], unreliable: list[str]) -> tuple[str, str]:
        """The first test of the batch that fails with the fault, and passes without it; and how."""
        rest = list(batch)
        while rest:
            test, how = _first_failure(self._run(copy, rest), rest)
            if not test:
                break
            if (how != "failed" or self._fails_again(copy, test)) and self._is_reliable(place, copy, test):
                return test, how
            unreliable.append(test)
            done = rest.index(test) + 1 if test in rest else len(rest)
            rest = rest[done:]
        return "", ""

    def _run(self, copy: Copy, tests: Sequence[str]) -> Run:
        expected = sum(self.reach.tests[test].seconds for test in tests if test in self.reach.tests)
        return copy.pytest([*self.options, "-x"], tests=tests, seconds=_START + _SLOWER * expected)

    def _fails_again(self, copy: Copy, test: str) -> bool:
        """Alone, with the fault: neither the tests before it nor a busy machine made it fail."""
        return bool(_first_failure(self._run(copy, [test]), [test])[0])

    def _is_reliable(self, place: Place, copy: Copy, test: str) -> bool:
        """It passes here without the fault; what was not collected with the fault is collected."""
        if test not in self._reliable:
            copy.restore()
            tests = [test] if "::" in test else [one for one in self.reach.tests if one.startswith(f"{test}::")][:1]
            self._reliable[test] = not tests or not _first_failure(self._run(copy, tests), tests)[0]
            copy.apply(place)
        return self._reliable[test]


def _first_failure(run: Run, tests: Sequence[str]) -> tuple[str, str]:
    if run.code is None:
        return run.running or tests[0], "endless"
    for wanted, how in (("failed", "failed"), ("not collected", "import")):
        for test, facts in run.tests.items():
            if facts["outcome"] == wanted:
                return test, how
    return (tests[0], "import") if run.code not in (0, 5) else ("", "")


def read(path: Path) -> list[Result]:
    """The results of a file."""
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    return [_result(json.loads(line)) for line in lines]


def _result(item: dict[str, Any]) -> Result:
    facts: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in item.items()}
    return Result(**facts)
