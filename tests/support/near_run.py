"""Runs what is near a change, and for a while only; a plugin of pytest that `make test-near` steers.

Its option names a plan: test files in their order, each with the words that a test of it has to name, or with none for
all of them; and the processor time after which a worker starts no further test. Any run of the circle `test` notes what
its tests cost, so that the next plan knows.
"""

from __future__ import annotations

import inspect
import json
import os
import re
from collections import Counter
from pathlib import Path

import pytest

SECONDS = "near/seconds"
"""In pytest's cache: seconds of the processor by test file, and below it by test, if they are worth a word."""
WORTH = 0.05
SHOWN = 4


def pytest_addoption(parser):
    parser.addoption("--near-plan", metavar="FILE", help="what `make test-near` found; not for people")


def spent():
    """Processor time of this process and of those that it waited for: a busy machine takes no test away."""
    return sum(os.times()[:4])


def named(words):
    """A pattern of any of these words. A hyphen ends a code, as in the ids of rows; it is a part of a name."""
    ends = {word: r"\w-" if "-" in word else r"\w" for word in words}
    return re.compile("|".join(rf"(?<![{end}]){re.escape(word)}(?![{end}])" for word, end in ends.items()))


class Plan:
    """What is taken, in which order, and for how long."""

    def __init__(self, tests, seconds):
        self.seconds = seconds
        self.words = {test: named(words) for test, words in tests if words}
        self.place = {test: place for place, (test, _) in enumerate(tests)}
        self.left = Counter()

    def names(self, item):
        """Whether a test names a word of its file's: as its row, or in its own text."""
        words = self.words.get(path_of(item))
        if words is None or words.search(item.name.partition("[")[2]):
            return True
        function = getattr(item, "function", None)
        return function is not None and bool(words.search(_text(function)))

    def taken(self, items):
        """Tests that name a word, and those that have no rows; all of a file where none names one."""
        naming = [item for item in items if self.names(item)]
        found = {path_of(item) for item in naming}
        kept = {id(item) for item in naming}
        return sorted(
            (item for item in items if id(item) in kept or path_of(item) not in found or not hasattr(item, "callspec")),
            key=lambda item: self.place.get(path_of(item), len(self.place)),
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config, items):
        taken = self.taken(items)
        kept = {id(item) for item in taken}
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
        items[:] = taken

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item):
        if spent() < self.seconds:
            return None
        self.left[path_of(item)] += 1
        return True

    def pytest_sessionfinish(self, session):
        if (output := getattr(session.config, "workeroutput", None)) is not None:
            output["left_by_time"] = dict(self.left)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        self.left.update(getattr(node, "workeroutput", {}).get("left_by_time", {}))

    def sentence(self):
        """What there was no time for, nearest first; empty where all was run."""
        if not self.left:
            return ""
        files = sorted(self.left, key=lambda test: self.place.get(test, 0))
        more = f" and {len(files) - SHOWN} more files" if len(files) > SHOWN else ""
        total = self.left.total()
        return f"near: no time for {total:,} test{'s' * (total > 1)} of {', '.join(files[:SHOWN])}{more}: make test"

    def pytest_terminal_summary(self, terminalreporter):
        if line := self.sentence():
            terminalreporter.write_line(line, yellow=True)


class Seconds:
    """What the tests of a run cost: `import` is a file's collection in one process, an empty name all of its tests."""

    def __init__(self):
        self.found = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector):
        start = spent()
        report = yield
        if isinstance(collector, pytest.Module):
            self.found.setdefault(collector.nodeid, {})["import"] = round(spent() - start, 2)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        start = spent()
        result = yield
        path, _, name = item.nodeid.partition("::")
        cost = spent() - start
        times = self.found.setdefault(path, {})
        times[""] = round(times.get("", 0.0) + cost, 3)
        if cost >= WORTH:
            times[name] = round(cost, 2)
        return result

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        for path, times in getattr(node, "workeroutput", {}).get("near_seconds", {}).items():
            known = self.found.setdefault(path, {})
            both = known.get("", 0.0) + times.get("", 0.0)
            known.update(times)
            known[""] = round(both, 3)

    def pytest_sessionfinish(self, session):
        if (output := getattr(session.config, "workeroutput", None)) is not None:
            output["near_seconds"] = self.found
        elif self.found:
            session.config.cache.set(SECONDS, {**session.config.cache.get(SECONDS, {}), **self.found})


def path_of(item):
    return item.nodeid.partition("::")[0]


def _text(function):
    try:
        return inspect.getsource(inspect.unwrap(function))
    except (OSError, TypeError):
        return ""


def pytest_configure(config):
    if file := config.getoption("--near-plan"):
        plan = json.loads(Path(file).read_text("utf-8"))
        config.pluginmanager.register(Plan(plan["tests"], plan["seconds"]), "near-plan")
    elif config.getoption("--circle") == "test" and not config.getoption("keyword"):
        config.pluginmanager.register(Seconds(), "near-seconds")
