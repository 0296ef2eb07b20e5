"""Code that is kept together is that of the sources as they are, or isn't used; a run with it says the same."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import poolsmith
from bench.fleet import write_fleet
from poolsmith.core.facts import kept_code, twins
from poolsmith.core.own_modules import INSTALLING, KEPT, OwnModules
from poolsmith.core.record import method_code, method_texts

FOLDER = Path(poolsmith.__file__).parent
ONE = '"""One."""\nfrom __future__ import annotations\nVALUE = 1\n\n\ndef f(of: int = 3) -> int:\n    return of\n'


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules, of which one sort of run loads both."""
    folder = tmp_path / "kept_package"
    (folder / "below").mkdir(parents=True)
    (folder / "data/compiled").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "one.py").write_text(ONE)
    (folder / "below/__init__.py").write_text("VALUE = 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.startswith("kept_package")]:
        del sys.modules[name]


def keep(folder, *, is_installed=True):
    groups = [(("hook", ""), ["kept_package.one"]), (("hook",), ["kept_package.below"])]
    content = kept_code.packed(groups, folder, is_installed=is_installed)
    (folder / "data" / KEPT).write_bytes(content)


def finder(folder, run="hook"):
    made = OwnModules("kept_package", str(folder))
    made.kept.open(run)
    return made


def is_kept(folder, name, run="hook"):
    return finder(folder, run).kept.source(name, f"{folder}/{name.partition('.')[2]}") is not None


def test_what_is_kept_is_the_module(package, monkeypatch):
    keep(package)
    monkeypatch.setattr(sys, "meta_path", [finder(package), *sys.meta_path])
    one, below = map(importlib.import_module, ("kept_package.one", "kept_package.below"))

    assert (one.VALUE, one.__doc__, one.f(), one.__file__) == (1, "One.", 3, str(package / "one.py"))
    assert (below.VALUE, below.__path__) == (2, [str(package / "below")])
    assert one.f.__code__.co_filename == str(package / "one.py")
    assert one.f.__annotations__ == {}, "it was the lean one"
    (package / "one.py").write_text(ONE.replace("VALUE = 1", "VALUE = 11"))
    assert importlib.reload(one).VALUE == 11


def test_a_run_loads_what_runs_of_its_kind_load(package):
    keep(package)

    assert is_kept(package, "kept_package.one", "")
    assert not is_kept(package, "kept_package.below", "")
    assert not is_kept(package, "kept_package.one", "another verb")
    assert not is_kept(package, "kept_package.missing")


def edited(path):
    path.write_text(path.read_text().replace("1", "5"))
    os.utime(path, (1, 1))


def grown(path):
    state = path.stat()
    path.write_text(f"{path.read_text()}\n")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


@pytest.mark.parametrize("change", [edited, grown, Path.unlink])
def test_a_source_that_is_otherwise_is_left_to_python(package, change):
    keep(package)
    change(package / "one.py")

    assert not is_kept(package, "kept_package.one")
    assert is_kept(package, "kept_package.below")


def test_in_a_wheel_a_source_may_be_as_young_as_an_installation_takes(package):
    keep(package, is_installed=False)
    made = (package / "data" / KEPT).stat().st_mtime

    for age, expected in ((0, True), (INSTALLING - 1, True), (INSTALLING + 5, False), (-1_000_000, True)):
        os.utime(package / "one.py", (made + age, made + age))
        assert is_kept(package, "kept_package.one") is expected, age
    grown(package / "one.py")
    assert not is_kept(package, "kept_package.one")


@pytest.mark.parametrize("damage", [b"", b"\0", b"\xff" * 20, b"\5\0\0\0\0\0\0\0{", None])
def test_a_damaged_file_is_not_used(package, monkeypatch, damage):
    place = package / "data" / KEPT
    place.mkdir() if damage is None else place.write_bytes(damage)
    monkeypatch.setattr(sys, "meta_path", [finder(package), *sys.meta_path])

    assert importlib.import_module("kept_package.one").VALUE == 1
    assert finder(package).kept.method("def __hash__(self): return hash(())") is None


def test_a_group_that_is_cut_off_is_left_to_python(package, monkeypatch):
    keep(package)
    place = package / "data" / KEPT
    content = place.read_bytes()
    place.write_bytes(content[: 8 + int.from_bytes(content[:8], "little")])
    monkeypatch.setattr(sys, "meta_path", [finder(package), *sys.meta_path])

    assert importlib.import_module("kept_package.one").VALUE == 1


def test_methods_of_records_are_what_the_compiler_makes(package):
    keep(package)
    kept = finder(package).kept

    for text in method_texts(24):
        assert kept.method(text) == method_code(text)
    assert kept.method("def __lt__(self, other): ...") is None


def test_groups_have_what_the_same_runs_load():
    loaded = [("a", ["x", "y", "z"]), ("b", ["y", "w", "x"]), ("b", ["y", "u", "z"])]

    assert kept_code.grouped(loaded) == [
        (["a", "b", ""], ["x"]),
        (["a", "b", ""], ["y"]),
        (["a", "b", ""], ["z"]),
        (["b"], ["w"]),
        (["b"], ["u"]),
    ]


PLAIN = "import sys; from poolsmith.interface.cli.main import _run; code = _run(sys.argv[1:]); sys.stdout.flush(); sys.exit(code)"
"""A run for which Python finds our modules."""


def said(folder, start, words):
    environment = {"PYTHONPATH": str(FOLDER.parent), "HOME": str(folder)}
    command = [sys.executable, *start, *words]
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout, run.stderr


@pytest.fixture
def checkout():
    """What is kept is that of the sources as they are."""
    twins.write_code(twins.store.DATA)


HOOKS = (
    "driver: {enabled: 7, usePrecompiled: maybe}\ndevicePlugin: {config: {name: shared}}\n",
    "toolkit: {env: [{name: CONTAINERD_CONFIG, value: /x}]}\nmig: {strategy: double}\nnfd: {enabled: no}\n",
    "kind: Pod\napiVersion: v1\nmetadata: {name: a}\nspec: {containers: [{name: a, image: nvidia/cuda}]}\n",
)


@pytest.mark.usefixtures("checkout")
def test_runs_with_and_without_it_say_the_same(tmp_path):
    write_fleet(tmp_path, 2)
    for number, text in enumerate(HOOKS):
        (tmp_path / f"{number}.yaml").write_text(text)
    calls = [("check", "--hook", f"{number}.yaml") for number in range(len(HOOKS))]
    calls += [("generate", "--check"), ("check", "--no-cache"), ("explain", "PSM601"), ("schema", "NodePool")]
    assert said(tmp_path, ("-m", "poolsmith"), ("generate", "--no-cache"))[0] == 0

    for words in calls:
        found = said(tmp_path, ("-m", "poolsmith"), words)
        assert found == said(tmp_path, ("-c", PLAIN), words), words
        assert "internal error" not in found[2]
