"""A module that is loaded late is, for whoever asks it for something, the module itself."""

from __future__ import annotations

import importlib
import inspect
import sys
import threading
import time
from types import ModuleType

import pytest

from poolsmith.core.late import LateModule, late_submodules, load_late, sha256_of

TEXT = """
import sys
STARTED = sys.modules["late_counts"].append(__name__) or True
from late_package import other
VALUE = {value}
_late = __is_late = 7
def twice():
    return 2 * VALUE
"""


@pytest.fixture
def counts(tmp_path, monkeypatch):
    """Names of modules of a package, as their code runs."""
    package = tmp_path / "late_package"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from poolsmith.core.late import late_submodules\n__getattr__ = late_submodules(__name__)\n"
    )
    (package / "one.py").write_text(TEXT.format(value=1))
    (package / "other.py").write_text(TEXT.format(value=2).replace("import other", "import one"))
    (package / "broken.py").write_text("ONE = 1\nraise ValueError('broken')\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = []
    monkeypatch.setitem(sys.modules, "late_counts", found)
    yield found
    for name in [name for name in sys.modules if name.startswith("late_package")]:
        del sys.modules[name]


def test_its_code_runs_when_something_is_asked_of_it(counts):
    from late_package import one

    assert type(one) is LateModule
    assert (one.__name__, one.__package__, counts) == ("late_package.one", "late_package", [])
    assert one.twice() == 2
    assert (type(one), counts) == (ModuleType, ["late_package.one"]), "they name each other"
    assert one.other.twice() == 4


@pytest.mark.parametrize(
    "asked",
    [
        lambda one: vars(one)["VALUE"],
        lambda one: "VALUE" in dir(one),
        lambda one: dict(inspect.getmembers(one))["VALUE"],
        lambda one: importlib.import_module("late_package.one").VALUE,
        lambda one: importlib.reload(one).VALUE,
        lambda one: one.twice.__globals__ is vars(one),
    ],
)
def test_whatever_is_asked(counts, asked):
    from late_package import one

    assert asked(one)
    assert set(counts) == {"late_package.one"}


def test_names_that_are_not_there(counts):
    import late_package

    with pytest.raises(ImportError, match="cannot import name 'missing'"):
        from late_package import missing  # noqa: F401
    with pytest.raises(AttributeError, match="has no attribute `missing`"):
        late_package.missing  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute `missing`"):
        late_package.one.missing  # noqa: B018
    assert not hasattr(late_package, "_one")
    assert not hasattr(importlib.import_module("late_package.other"), "__wrapped__")


def test_a_module_that_fails_fails_again(counts):
    from late_package import broken

    for _ in range(2):
        with pytest.raises(ValueError, match="broken"):
            broken.TWO  # noqa: B018


def test_what_has_been_imported_stays(counts):
    from late_package.one import VALUE

    assert load_late("late_package.one") is None
    assert load_late("no_such_module_anywhere") is None
    assert (VALUE, sys.modules["late_package"].one.VALUE) == (1, 1)


def test_monkeypatch_finds_what_was_there(counts, monkeypatch):
    from late_package import one

    monkeypatch.setattr(one, "VALUE", 5)
    assert one.twice() == 10
    monkeypatch.undo()
    assert one.twice() == 2


def test_threads_wait_for_each_other(counts, tmp_path):
    slow = TEXT.format(value=3).replace("VALUE =", "import time; time.sleep(0.1)\nVALUE =")
    (tmp_path / "late_package/slow.py").write_text(slow)
    from late_package import slow as module

    found = []
    threads = [threading.Thread(target=lambda: found.append(module.twice())) for _ in range(8)]
    for thread in threads:
        thread.start()
    time.sleep(0.02)
    for thread in threads:
        thread.join(5)
    assert (found, counts) == ([6] * 8, ["late_package.slow"])


def test_rules_are_named_before_they_are_loaded():
    package = importlib.import_module("poolsmith.guard.rules.links")
    assert isinstance(package.__getattr__, type(late_submodules("a")))
    assert package.admin_access.RULE.code == "PSM753"


def test_short_contents_are_hashed_as_hashlib_does():
    from hashlib import sha256

    assert sha256_of(b"a") == sha256(b"a").hexdigest()
