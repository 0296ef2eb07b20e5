"""Each target, for a moment, always with the same inputs; and every input that ever made one crash."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from fuzz import engine, mutators
from fuzz.engine import REGRESSIONS, crash_of, fuzz
from fuzz.target import Target
from fuzz.targets import commands, texts

TARGETS = {target.name: target for target in (*texts.TARGETS, *commands.TARGETS)}
CASES = sorted(path for path in REGRESSIONS.glob("*/*") if path.is_file())
RUNS = {**dict.fromkeys((target.name for target in texts.TARGETS), 150), "yaml": 60}
"""Of a target that starts commands 8, since each is a whole run."""
SECONDS = 30


@pytest.mark.deep("a whole run, 0.9 s; its parts have tests of their own")
@pytest.mark.rows(4, "a moment of each kind of reader; make fuzz goes on")
@pytest.mark.parametrize("name", TARGETS)
def test_a_target_takes_what_it_gets(name):
    result = fuzz(TARGETS[name], SECONDS, "tests", most_runs=RUNS.get(name, 8), fresh_share=0.5)

    assert {kind: crash.trace for kind, crash in result.crashes.items()} == {}
    assert result.runs


@pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_once_crashed_does_so_no_more(case):
    crash = crash_of(TARGETS[case.parent.name], case.read_bytes())

    assert crash is None, crash.trace


def test_every_case_is_of_a_target():
    assert {path.parent.name for path in CASES} <= TARGETS.keys()


def boom(data):
    if b"!" in data:
        raise KeyError(data)
    return "fine"


def loop(data):
    while data:
        pass
    return ""


def drawn(data):
    return str(random.random())


def started(run, **options):
    return Target("yaml", lambda: [b"a: 1\nb: [2, 3]\n"], run, **options)


def test_a_crash_is_found_and_made_small(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "REGRESSIONS", tmp_path)
    target = started(boom, structures="text")
    crash = crash_of(target, b"x" * 300 + b"!" + b"y" * 300)

    assert crash.kind == "KeyError@test_fuzz.py:boom"
    assert engine.save(target, crash).read_bytes() == b"!"


def test_declared_errors_are_no_crash_but_loops_and_dice_are():
    assert crash_of(started(boom, declared=(KeyError,)), b"!") is None
    assert crash_of(started(loop, seconds=0.05), b"a").kind == "TooSlow"
    assert crash_of(started(drawn), b"a").kind.startswith("AssertionError")


@pytest.mark.parametrize("structures", sorted(mutators.WAYS))
def test_the_same_seed_makes_the_same_inputs_and_many_of_them(structures):
    def inputs():
        source = random.Random("a seed")
        seeds = [b"a: {b: [1, 2], c: d}\n---\n- e\n", b"has(object.a) && [1, 2].all(x, x > 0)"]
        return [mutators.mutated(source, seeds[0], seeds, 500, structures) for _ in range(200)]

    assert inputs() == inputs()
    assert len(set(inputs())) > 100
    assert max(map(len, inputs())) <= 500


def test_a_sweep_is_every_node_with_every_value():
    seen = []
    target = started(lambda data: seen.append(data) or "")

    assert engine.sweep(target, 20, 0, 1).runs == len(seen)
    assert 5 * len(mutators.VALUES) - 10 <= len(seen) <= 5 * (len(mutators.VALUES) + 1)  # nodes: a document, a, b, 2, 3


def test_the_folder_of_cases_is_where_it_is_said_to_be():
    assert Path(__file__).parent / "regressions" == REGRESSIONS
