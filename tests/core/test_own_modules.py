"""Poolsmith's own modules are found as Python finds them, or left to Python."""

from __future__ import annotations

import compileall
import importlib
import marshal
import os
import pickle
import pkgutil
import py_compile
import subprocess
import sys
import sysconfig
import traceback
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

import poolsmith
from poolsmith.core.own_modules import LibraryModules, OwnModules, find_own_modules

FOLDER = Path(poolsmith.__file__).parent


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules, with bytecode; only the finder knows its folder."""
    folder = tmp_path / "own_package"
    (folder / "below").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "one.py").write_text('"""One."""\nVALUE = 1\n\n\ndef fail():\n    raise ValueError\n')
    (folder / "below/__init__.py").write_text("VALUE = 2\n")
    compileall.compile_dir(folder, quiet=2)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [OwnModules("own_package", str(folder)), *sys.meta_path])
    yield folder
    for name in [name for name in sys.modules if name.startswith("own_package")]:
        del sys.modules[name]


def found(package, name):
    return OwnModules("own_package", str(package)).find_spec(name)


def test_each_of_ours_is_what_python_finds():
    compileall.compile_dir(FOLDER, quiet=2)
    ours = OwnModules("poolsmith", str(FOLDER))
    names = [module.name for module in pkgutil.walk_packages(poolsmith.__path__, "poolsmith.")]

    assert len(names) > 900
    for name in names:
        spec, parent = ours.find_spec(name), FOLDER.joinpath(*name.split(".")[1:-1])
        expected = PathFinder.find_spec(name, [str(parent)])
        for word in ("name", "origin", "cached", "submodule_search_locations", "parent", "has_location"):
            assert getattr(spec, word) == getattr(expected, word), (name, word)
        assert marshal.dumps(spec.loader.get_code(name)) == marshal.dumps(expected.loader.get_code(name))
        assert spec.loader.get_code(name) is not None, "it can be asked again"


@pytest.mark.parametrize("name", sorted(sys.stdlib_module_names - {"this", "antigravity"}))
def test_each_of_the_library_is_what_python_finds(name):
    spec = LibraryModules().find_spec(name)
    expected = PathFinder.find_spec(name, [*sys.path, *sysconfig.get_paths().values()])
    if spec is None:
        assert name in sys.builtin_module_names or expected is None or expected.cached is None or is_other(expected)
        return
    for word in ("name", "origin", "cached", "submodule_search_locations", "parent", "has_location"):
        assert getattr(spec, word) == getattr(expected, word), word
    if spec.cached:
        assert marshal.dumps(spec.loader.get_code(name)) == marshal.dumps(expected.loader.get_code(name))


def is_other(spec):
    """Frozen, or never compiled."""
    return importlib.machinery.FrozenImporter.find_spec(spec.name) is not None or not Path(spec.cached).exists()


def test_a_folder_of_strangers_is_not_asked_for_the_library(tmp_path):
    (tmp_path / "decimal.py").write_text("raise SystemExit('a stranger')\n")
    (tmp_path / "values.yaml").write_text("driver: {enabled: 7}\ndevicePlugin: {}\n")
    command = [sys.executable, "-m", "poolsmith", "check", "--hook", "values.yaml"]
    environment = {"PYTHONPATH": str(FOLDER.parent)}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert "a stranger" not in run.stdout + run.stderr


def test_a_module_is_as_any_other(package):
    one = importlib.import_module("own_package.one")

    assert (one.VALUE, one.__doc__, one.__file__) == (1, "One.", str(package / "one.py"))
    assert one.__cached__ == importlib.util.cache_from_source(one.__file__)
    assert importlib.import_module("own_package.below").VALUE == 2
    assert importlib.reload(one).VALUE == 1
    assert pickle.loads(pickle.dumps(one.fail)) is one.fail
    with pytest.raises(ValueError) as error:
        one.fail()
    assert "raise ValueError" in "".join(traceback.format_tb(error.value.__traceback__))
    assert "def fail" in one.__loader__.get_source("own_package.one")


def edited(path):
    path.write_text(path.read_text().replace("1", "5"))
    os.utime(path, (1, 1))


def grown(path):
    state = path.stat()
    path.write_text("VALUE = 5  # longer than it was, at the same time\n" * 3)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def damaged(path):
    Path(importlib.util.cache_from_source(str(path))).write_bytes(b"\0" * 5)
    path.write_text("VALUE = 5\n")


def of_another(path):
    place = Path(importlib.util.cache_from_source(str(path)))
    place.write_bytes(b"\0\0\r\n" + place.read_bytes()[4:])
    path.write_text("VALUE = 5\n")


def by_hash(path):
    path.write_text("VALUE = 5\n")
    compileall.compile_file(path, quiet=2, force=True, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)


def without(path):
    path.write_text("VALUE = 5\n")
    Path(importlib.util.cache_from_source(str(path))).unlink()


@pytest.mark.parametrize("change", [edited, grown, damaged, of_another, by_hash, without])
def test_what_is_otherwise_is_left_to_python(package, change):
    change(package / "one.py")

    assert importlib.import_module("own_package.one").VALUE == 5


def test_what_is_not_there_or_not_ours(package):
    for name in (
        "own_package",
        "own_package.missing",
        "own_packages.one",
        "json",
        "own_package.one.two",
    ):
        assert found(package, name) is None
    with pytest.raises(ModuleNotFoundError, match=r"own_package\.missing"):
        importlib.import_module("own_package.missing")


@pytest.mark.parametrize(("name", "value"), [("pycache_prefix", "/nowhere"), ("flags", type("O", (), {"optimize": 1}))])
def test_bytecode_elsewhere_or_of_another_kind_is_not_looked_for(monkeypatch, name, value):
    before = list(sys.meta_path)
    monkeypatch.setattr(sys, name, value)
    find_own_modules("poolsmith", str(FOLDER))

    assert sys.meta_path == before


def test_a_run_with_it_says_the_same(tmp_path):
    (tmp_path / "values.yaml").write_text("driver: {enabled: 7}\ndevicePlugin: {}\n")
    command = [sys.executable, "-m", "poolsmith", "check", "--hook", "values.yaml"]
    environment = {"PYTHONPATH": str(FOLDER.parent)}
    runs = [
        subprocess.run(command, cwd=tmp_path, env=environment | more, capture_output=True, text=True, check=False)
        for more in ({}, {"PYTHONPYCACHEPREFIX": str(tmp_path / "cache")}, {"PYTHONOPTIMIZE": "1"})
    ]

    assert {(run.returncode, run.stdout, run.stderr) for run in runs} == {(0, runs[0].stdout, "")}
