"""Three circles of tests, and which of them a run takes; a plugin of pytest.

| circle | what it takes | who runs it |
| --- | --- | --- |
| `test` | every kind of proof, small samples | `make test`, before each commit |
| `real` | what needs a control plane or many runs of a real tool | `make test-real` |
| `deep` | everything, with full counts | `make test-deep`, each night |

`both` are the first two in one run, which collects once: `.ci/run`.

A test is in the circle `test` unless a marker with its reason says otherwise: `real(reason)`, `deep(reason)`, or
`rows(count, reason)` for a table of which `make test` takes so many rows. These are chosen so that each column of the
table is seen with as many of its values as fit. A run ends with a line that says how many tests it left to which
circle. Without `--circle` every test runs, with small counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import settings

CIRCLES = ("test", "real", "deep")
BOTH = "both"
_TAKEN = {"test": ("test",), "real": ("real",), BOTH: ("test", "real")}
"""The circles that a run takes a part of; all other runs take everything."""
API_SERVER = "control_plane"
"""The fixture that starts etcd and the API server."""
COMMANDS = {"real": "make test-real", "deep": "make test-deep"}

settings.register_profile("small", max_examples=8, deadline=None, derandomize=True)
settings.register_profile("deep", max_examples=2000, deadline=None)


class Run:
    """What this run takes. Tests ask it while they are collected."""

    circle: str | None = None

    def __init__(self) -> None:
        self.left: Counter[str] = Counter()


RUN = Run()
DEEP = False
"""Whether full counts are wanted. Set before any test is imported."""


def share(
    cases: Iterable[Any], count: int, name: Callable[[Any], str] = str, reason: str = "more of the same kind"
) -> list[Any]:
    """All cases as parameters of a test: so many of them for every run, from the first to the last, the rest `deep`."""
    known = list(cases)
    step = max(1, (len(known) - 1) // max(1, count - 1))
    first = [item for place, item in enumerate(known) if place % step == 0][:count] if len(known) > count else known
    return parameters(first, [item for item in known if item not in first], name, reason)


def parameters(
    first: Sequence[Any],
    rest: Sequence[Any],
    name: Callable[[Any], str] = str,
    reason: str = "more of the same kind",
) -> list[Any]:
    """Parameters of a test: the first ones for every run, the rest `deep`."""
    left = pytest.mark.deep(reason)
    return [
        *(pytest.param(item, id=name(item)) for item in first),
        *(pytest.param(item, id=name(item), marks=left) for item in rest),
    ]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--circle",
        choices=(*CIRCLES, BOTH),
        help="take the tests of one circle, or of the first two; without it all, with small counts",
    )


def pytest_configure(config: pytest.Config) -> None:
    global DEEP  # noqa: PLW0603 - what tests import; the run decides it before it imports them
    RUN.circle = config.getoption("--circle")
    RUN.left.clear()
    DEEP = RUN.circle == "deep"
    settings.load_profile("deep" if DEEP else "small")


def _marked(item: pytest.Item, name: str) -> pytest.Mark | None:
    mark = item.get_closest_marker(name)
    if mark is not None and not (mark.args and isinstance(mark.args[-1], str) and mark.args[-1].strip()):
        raise pytest.UsageError(f"{item.nodeid}: the marker `{name}` needs a reason")
    return mark


def circle_of(item: pytest.Item) -> str:
    """The smallest circle that takes a test, whatever row of a table it is.

    Who asks for the API server is of the circle `real` without saying so, but for a first proof that is marked.
    """
    if _marked(item, "deep"):
        return "deep"
    asks = API_SERVER in getattr(item, "fixturenames", ()) and not _marked(item, "every_run")
    return "real" if asks or _marked(item, "real") else "test"


def spread(rows: Sequence[dict[str, int]], wanted: int) -> list[int]:
    """Places of so many rows, in order: each next one brings most values of columns that no other has brought.

    A row is the place of its value by column.
    """
    left = sorted(range(len(rows)), key=lambda place: sha256(repr(sorted(rows[place].items())).encode()).digest())
    seen: Counter[tuple[str, int]] = Counter()
    taken: list[int] = []
    while left and len(taken) < wanted:
        best = min(left, key=lambda place: sum(seen[pair] for pair in rows[place].items()))
        seen.update(rows[best].items())
        left.remove(best)
        taken.append(best)
    return sorted(taken)


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> Any:
    """Rows that are left out are not made in the first place: making them is what collecting costs."""
    made = yield
    if RUN.circle not in _TAKEN or not isinstance(made, list):
        return made
    tests = [item for item in made if isinstance(item, pytest.Function) and hasattr(item, "callspec")]
    marks = {id(item): mark for item in tests if (mark := _marked(item, "rows"))}
    if not marks:
        return made
    candidates = [item for item in tests if id(item) in marks and circle_of(item) != "deep"]
    wanted = max((marks[id(item)].args[0] for item in candidates), default=0)
    chosen = {
        id(candidates[place])
        for place in spread([dict(item.callspec.indices) for item in candidates], wanted)  # type: ignore[attr-defined]
    }
    kept = [item for item in made if id(item) not in marks or id(item) in chosen or circle_of(item) == "deep"]
    RUN.left["deep"] += len(made) - len(kept)
    return kept


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    taken = _TAKEN.get(RUN.circle or "")
    if taken is None:
        for item in items:
            circle_of(item), _marked(item, "rows")
        return
    found = [(item, circle_of(item)) for item in items]
    left = [(item, circle) for item, circle in found if circle not in taken]
    RUN.left.update(circle for _, circle in left if circle != "test")
    config.hook.pytest_deselected(items=[item for item, _ in left])
    items[:] = [item for item, circle in found if circle in taken]


def pytest_sessionfinish(session: pytest.Session) -> None:
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["left_to_circles"] = dict(RUN.left)


class _OfWorkers:
    """Each worker collects the same tests, so that the last one's word counts."""

    def pytest_testnodedown(self, node: Any) -> None:
        RUN.left = Counter(getattr(node, "workeroutput", {}).get("left_to_circles", {}))


def sentence(circle: str | None, left: Counter[str]) -> str:
    """One line for the end of a run; empty where nothing was left."""
    told = [
        f"{number:,} test{'s' * (number > 1)} to {COMMANDS[name]}"
        for name in ("real", "deep")
        if (number := left[name])
    ]
    return f"circle `{circle}`; left: {', '.join(told)}" if told else ""


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if line := sentence(RUN.circle, RUN.left):
        terminalreporter.write_line(line)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    if session.config.pluginmanager.hasplugin("xdist") and not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(_OfWorkers(), "circles-of-workers")
