"""The wheel works alone: in an empty environment, without this checkout."""

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from poolsmith.core.facts import store, twins
from poolsmith.core.own_modules import KEPT
from poolsmith.core.pattern import TABLE

REPOSITORY = Path(__file__).resolve().parents[2]


def run(*arguments, cwd=REPOSITORY, **environment):
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return subprocess.run(
        [str(argument) for argument in arguments],
        cwd=cwd,
        env={**clean, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def sources(folder):
    """What a wheel is built of."""
    ignored = shutil.ignore_patterns("compiled")  # bytecode goes along: it holds for files of the same time
    shutil.copytree(REPOSITORY / "generator", folder / "generator", ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(REPOSITORY / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    source = sources(folder / "source")
    left = source / "generator/poolsmith/data/compiled/gpus.json"
    left.parent.mkdir()
    left.write_text("left over from another version")
    built = run(
        sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder, source
    )
    assert built.returncode == 0, built.stderr
    return next(folder.glob("poolsmith-*.whl"))


@pytest.mark.deep("a whole run, 1.1 s; its parts have tests of their own")
def test_the_wheel_holds_the_package_at_its_root_with_data_and_licence(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.name.endswith("-py3-none-any.whl")
    assert {name.split("/")[0].split("-")[0] for name in names} == {"poolsmith"}
    for needed in (
        "poolsmith/py.typed",
        "poolsmith/data/releases.yaml",
        "poolsmith/data/charts/gpu-operator/v26.7.0.json",
        "poolsmith/project/output/templates/cluster-readme.md.j2",
    ):
        assert needed in names
    made = {KEPT, TABLE, *(store.twin_of(name) for name in twins.yaml_names())}
    assert {name for name in names if name.startswith("poolsmith/data/compiled/")} == {
        f"poolsmith/data/{name}" for name in made
    }
    assert len(names) == len(set(names))
    for licence in ("LICENSE", "NOTICE"):
        assert any(name.endswith(f"licenses/{licence}") for name in names)


@pytest.mark.real("a wheel; what it is made of has tests of its own")
def test_what_is_installed_from_the_wheel_parses_no_yaml_of_the_catalog(wheel, tmp_path):
    """A start must cost no more than with a twin of each file."""
    zipfile.ZipFile(wheel).extractall(tmp_path)
    program = (
        "from poolsmith.core.facts import store, twins\n"
        "store._parsed = None\n"
        "print(len([store.read_own_yaml(name) for name in twins.yaml_names()]), store.__file__)"
    )
    done = run(sys.executable, "-c", program, cwd=tmp_path, PYTHONPATH=str(tmp_path))

    assert done.stderr == ""
    assert done.stdout.split() == [str(len(twins.yaml_names())), str(tmp_path / "poolsmith/core/facts/store.py")]


@pytest.mark.deep("a build; what it calls has tests of its own")
def test_an_editable_install_has_the_twins_beside_the_data(tmp_path):
    source = sources(tmp_path / "source")
    program = "import sys, hatchling.build; print(hatchling.build.build_editable(sys.argv[1]))"
    done = run(sys.executable, "-c", program, tmp_path, cwd=source)

    assert done.returncode == 0, done.stderr
    made = sorted(path.name for path in (source / "generator/poolsmith/data/compiled").iterdir())
    expected = (KEPT, TABLE, *(store.twin_of(name) for name in twins.yaml_names()))
    assert made == sorted(name.removeprefix("compiled/") for name in expected)
    assert not any("compiled" in name for name in zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist())


@pytest.mark.real("a wheel, an environment from the lock, and a project in it")
def test_the_wheel_generates_and_checks_in_an_empty_environment(wheel, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    binaries = tmp_path / "venv" / "bin"
    lock = REPOSITORY / "requirements-run.lock"
    install = (binaries / "pip", "install", "--quiet", "--no-compile")
    locked = run(*install, "--require-hashes", "--requirement", lock, cwd=tmp_path)
    if locked.returncode != 0 and "No matching distribution" in locked.stderr:
        pytest.skip("the package index can't be reached, so the wheel's dependencies can't be installed")
    assert locked.returncode == 0, locked.stderr
    installed = run(*install, "--no-deps", "--no-index", wheel, cwd=tmp_path)
    assert installed.returncode == 0, installed.stderr
    assert run(binaries / "pip", "check").returncode == 0
    project = tmp_path / "project"
    project.mkdir()
    for verb in (("init", "lab"), ("generate",), ("generate", "--check"), ("check",)):
        done = run(binaries / "poolsmith", *verb, cwd=project)
        assert done.returncode == 0, done.stdout + done.stderr
    shown = run(binaries / "poolsmith", "explain", "lab:operator.upgradeCRD", cwd=project)
    assert "profiles/lab/cluster.yaml" in shown.stdout
