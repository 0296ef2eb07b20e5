"""Runs what is near a change, and for a while only; a plugin of pytest that `make test-near` steers.

Its option names a plan: test files in their order, each with the words that a test of it has to name, or with none for
all of them; and the time after which no further test is started. Any run of a circle notes how long its tests took, so
that the next plan knows.
"""

from __future__ import annotations

import inspect
import json
import re
import time
from collections import Counter
from pathlib import Path

import pytest

SECONDS = "near/seconds"
"""In pytest's cache: seconds by test file, and below it by test, if they are worth a word."""
WORTH = 0.05


def pytest_addoption(parser):
    parser.addoption("--near-plan", metavar="FILE", help="what `make test-near` found; not for people")


class _Plan:
    """What is taken, in which order, until when."""

    def __init__(self, file):
        plan = json.loads(Path(file).read_text("utf-8"))
        self.until = plan["until"]
        self.words = {
            test: re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, words))})(?![\w-])") if words else None
            for test, words in plan["tests"]
        }
        self.place = {test: place for place, (test, _) in enumerate(plan["tests"])}
        self.left = Counter()

    def takes(self, item):
        """Whether a test names a word of its file's: in its own text, or as its row; one without rows does not need to."""
        words = self.words.get(path_of(item))
        if words is None or words.search(item.name.partition("[")[2]):
            return True
        function = getattr(item, "function", None)
        return function is not None and bool(words.search(_text(function)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config, items):
        named = [item for item in items if self.takes(item)]
        found = {path_of(item) for item in named}
        kept = {id(item) for item in named} | {
            id(item) for item in items if path_of(item) not in found or not hasattr(item, "callspec")
        }
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
        items[:] = sorted(
            (item for item in items if id(item) in kept),
            key=lambda item: self.place.get(path_of(item), len(self.place)),
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item):
        if time.time() < self.until:
            return None
        self.left[path_of(item)] += 1
        return True

    def pytest_sessionfinish(self, session):
        if (output := getattr(session.config, "workeroutput", None)) is not None:
            output["left_by_time"] = dict(self.left)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        self.left.update(getattr(node, "workeroutput", {}).get("left_by_time", {}))

    def pytest_terminal_summary(self, terminalreporter):
        if self.left:
            files = ", ".join(sorted(self.left, key=lambda test: self.place.get(test, 0))[:4])
            more = f" and {len(self.left) - 4} more files" if len(self.left) > 4 else ""
            terminalreporter.write_line(
                f"near: no time for {self.left.total():,} tests of {files}{more}: make test", yellow=True
            )


class _Seconds:
    """How long the tests of a run took, added to what earlier runs noted."""

    def __init__(self):
        self.found = {}

    def pytest_runtest_logreport(self, report):
        path, _, name = report.nodeid.partition("::")
        times = self.found.setdefault(path, {})
        times[name] = times.get(name, 0.0) + report.duration

    def pytest_sessionfinish(self, session):
        if not self.found:
            return
        known = session.config.cache.get(SECONDS, {})
        for path, times in self.found.items():
            kept = {name: round(spent, 2) for name, spent in times.items() if spent >= WORTH}
            known[path] = {"": round(sum(times.values()), 2), **kept}
        session.config.cache.set(SECONDS, known)


def path_of(item):
    return item.nodeid.partition("::")[0]


def _text(function):
    try:
        return inspect.getsource(inspect.unwrap(function))
    except (OSError, TypeError):
        return ""


def pytest_configure(config):
    if file := config.getoption("--near-plan"):
        config.pluginmanager.register(_Plan(file), "near-plan")
    elif (
        config.getoption("--circle") == "test"
        and not hasattr(config, "workerinput")
        and not config.getoption("keyword")
    ):
        config.pluginmanager.register(_Seconds(), "near-seconds")
