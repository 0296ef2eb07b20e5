"""The wheel works alone: in an empty environment, without this checkout."""

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

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


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(REPOSITORY / "generator", source / "generator", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(REPOSITORY / name, source / name)
    built = run(
        sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder, source
    )
    assert built.returncode == 0, built.stderr
    return next(folder.glob("poolsmith-*.whl"))


@pytest.mark.real("a whole run, 1.1 s; its parts have tests of their own")
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
    for licence in ("LICENSE", "NOTICE"):
        assert any(name.endswith(f"licenses/{licence}") for name in names)


@pytest.mark.real("a wheel, an environment from the lock, and a project in it")
def test_the_wheel_generates_and_checks_in_an_empty_environment(wheel, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    binaries = tmp_path / "venv" / "bin"
    lock = REPOSITORY / "requirements-run.lock"
    locked = run(binaries / "pip", "install", "--quiet", "--require-hashes", "--requirement", lock, cwd=tmp_path)
    if locked.returncode != 0 and "No matching distribution" in locked.stderr:
        pytest.skip("the package index can't be reached, so the wheel's dependencies can't be installed")
    assert locked.returncode == 0, locked.stderr
    installed = run(binaries / "pip", "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    assert installed.returncode == 0, installed.stderr
    assert run(binaries / "pip", "check").returncode == 0
    project = tmp_path / "project"
    project.mkdir()
    for verb in (("init", "lab"), ("generate",), ("generate", "--check"), ("check",)):
        done = run(binaries / "poolsmith", *verb, cwd=project)
        assert done.returncode == 0, done.stdout + done.stderr
    shown = run(binaries / "poolsmith", "explain", "lab:operator.upgradeCRD", cwd=project)
    assert "profiles/lab/cluster.yaml" in shown.stdout
