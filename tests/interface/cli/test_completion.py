"""The shell offers what there is: asked in the shells themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

import pytest

BASH = """
eval "$(_POOLSMITH_COMPLETE=bash_source poolsmith)"
COMP_WORDS=({words}) COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_poolsmith_completion poolsmith
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
compdef() {{ : }}
compadd() {{ while [[ $1 != -a ]]; do shift; done; print -l ${{(P)2}} }}
_describe() {{ for item in ${{(P)3}}; do print -- ${{item%%:*}}; done }}
words=({words}) CURRENT=${{#words}}
eval "$(_POOLSMITH_COMPLETE=zsh_source poolsmith)"
_poolsmith_completion
"""
FISH = """
_POOLSMITH_COMPLETE=fish_source poolsmith | source
complete -C "{line}" | string replace -r '\\t.*' ''
"""
LINES = {
    "poolsmith chec": {"check"},
    "poolsmith check --cluster ed": {"edge", "edge-talos"},
    "poolsmith check --fail-on w": {"warning"},
    "poolsmith check --output sar": {"sarif="},
    "poolsmith check --release v26.7": {"v26.7.0"},
    "poolsmith check --kubernetes 1.3": {"1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36", "1.37"},
    "poolsmith diff --format j": {"json", "junit"},
    "poolsmith ledger --cluster prod-eu --pool l4": {"l4-burst", "l4-precompiled", "l40s-crio", "l40s-shared"},
    "poolsmith explain PSM10": {f"PSM10{number}" for number in range(1, 10)},
    "poolsmith explain unknown-f": {"unknown-field"},
    "poolsmith explain prod-rke2/h": {"prod-rke2/h200-slices", "prod-rke2/h200-storage"},
    "poolsmith catalog show v26.7": {"v26.7.0"},
    "poolsmith upgrade prod-rke2/h": {"prod-rke2/h200-slices", "prod-rke2/h200-storage"},
    "poolsmith upgrade edge --to v26.7": {"v26.7.0"},
    "poolsmith move rename-pool edge/l": {"edge/l4"},
    "poolsmith ledger --reach node-": {"node-root", "node-write", "node-read"},
    "poolsmith ledger --holds host-p": {"host-path", "host-pid", "host-port"},
    "poolsmith init --distribution rk": {"rke2"},
    "poolsmith init --kubernetes 1.37": {"1.37"},
    "poolsmith init --runtime cri": {"cri-o"},
    "poolsmith init --gpu NVIDIA-A100-SXM4-8": {"NVIDIA-A100-SXM4-80GB"},
    "poolsmith schema Node": {"NodePool", "NodePoolBase"},
}


@pytest.fixture
def ask(sample_project, repository, tmp_path):
    """What a shell offers, with a `poolsmith` on PATH that is this interpreter's."""
    programs = tmp_path / "programs"
    programs.mkdir()
    shim = programs / "poolsmith"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m poolsmith "$@"\n', "utf-8")
    shim.chmod(0o755)
    environment = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(repository / "generator"),
        "HOME": str(tmp_path),
    }

    def run(shell, line, folder=sample_project):
        script = {"bash": BASH, "zsh": ZSH, "fish": FISH}[shell].format(line=line, words=line)
        flags = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
        done = subprocess.run(
            [shell, *flags, "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.stderr == ""
        return set(done.stdout.split())

    return run


@pytest.mark.sample("edge", "edge-talos", "prod-eu", "prod-rke2")
@pytest.mark.rows(11, "each verb and each flag with choices")
@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize(
    "shell", [pytest.param(name, marks=pytest.mark.tool(name)) for name in ("bash", "zsh", "fish")]
)
def test_a_shell_offers_what_there_is(ask, shell, line):
    assert ask(shell, line) == LINES[line]


@pytest.mark.tool("bash")
def test_names_that_could_steer_a_shell_are_not_offered(ask, sample_project):
    for name in ("edge;id", "edge$(id)", "edge\nid", "-edge", "edge x"):
        shutil.copytree(sample_project / "profiles/edge", sample_project / "profiles" / name)
    pool = sample_project / "profiles/edge/l4.yaml"
    pool.write_text(pool.read_text().replace("name: l4", 'name: "l4$(id)"'))

    assert ask("bash", "poolsmith check --cluster ed") == {"edge", "edge-talos"}
    assert ask("bash", "poolsmith ledger --cluster edge --pool l") <= {"l4"}


@pytest.mark.tool("bash")
@pytest.mark.parametrize("line", ["poolsmith check --cluster e", "poolsmith explain x/", "poolsmith ledger --pool a"])
def test_outside_of_a_project_nothing_is_offered_and_nothing_said(ask, tmp_path, line):
    (tmp_path / "empty").mkdir()
    assert ask("bash", line, tmp_path / "empty") == set()


def test_pools_of_a_large_fleet_come_before_anybody_wonders(synthetic_fleet, repository):
    root = synthetic_fleet(50, 20)
    environment = dict(os.environ) | {
        "PYTHONPATH": str(repository / "generator"),
        "_POOLSMITH_COMPLETE": "bash_complete",
        "COMP_WORDS": "poolsmith ledger --pool pool-1",
        "COMP_CWORD": "3",
    }
    command = [sys.executable, "-m", "poolsmith"]
    start = time.monotonic()
    out = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False).stdout

    assert time.monotonic() - start < 5
    assert len(out.split()) == 11
