"""What a run does not need, it does not import."""

from __future__ import annotations

import subprocess
import sys

import pytest

NEVER = frozenset(("rich", "jsonschema", "hypothesis", "kr8s", "deepdiff", "asyncio", "pytest"))


@pytest.fixture
def imported(repository):
    """Top-level modules that a run of poolsmith has imported at its end."""

    def run(args):
        program = (
            "import sys; sys.path.insert(0, sys.argv.pop(1)); from poolsmith.cli.main import _run; code = _run(sys.argv[1:]);"
            "print(code, *{name.partition('.')[0] for name in sys.modules}, sep='\\n', file=sys.stderr)"
        )
        command = [sys.executable, "-I", "-c", program, str(repository / "generator"), *map(str, args)]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        code, *names = result.stderr.split()
        assert code == "0"
        return set(names)

    return run


@pytest.mark.parametrize("args", [["--version"], ["--help"], ["generate", "--help"], ["check", "--help"]], ids=" ".join)
def test_version_and_help_import_next_to_nothing(imported, args):
    assert imported(args).isdisjoint(NEVER | {"multiprocessing", "jinja2", "yaml", "ctypes", "difflib"})


def test_a_check_of_the_fleet_imports_no_terminal_and_no_test_tool(imported, sample_project, run_cli):
    assert run_cli(["generate", "--root", sample_project]).code == 0

    assert imported(["generate", "--check", "--root", sample_project]).isdisjoint(NEVER | {"multiprocessing"})
