"""Schemas of Kubernetes and their packs are imported by `check` alone: what is predicted is stored by those of its own kinds."""

from __future__ import annotations

import subprocess
import sys

import pytest

VALIDATOR = {
    "poolsmith.kubernetes.schema.schemas",
    "poolsmith.guard.rules.schema.schema_rules",
}
GENERATOR = {"poolsmith.interface.app.generate", "poolsmith.fleet.plan.pipeline", "poolsmith.project.output.tree"}


@pytest.fixture
def imported(repository):
    """The modules of poolsmith that a run has imported at its end."""

    def run(args):
        program = (
            "import sys; sys.path.insert(0, sys.argv.pop(1)); from poolsmith.interface.cli.main import _run; _run(sys.argv[1:]);"
            "print(*(name for name in sys.modules if name.startswith('poolsmith')), file=sys.stderr)"
        )
        command = [sys.executable, "-I", "-c", program, str(repository / "generator"), *map(str, args)]
        return set(subprocess.run(command, capture_output=True, text=True, check=True).stderr.split())

    return run


@pytest.mark.parametrize("args", [["--version"], ["generate"], ["generate", "--check"]], ids=" ".join)
def test_what_does_not_judge_does_not_import_the_validator(imported, sample_project, args):
    found = imported([*args, *(["--root", sample_project] if args != ["--version"] else [])])

    assert found.isdisjoint(VALIDATOR)


def test_a_check_of_files_imports_the_validator_and_no_generator(imported, write_files):
    root = write_files({"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"})
    found = imported(["check", root / "a.yaml"])

    assert found >= VALIDATOR
    assert found.isdisjoint(GENERATOR)
    assert "poolsmith.kubernetes.schema.export" not in found
    assert "poolsmith.guard.rules.schema.kubeconform" not in found


def test_flags_that_profiles_answer_are_refused_without_files(run_cli, sample_project):
    assert run_cli(["check", "--root", sample_project, "--kubernetes", "1.33"]).code == 2
