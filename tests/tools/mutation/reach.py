"""Which tests reach which places: one run of the tests, with hooks at all places."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tools.mutation.copies import Copy
from tools.mutation.places import Place
from tools.mutation.probes import instrumented


@dataclass(frozen=True)
class Passing:
    """A test that passed without a fault: its circle, and seconds of processor time."""

    circle: str
    seconds: float


@dataclass(frozen=True)
class Reach:
    """Of one commit."""

    commit: str
    tests: dict[str, Passing]
    failing: tuple[str, ...]
    """They fail without any fault, so they notice none."""
    places: dict[str, tuple[str, ...]]
    """By place: tests that reach it. A place that is not there is not here."""

    def written(self) -> str:
        """As JSON; tests by their numbers, because there are many."""
        numbers = {test: number for number, test in enumerate(self.tests)}
        places = {place: sorted(numbers[test] for test in tests) for place, tests in self.places.items()}
        return json.dumps(asdict(self) | {"places": places}) + "\n"


def read(text: str) -> Reach:
    """As it was written."""
    document = json.loads(text)
    tests = {name: Passing(**facts) for name, facts in document["tests"].items()}
    names = list(tests)
    places = {place: tuple(names[number] for number in numbers) for place, numbers in document["places"].items()}
    return Reach(document["commit"], tests, tuple(document["failing"]), places)


def reach(
    copy: Copy,
    commit: str,
    places: Sequence[Place],
    *,
    paths: Sequence[str],
    options: Sequence[str],
    alone: Sequence[str],
    tell: Callable[[str], None],
) -> Reach:
    """Run the tests once with hooks; those that fail so, once more without. `alone` are the options of one process."""
    notes = copy.folder / "reach"
    for file, text in instrumented(copy.root, list(places), notes).items():
        copy.write(file, text)
    run = copy.pytest(options, paths=paths, watch=notes)
    copy.restore()
    if not any("circle" in facts for facts in run.tests.values()):
        raise SystemExit(f"no test ran:\n{run.printed[-2000:]}")
    suspects = [test for test, facts in run.tests.items() if facts["outcome"] == "failed"]
    uncollected = {test for test, facts in run.tests.items() if facts["outcome"] == "not collected"}
    tell(
        f"{len(run.tests)} tests ran, {len(suspects)} of them failed with hooks, {len(uncollected)} were not collected"
    )
    outcomes = {test: facts["outcome"] for test, facts in run.tests.items()}
    if suspects:
        again = copy.pytest(alone, tests=suspects)
        outcomes |= {test: again.tests[test]["outcome"] if test in again.tests else "failed" for test in suspects}
    tests = {
        test: Passing(facts["circle"], facts["seconds"])
        for test, facts in sorted(run.tests.items())
        if outcomes[test] == "passed"
    }
    failing = tuple(sorted(test for test in outcomes if outcomes[test] in ("failed", "not collected")))
    reached = by_place(tests, (notes / "reached").read_text("utf-8") if (notes / "reached").is_file() else "")
    there = {number: place for number, place in enumerate(places) if _is_there(copy, place)}
    found = {place.id: tuple(sorted(reached.get(number, ()))) for number, place in there.items()}
    return Reach(commit, tests, failing, found)


def by_place(tests: Iterable[str], log: str) -> dict[int, set[str]]:
    """By the number of each place: the tests that reach it, themselves or through what is kept for more than one."""
    used: dict[str, set[str]] = {}
    for line in log.splitlines():
        who, _, item = line.rpartition("\t")
        used.setdefault(who, set()).add(item)
    found: dict[int, set[str]] = {}
    known: dict[str, frozenset[int]] = {}
    for test in tests:
        for name in (test, *_collected_for(test)):
            for number in _numbers(name, used, known):
                found.setdefault(number, set()).add(test)
    return found


def _numbers(name: str, used: dict[str, set[str]], known: dict[str, frozenset[int]]) -> frozenset[int]:
    if name not in known:
        numbers: set[int] = set()
        todo, met = [name], {name}
        while todo:
            for item in used.get(todo.pop(), ()):
                if item.isdecimal():
                    numbers.add(int(item))
                elif item not in met:
                    met.add(item)
                    if item in known:
                        numbers |= known[item]
                    else:
                        todo.append(item)
        known[name] = frozenset(numbers)
    return known[name]


def _collected_for(test: str) -> list[str]:
    """The contexts in which its module and its folders were imported."""
    path, _, rest = test.partition("::")
    parts = path.split("/")
    names = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    classes = rest.split("[")[0].split("::")[:-1]
    names += [f"{path}::{'::'.join(classes[:count])}" for count in range(1, len(classes) + 1)]
    return [f"collect:{name}" for name in names]


def _is_there(copy: Copy, place: Place) -> bool:
    path: Path = copy.root / place.file
    return path.is_file() and place.begin(path.read_bytes().decode()) is not None
