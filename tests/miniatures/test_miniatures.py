"""Small repositories after layouts that people use, each with an answer key: what `check .` has to tell, and nothing else.

`keys/<name>.yaml` has the certain mistakes of `repositories/<name>/`, what must be said to be unknown, and the
installations that the model must hold. A mistake is found where an error or a warning stands at its file and line.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from poolsmith.change.takeover.node_answers import TakeoverAnswers
from poolsmith.change.takeover.take_over import take_over
from poolsmith.core.diagnostics import NoInputError, Severity, UsageError
from poolsmith.core.diagnostics.outcome import Outcome
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.gpu.values.values_places import values_of
from poolsmith.interface.app.check import check_paths
from poolsmith.kubernetes.repository.kustomize.build import NAMES, Builder
from poolsmith.kubernetes.repository.model import model_of
from poolsmith.kubernetes.repository.repository_files import RepositoryFiles
from poolsmith.project.run.surroundings import look_around

HERE = Path(__file__).parent
REPOSITORIES = HERE / "repositories"
MINIATURES = sorted(path.name for path in REPOSITORIES.iterdir() if path.is_dir())
KUSTOMIZED = sorted(
    path.parent.relative_to(REPOSITORIES).as_posix() for name in NAMES for path in REPOSITORIES.rglob(name)
)
NOT_YET: dict[tuple[str, str, int], str] = {}
"""By repository, file and line of a mistake that is not found, or by repository, `wrong <code>` and 0: the reason."""


def key_of(name):
    return read_documents((HERE / f"keys/{name}.yaml").read_text())[0]


def judged(name, folder):
    root = folder / name
    shutil.copytree(REPOSITORIES / name, root)
    try:
        return check_paths(root, [root])
    except NoInputError:
        return Outcome()


VULNERABLE = "PSM427"
"""What an old release brings is no mistake of these files, and a newer record may make it worse."""


def findings(outcome):
    """File, line and code of each error and warning."""
    return [
        (item.primary.span.path, item.primary.span.start.line if item.primary.span.start else 0, item.code)
        for item in outcome.open
        if item.severity in (Severity.ERROR, Severity.WARNING)
    ]


@pytest.mark.parametrize("name", MINIATURES)
def test_each_certain_mistake_is_told_and_nothing_else(name, tmp_path):
    key, told = key_of(name), findings(judged(name, tmp_path))
    wanted = {(item["file"], item["line"]): set(item["codes"]) for item in key.get("mistakes", ())}
    missed = {
        place for place, codes in wanted.items() if not any(found[:2] == place and found[2] in codes for found in told)
    }
    wrong = {found[2] for found in told if found[:2] not in wanted} - {VULNERABLE}
    not_yet = {place[1:]: reason for place, reason in NOT_YET.items() if place[0] == name}

    assert missed == {place for place in not_yet if not place[0].startswith("wrong ")}
    assert wrong == {place[0].removeprefix("wrong ") for place in not_yet if place[0].startswith("wrong ")}


@pytest.mark.parametrize("name", [name for name in MINIATURES if key_of(name).get("unknown")])
def test_what_nobody_can_know_is_said(name, tmp_path):
    outcome = judged(name, tmp_path)
    lines = [f"{item.what}: {item.reason}" for item in outcome.skipped]

    assert [part for part in key_of(name)["unknown"] if not any(part in line for line in lines)] == []


def holds(values, wanted):
    if isinstance(wanted, dict):
        return isinstance(values, dict) and all(holds(values.get(key), value) for key, value in wanted.items())
    return values == wanted


@pytest.mark.parametrize("name", [name for name in MINIATURES if key_of(name).get("installations")])
def test_the_model_holds_what_is_installed(name):
    files = RepositoryFiles(REPOSITORIES / name, [REPOSITORIES / name])
    listed = files.listed()
    model = model_of(files, listed.yaml, listed.others)
    found = [
        (item.release, item.namespace, item.installation.values) for item in values_of(model.all_installations, None)
    ]

    for wanted in key_of(name)["installations"]:
        assert any(
            release == wanted.get("release")
            and namespace == wanted.get("namespace", namespace)
            and holds(values, wanted.get("values", {}))
            for release, namespace, values in found
        ), (wanted, found)


@pytest.mark.tool("kustomize")
@pytest.mark.parametrize("folder", KUSTOMIZED)
def test_the_model_builds_what_kustomize_builds(folder):
    """Where kustomize stops, or needs the network or Helm, the model says so."""
    name, _, below = folder.partition("/")
    files = RepositoryFiles(REPOSITORIES / name, [REPOSITORIES / name])
    builder = Builder(files)
    document = builder.kustomization(below)
    if document is None or document.kind == "Component":
        return
    build = builder.folder(below)
    command = ["kustomize", "build", "--load-restrictor", "LoadRestrictionsNone", str(REPOSITORIES / folder)]
    if any("://" in str(item) for item in document.data.get("resources") or ()) or document.data.get("helmCharts"):
        assert build.unknown or document.data.get("helmCharts")
        return
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if run.returncode:
        assert build.unknown, run.stderr
        return
    assert [item.data for item in build.objects] == [item for item in read_documents(run.stdout) if item is not None]


def test_there_are_forty_and_a_third_of_them_have_no_mistake():
    clean = [name for name in MINIATURES if not key_of(name).get("mistakes")]

    assert len(MINIATURES) >= 40
    assert len(clean) * 3 >= len(MINIATURES)
    assert sorted(path.stem for path in (HERE / "keys").glob("*.yaml")) == MINIATURES


@pytest.mark.rows(6, "proposals of each kind of installation")
@pytest.mark.parametrize("name", [name for name in MINIATURES if key_of(name).get("installations")])
def test_profiles_are_proposed_for_what_is_installed(name, tmp_path):
    """Each difference that remains is told in a line of its own; a repository that can't be taken over says why."""
    target = tmp_path / "fleet"
    target.mkdir()
    try:
        proposed = take_over(
            target, REPOSITORIES / name, TakeoverAnswers(), look_around(target), cluster=None, fallback="cluster"
        )
    except UsageError as error:
        pytest.fail(f"{name}: {error}")

    assert proposed
    for item in proposed:
        assert item.lines
        assert item.texts or item.refused
