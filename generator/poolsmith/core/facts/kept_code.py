"""The code of what every run of a few verbs loads, kept together for one interpreter (`core/own_modules.py` reads it).

The runs are made, on a project of two pools, and their modules noted: nothing is listed by hand. A group has what the
same runs load, and is read when the first of it is asked for.
"""

from __future__ import annotations

import marshal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from poolsmith.core.facts.lean_code import lean_code
from poolsmith.core.own_modules import LENGTH, UNKNOWN
from poolsmith.core.record import method_code, method_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PACKAGE = Path(__file__).parents[2]
HOOK, PATHS, EVERY = "check --hook", "check PATHS", ""
"""Kinds of runs: a hook; a check of files; and what all kinds load, for any other verb. The rest are named by their
verbs."""
_MOST_FIELDS = 24
"""Of records whose methods are kept."""
_VALUES = "platform/values/gpu-operator.yaml"
RUNS = {
    "generate --no-cache --jobs 1": "generate",
    "check --no-cache": "check",
    "check --no-cache output": PATHS,
    "check --hook values.yaml": HOOK,
    f"check --hook output/clusters/flux/{_VALUES}": HOOK,
    f"check --hook output/clusters/argocd/{_VALUES}": HOOK,
}
"""Runs, each of a kind, in this order: what one makes, the next finds."""
_CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata: {{name: {engine}}}
spec:
  kubernetes: {{version: "1.33", distribution: kubeadm}}
  stack: {{release: v26.3.3, driverMode: nvidia-driver}}
  poolLabel: example.com/pool
  delivery: {{engine: {engine}, repoURL: "https://git.example.com/gpu.git"{more}}}
"""
_POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata: {name: pool}
spec:
  os: {id: ubuntu, version: "22.04"}
  runtime: {name: containerd, version: "1.7.27"}
  kernel: {release: 5.15.0-105-generic}
  nodes: {count: 1}
  gpu: {product: NVIDIA-A100-SXM4-80GB, count: 8}
  driver: {source: container}
  sharing: {timeSlicing: {replicas: 4}}
"""
_PROJECT = {
    "values.yaml": "driver: {enabled: true}\ndevicePlugin: {config: {name: shared}}\n",
    "profiles/flux/cluster.yaml": _CLUSTER.format(engine="flux", more=""),
    "profiles/argocd/cluster.yaml": _CLUSTER.format(engine="argocd", more=", destination: {name: argocd}"),
    "profiles/flux/pool.yaml": _POOL,
    "profiles/argocd/pool.yaml": _POOL,
}
_NOTE = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from poolsmith.interface.cli.main import _run
if _run(sys.argv[1:]) not in (0, 1):
    sys.exit("a run of the build failed: " + " ".join(sys.argv[1:]))
names = [name for name, module in sys.modules.items() if type(module).__name__ != "LateModule"]
sys.stdout.write("\\n" + " ".join(name for name in names if name.startswith("poolsmith.")))
"""


def kept_code(*, is_installed: bool) -> bytes:
    """What the file says. `is_installed`: the sources stay where they are, and their times are known."""
    return packed(grouped(_loaded()), PACKAGE, is_installed=is_installed)


def packed(groups: Sequence[tuple[Sequence[str], Sequence[str]]], package: Path, *, is_installed: bool) -> bytes:
    """Of each group the kinds of runs that load it, and the names of its modules; `package` is the folder of theirs."""
    places: dict[str, tuple[int, int, bool, int, int]] = {}
    streams: list[bytes] = []
    for number, (_, names) in enumerate(groups):
        sources = [_source_of(name, package) for name in names]
        for position, (name, source) in enumerate(zip(names, sources, strict=True)):
            state = source.stat()
            time = int(state.st_mtime) if is_installed else UNKNOWN
            places[name] = (number, position, source.name == "__init__.py", time, state.st_size)
        above = "" if is_installed else f"{package.parent}/"
        codes = (lean_code(source.read_text("utf-8"), str(source).removeprefix(above)) for source in sources)
        streams.append(marshal.dumps(tuple(codes)))
    streams.append(marshal.dumps({text: method_code(text) for text in method_texts(_MOST_FIELDS)}))
    lengths = list(map(len, streams))
    kinds = [*(tuple(kinds) for kinds, _ in groups), ()]
    begins = [(sum(lengths[:number]), lengths[number], kinds[number]) for number in range(len(lengths))]
    index = marshal.dumps((begins, places))
    return b"".join([len(index).to_bytes(LENGTH, "little"), index, *streams])


def grouped(loaded: Sequence[tuple[str, Iterable[str]]]) -> list[tuple[list[str], list[str]]]:
    """Of runs, the kind of each and the modules that it loads, in the order in which it asks for them: the modules that
    the same runs load, with the kinds of these."""
    runs: dict[str, list[int]] = {}
    for number, (_, names) in enumerate(loaded):
        for name in names:
            runs.setdefault(name, []).append(number)
    groups: dict[tuple[int, ...], list[str]] = {}
    for name, which in runs.items():
        groups.setdefault(tuple(which), []).append(name)
    every = {kind for kind, _ in loaded}
    found = []
    for numbers, names in groups.items():
        kinds = list(dict.fromkeys(loaded[number][0] for number in numbers))
        found.append((kinds + [EVERY] * (every == {*kinds}), names))
    return found


def _source_of(name: str, package: Path) -> Path:
    place = package.joinpath(*name.split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def _loaded() -> list[tuple[str, list[str]]]:
    """Of each run its kind, and our modules whose code has run. Raises CalledProcessError where a run fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, text in _PROJECT.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")
        return [(kind, _noted(run.split(), folder)) for run, kind in RUNS.items()]


def _noted(words: list[str], folder: Path) -> list[str]:
    command = [sys.executable, "-c", _NOTE, str(PACKAGE.parent), *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()
