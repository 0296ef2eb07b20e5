"""Measure what the tests notice: small faults at places of all packages that a seed chooses, one at a time.

    PYTHONPATH=generator:tests python -m tools.mutate places --seed 1 --places 80
    PYTHONPATH=generator:tests python -m tools.mutate reach
    PYTHONPATH=generator:tests python -m tools.mutate run
    PYTHONPATH=generator:tests python -m tools.mutate against COMMIT
    PYTHONPATH=generator:tests python -m tools.mutate table --write

What is committed is measured, in scratch copies; results are in `.mutations`, and a run goes on where it ended. mutmut and
cosmic-ray know neither tables and data files as places, nor circles of tests, nor the same fault in another commit.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from tools.mutation import page, places, reach, trial
from tools.mutation.copies import Copy, commit_of, make_copy
from tools.mutation.places import Place

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/mutations.md"
REASONS = Path(__file__).parent / "mutation/unnoticed.yaml"
_ALONE = ("-p", "no:randomly", "-n", "0")
_TOGETHER = "-n 2 --dist worksteal"


class Session:
    """Where things are, and what was asked."""

    def __init__(self, asked: argparse.Namespace, root: Path) -> None:
        self.asked = asked
        self.root = root
        self.folder = Path(asked.into) if asked.into else root / ".mutations"
        self.folder.mkdir(exist_ok=True)

    @property
    def alone(self) -> tuple[str, ...]:
        return tuple(shlex.split(self.asked.alone))

    def places(self) -> list[Place]:
        return places.read((self.folder / "places.json").read_text("utf-8"))

    def known_reach(self, suffix: str = "") -> reach.Reach:
        return reach.read((self.folder / f"reach{suffix}.json").read_text("utf-8"))

    def results(self, suffix: str = "") -> Path:
        return self.folder / f"results{suffix}.jsonl"

    def measure_reach(self, commit: str, chosen: Sequence[Place], suffix: str = "") -> None:
        """Run the tests of a commit once, with hooks."""
        with tempfile.TemporaryDirectory(prefix="mutate-") as scratch:
            found = reach.reach(
                make_copy(self.root, commit, Path(scratch).resolve() / "0"),
                commit,
                chosen,
                paths=self.asked.tests,
                options=shlex.split(self.asked.pytest),
                alone=self.alone,
                tell=tell,
            )
        (self.folder / f"reach{suffix}.json").write_text(found.written(), "utf-8")
        for place in chosen:
            tests = found.places.get(place.id)
            told = Counter(found.tests[test].circle for test in tests or ())
            counts = ", ".join(f"{count} {circle}" for circle, count in sorted(told.items()))
            tell(f"{place.id} {place.file}:{place.line}: {'not there' if tests is None else counts or 'not reached'}")
        failing = len(found.failing)
        tell(
            f"{len(found.tests)} tests pass without a fault, {failing} fail and notice nothing: {', '.join(found.failing)}"
        )

    def try_out(self, chosen: Sequence[Place], known: reach.Reach, suffix: str = "") -> None:
        """Put the faults, one in each copy at a time."""
        done = {result.id for result in trial.read(self.results(suffix))}
        if not (chosen := [place for place in chosen if place.id not in done]):
            return
        trials = trial.Trials(known, cap=self.asked.cap, options=self.alone)
        with tempfile.TemporaryDirectory(prefix="mutate-") as scratch:
            copies: list[Copy] = [
                make_copy(self.root, known.commit, Path(scratch).resolve() / str(number))
                for number in range(self.asked.at_once)
            ]
            trials.run(chosen, copies, self.results(suffix), tell)


def tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def choose_places(session: Session) -> None:
    """A new choice ends what was known of another."""
    asked = session.asked
    chosen = places.choose(session.root, asked.seed, asked.places, _set(asked.packages), _set(asked.kinds))
    text = places.written(chosen)
    file = session.folder / "places.json"
    if file.exists() and file.read_text("utf-8") != text:
        for old in (*session.folder.glob("reach*.json"), *session.folder.glob("results*.jsonl")):
            old.rename(old.with_name(f"{old.name}.old"))
    file.write_text(text, "utf-8")
    for place in chosen:
        tell(f"{place.id} {place.kind}\n{place.diff()}")
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(place.kind for place in chosen).items()))
    tell(f"{len(chosen)} places in {len({place.package for place in chosen})} packages: {kinds}")


def measure_reach(session: Session) -> None:
    commit = commit_of(session.root, session.asked.commit)
    if (session.folder / "reach.json").exists() and not session.asked.again and session.known_reach().commit == commit:
        tell(f"what reaches the places is known for {commit[:12]}; --again finds it anew")
    else:
        session.measure_reach(commit, session.places())


def run(session: Session) -> None:
    only = _set(session.asked.only)
    session.try_out([place for place in session.places() if not only or place.id in only], session.known_reach())
    tell(page.summary(*_tried(session)))


def against(session: Session) -> None:
    """Places that the first circle does not notice, in an older commit."""
    commit = commit_of(session.root, session.asked.older)
    suffix = f"-{commit[:12]}"
    tried, results = _tried(session)
    chosen = [place for place in tried if results[place.id].circle not in ("test", "before")]
    if not (session.folder / f"reach{suffix}.json").exists():
        session.measure_reach(commit, chosen, suffix)
    known = session.known_reach(suffix)
    session.try_out([place for place in chosen if place.id in known.places], known, suffix)
    older = {result.id: result for result in trial.read(session.results(suffix))}
    for place in chosen:
        now, then = results[place.id], older.get(place.id) or trial.Result(place.id, how="not there")
        if then.by:
            word = f"noticed before, by {then.by}; now {f'by {now.circle}: {now.by}' if now.by else 'by nothing'}"
        else:
            word = "not there before" if then.how == "not there" else "not noticed before either"
        tell(f"{place.id} {place.file}:{place.line} {place.kind}: {word}")


def write_table(session: Session) -> None:
    asked = session.asked
    tried, results = _tried(session)
    reasons: dict[str, str] = yaml.safe_load(REASONS.read_text("utf-8")) or {}
    earlier, commit = None, ""
    if asked.before:
        commit = commit_of(session.root, asked.before)
        earlier = {result.id: result for result in trial.read(session.results(f"-{commit[:12]}"))}
    text = page.table(tried, results, reasons, earlier, commit)
    if asked.write:
        path = session.root / PAGE
        path.write_text(page.put(path.read_text("utf-8"), text), "utf-8")
    else:
        sys.stdout.write(text)


def _tried(session: Session) -> tuple[list[Place], dict[str, trial.Result]]:
    results = {result.id: result for result in trial.read(session.results())}
    return [place for place in session.places() if place.id in results], results


def _set(text: str) -> frozenset[str]:
    return frozenset(part for part in text.split(",") if part)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mutate", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--into", help="the folder of results; default: .mutations")
    parser.add_argument("--alone", default=shlex.join(_ALONE), help="options of pytest for one process")
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def verb(name: str, function: Any, text: str) -> argparse.ArgumentParser:
        one = verbs.add_parser(name, help=text, description=text)
        one.set_defaults(function=function)
        return one

    one = verb("places", choose_places, "choose places, and print their faults")
    one.add_argument("--seed", default="1")
    one.add_argument("--places", type=int, default=80, help="how many; at least one in each package")
    one.add_argument("--packages", default="", help="only these, with commas")
    one.add_argument("--kinds", default="", help="only these kinds of faults, with commas")

    def of_tests(one: argparse.ArgumentParser) -> None:
        one.add_argument("--tests", nargs="+", default=[], metavar="PATH", help="only these tests; default: all")
        one.add_argument("--pytest", default=_TOGETHER, help=f"options of the one run with hooks; default: {_TOGETHER}")

    def of_trials(one: argparse.ArgumentParser) -> None:
        one.add_argument("--cap", type=float, default=120, help="seconds of processor time for each place and circle")
        one.add_argument("--at-once", type=int, default=2, help="how many places at the same time")

    one = verb("reach", measure_reach, "run the tests once, and find which reach which place")
    one.add_argument("--commit", default="HEAD")
    one.add_argument("--again", action="store_true", help="also if it is known for the commit")
    of_tests(one)
    one = verb("run", run, "put each fault, and run the tests that reach it until one notices it")
    one.add_argument("--only", default="", help="ids of places, with commas")
    of_trials(one)
    one = verb("against", against, "put the faults that the first circle does not notice into an older commit")
    one.add_argument("older", metavar="COMMIT")
    of_tests(one)
    of_trials(one)
    one = verb("table", write_table, "the table in Markdown")
    one.add_argument("--before", default="", metavar="COMMIT", help="with what `against` found")
    one.add_argument("--write", action="store_true", help=f"into {PAGE}")
    return parser


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """One verb."""
    asked = _parser().parse_args(arguments)
    asked.function(Session(asked, root))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
