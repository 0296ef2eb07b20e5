"""The real kustomize builds every kustomization to the objects that poolsmith holds in memory."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from poolsmith.fleet.operands.manifest import Manifest, ManifestTree
from support.kustomize_build import build

REPOSITORY = Path(__file__).resolve().parents[2]
OUTPUTS = [REPOSITORY / "output", *sorted((REPOSITORY / "tests/golden").glob("*/expected"))]
ROOTS = [root for output in OUTPUTS for root in (*sorted((output / "clusters").iterdir()), output / "fleet")]
KUSTOMIZATIONS = [(root, path.parent) for root in ROOTS for path in sorted(root.rglob("kustomization.yaml"))]


def identity(body):
    metadata = body["metadata"]
    return body["apiVersion"], body["kind"], metadata.get("namespace", ""), metadata["name"]


def in_memory(root):
    """The tree as `render` holds it, read back from its files."""
    manifests, files = [], {}
    for path in sorted(root.rglob("*.yaml")):
        name = path.relative_to(root).as_posix()
        files[name] = path.read_bytes()
        documents = tuple(document for document in yaml.safe_load_all(files[name]) if document is not None)
        manifests.append(Manifest(path=name, documents=documents))
    return ManifestTree(tuple(manifests)), files


@pytest.mark.rows(10, "a row takes 0.16 s; each value of each column is seen first")
@pytest.mark.tool("kustomize")
@pytest.mark.parametrize(
    ("root", "folder"), KUSTOMIZATIONS, ids=[folder.relative_to(REPOSITORY).as_posix() for _, folder in KUSTOMIZATIONS]
)
def test_a_kustomization_builds_to_the_objects_in_memory(root, folder):
    run = subprocess.run(["kustomize", "build", str(folder)], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    built = {identity(body): body for body in yaml.safe_load_all(run.stdout)}
    tree, files = in_memory(root)
    held = build(tree, files, folder.relative_to(root).as_posix())

    assert len(held) == len(built)
    assert {identity(body): body for body in held} == built
