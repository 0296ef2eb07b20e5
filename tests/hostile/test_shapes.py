"""A mebibyte of any shape takes a verb no longer than three ordinary ones, and at most 200 MiB."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.circles import share

MIB = 1 << 20
MOST_MEMORY = 200 * 1024
"""KiB, as the kernel counts them."""
NOISE = 0.5
GENERATOR = Path(__file__).resolve().parents[2] / "generator"
HEAD = """apiVersion: v1
kind: ConfigMap
metadata: {name: gpu-operator}
data:
"""
TAIL = """---
apiVersion: v1
kind: Pod
metadata: {name: nvidia}
spec: {hostNetwork: true, containers: [{name: a, image: nvcr.io/b, securityContext: {privileged: true}}]}
"""
ORDINARY = "".join(f"  key-{number}: value of the key {number} that is ordinary\n" for number in range(MIB // 45))
REPEATED = (
    *("{{", "((", "[[", "<%", "${", "%{", "$(", "{%", "{{ a }}", "${a}", "${a{", "[a](", "<a ", "`"),
    *("a://", "a://b@", "?a=", "@", "token=", "password: ", "name:a,", "'a',", "eyJ", "eyJ.", "-----BEGIN ", "ghp_"),
    *("A1b+", "a.", "a-", "a/", "a=", "a:", "a,", ",", " ", "  a", "0", "9.", "1:", "-", "#", "# ", "*", "&a "),
    *("gpu-operator ", "nvidia-", "nvcr.io/", "mig-", "all-", "driver:", "é", "\u2028", "😀", "\\\\", "sha256:"),
)
SHAPES = (
    {f"{piece!r} in one line": f'  a: "{piece * (MIB // len(piece.encode()))}"\n' for piece in REPEATED}
    | {
        f"lines of {piece!r}": "  a: |\n" + f"    {piece}\n" * (MIB // (len(piece.encode()) + 5))
        for piece in (
            "{{ a }}",
            "{{",
            "name: token",
            "value: a",
            "password: a",
            "- a",
            "kind: Secret",
            "",
            "    ",
            "replicas:",
        )
    }
    | {
        f"{piece!r} and no YAML": f"  a: {piece * (MIB // len(piece))}\n"
        for piece in ("{{", "[[", "((", "<%", "${", "%{")
    }
)
VERBS = {
    "check": ("check", "--all", "--pod-security", "restricted", "manifests.yaml"),
    "check --hook": ("check", "--hook", "manifests.yaml"),
}


MEASURED = """
import resource, subprocess, sys
run = subprocess.run([sys.executable, "-m", "poolsmith", *sys.argv[1:]], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(run.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss)
"""
"""A small process starts the verb: one that is started counts the memory of what started it."""


def used(folder: Path, verb: str, text: str) -> tuple[float, int]:
    """Seconds of the processor and KiB of memory."""
    (folder / "manifests.yaml").write_text(HEAD + text + TAIL, "utf-8")
    command = (sys.executable, "-c", MEASURED, *VERBS[verb])
    environment = {**os.environ, "PYTHONPATH": str(GENERATOR)}
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    code, seconds, memory = run.stdout.split()
    assert code in ("0", "1"), run.stderr[-500:]
    return float(seconds), int(memory)


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    folder = tmp_path_factory.mktemp("ordinary")
    return {verb: used(folder, verb, ORDINARY)[0] for verb in VERBS}


@pytest.mark.parametrize("shape", share(SHAPES, 4))
@pytest.mark.parametrize("verb", VERBS)
def test_a_mebibyte_of_any_shape_ends_in_time(
    verb: str, shape: str, ordinary: dict[str, float], tmp_path: Path
) -> None:
    seconds, memory = used(tmp_path, verb, SHAPES[shape])

    assert seconds < 3 * ordinary[verb] + NOISE, f"{seconds:.1f} s, and {ordinary[verb]:.1f} s for an ordinary file"
    assert memory < MOST_MEMORY
