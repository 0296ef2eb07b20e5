"""Objects that two files of one kustomization define."""

from __future__ import annotations

from poolsmith.guard.rules.manifests.duplicate_object import check
from poolsmith.kubernetes.repository.manifest_files import CheckedTree, parse_documents

KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
SLICES = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: slices\n"


def told(files: dict[str, str]) -> list[str]:
    documents = [item for path, text in files.items() for item in parse_documents(path, text.encode())[0]]
    return [str(item.place.span) for item in check(CheckedTree(tuple(documents), frozenset(files)))]


def test_two_files_that_one_kustomization_names():
    files = {"kustomization.yaml": f"{KUSTOMIZATION}resources: [a.yaml, b.yaml]\n", "a.yaml": SLICES, "b.yaml": SLICES}

    assert told(files) == ["b.yaml:4:3"]


def test_alternatives_of_which_overlays_name_one_each():
    overlay = f"{KUSTOMIZATION}resources: [../base/{{}}.yaml]\n"
    files = {f"{name}/kustomization.yaml": overlay.format(name) for name in "ab"}

    assert told(files | {"base/a.yaml": SLICES, "base/b.yaml": SLICES}) == []


def test_files_that_nobody_names():
    assert told({"a.yaml": SLICES, "b.yaml": SLICES}) == []
