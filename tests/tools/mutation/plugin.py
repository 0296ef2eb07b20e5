"""A plugin of pytest: which test runs, what it costs and comes to, and what it reaches; it stands alone.

What is made once and kept (fixtures of a module or a session, results of cached functions, cached properties, imports of
test modules) is a context of its own. A test reaches what the contexts reach that it uses, also when another test made
them. Variables of the environment: MUTATION_FOLDER is where notes go; MUTATION_TESTS is a file of tests, one a line: only
they run, in that order; MUTATION_WATCH is set where places have hooks.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mutation_hook  # type: ignore[import-not-found, unused-ignore]
import pytest

FOLDER = Path(os.environ["MUTATION_FOLDER"])
CHECKOUT = str(Path.cwd())
STARTS = frozenset(("subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty"))

hook: Any = mutation_hook.install(str(FOLDER))
hook.who = "session"
_numbers = iter(range(sys.maxsize))
_worthy: set[str] = set()
"""Contexts in which something was reached, or may have been by a process that was started."""
_fixtures: dict[int, str] = {}
_failed: set[str] = set()
_ran: set[str] = set()
_last = {"started": False, "told": ""}


@contextlib.contextmanager
def context(name: str) -> Iterator[None]:
    """What is reached meanwhile is reached by `name`, and by who asked for it."""
    before = hook.who, hook.seen, _last["started"]
    hook.who, hook.seen, _last["started"] = name, set(), False
    try:
        yield
    finally:
        if hook.seen or _last["started"]:
            _worthy.add(name)
        hook.who, hook.seen, _last["started"] = before
        _use(name)


def _use(name: str | None) -> None:
    if name in _worthy:
        hook(name)


def _new(kind: str) -> str:
    return f"{kind}:{os.getpid()}.{next(_numbers)}"


def _watch_processes(event: str, _: object) -> None:
    if event in STARTS:
        _last["started"] = True
        if _last["told"] != (told := f"{os.getpid()} {hook.who}"):
            _last["told"] = told
            with contextlib.suppress(OSError):
                (FOLDER / f"of-{os.getpid()}").write_text(hook.who, "utf-8")


def _ours(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(CHECKOUT)


def _watch_caches() -> None:
    """Let caches of this checkout tell what was reached when they were filled."""
    cache_of, property_of = functools.lru_cache, functools.cached_property
    properties: dict[tuple[int, Any], str] = {}

    def watched(function: Callable[..., Any], maxsize: int | None, *, typed: bool) -> Callable[..., Any]:
        @cache_of(maxsize, typed)
        def kept(*args: Any, **named: Any) -> tuple[str, Any]:
            with context(name := _new("cache")):
                value = function(*args, **named)
            return name, value

        @functools.wraps(function)
        def asked(*args: Any, **named: Any) -> Any:
            name, value = kept(*args, **named)
            _use(name)
            return value

        for attribute in ("cache_info", "cache_clear", "cache_parameters"):
            setattr(asked, attribute, getattr(kept, attribute))
        return asked

    def lru_cache(maxsize: Any = 128, typed: bool = False) -> Any:
        if callable(maxsize):
            return watched(maxsize, 128, typed=False) if _ours(maxsize) else cache_of(maxsize)
        return lambda function: (
            watched(function, maxsize, typed=typed) if _ours(function) else cache_of(maxsize, typed)(function)
        )

    class CachedProperty(property_of):  # type: ignore[misc, valid-type]
        """Sees as well when a kept value is read again, because it can also set."""

        def __new__(cls, function: Any) -> Any:
            return super().__new__(cls) if _ours(function) else property_of(function)

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            key = id(instance), self.attrname
            if self.attrname in instance.__dict__:
                _use(properties.get(key))
                return instance.__dict__[self.attrname]
            with context(name := _new("property")):
                value = super().__get__(instance, owner)
            properties[key] = name
            return value

        def __set__(self, instance: Any, value: Any) -> None:
            instance.__dict__[self.attrname] = value

        def __delete__(self, instance: Any) -> None:
            if self.attrname not in instance.__dict__:
                raise AttributeError(self.attrname)
            del instance.__dict__[self.attrname]

    functools.lru_cache, functools.cached_property = lru_cache, CachedProperty  # type: ignore[assignment, misc]
    functools.cache = lru_cache(None)


if "MUTATION_WATCH" in os.environ:
    sys.addaudithook(_watch_processes)
    _watch_caches()


def _seconds() -> float:
    return sum(os.times()[:4])


def _note(**facts: object) -> None:
    with (FOLDER / f"tests-{os.getpid()}").open("a", encoding="utf-8") as log:
        log.write(json.dumps(facts) + "\n")


def _circle(item: pytest.Item) -> str:
    if not hasattr(item.config.option, "circle"):
        return "before"
    return next((circle for circle in ("deep", "real") if item.get_closest_marker(circle)), "test")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Only the tests that are asked for, in the order in which they are asked for."""
    if chosen := os.environ.get("MUTATION_TESTS"):
        order = {test: place for place, test in enumerate(Path(chosen).read_text("utf-8").split("\n"))}
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in order])
        items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Any:
    """What the import of a test module reaches, each of its tests reaches."""
    with context(f"collect:{collector.nodeid}"):
        report = yield
    if report.failed:
        _note(test=collector.nodeid, outcome="not collected")
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(fixturedef: Any) -> Any:
    """What a fixture reaches that is kept for more than one test, each test reaches that uses it."""
    if fixturedef.scope == "function":
        return (yield)
    _fixtures[id(fixturedef)] = name = _new("fixture")
    with context(name):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: Any) -> Any:
    """One test, from its fixtures to their end."""
    (FOLDER / "running").write_text(item.nodeid, "utf-8")
    before = _seconds()
    hook.who, hook.seen = item.nodeid, set()
    try:
        result = yield
        for definitions in item._fixtureinfo.name2fixturedefs.values():
            for definition in definitions:
                _use(_fixtures.get(id(definition)))
    finally:
        hook.who, hook.seen = "session", set()
    outcome = "failed" if item.nodeid in _failed else "passed" if item.nodeid in _ran else "skipped"
    _note(test=item.nodeid, outcome=outcome, seconds=round(_seconds() - before, 3), circle=_circle(item))
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Any part of a test may fail; it was run where its own part passed."""
    report = yield
    if report.failed:
        _failed.add(item.nodeid)
    elif report.when == "call" and report.passed:
        _ran.add(item.nodeid)
    return report
