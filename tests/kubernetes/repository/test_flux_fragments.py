"""Pieces of Flux Kustomizations that nobody names: they apply nothing."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.repository.model import model_of
from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: slices}\n"
PIECE = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: gpu-operator}\nspec:\n"
SOURCE = "  sourceRef: {kind: GitRepository, name: flux-system}\n"


@pytest.mark.parametrize(
    ("spec", "applied"),
    [
        ("  components: [../time-slicing]\n", []),
        (SOURCE, ["slices"]),
        ("  path: ./apps\n", ["slices"]),  # its parent may patch the source in
    ],
)
def test_without_a_source_and_a_path_it_does_not_apply_the_whole_repository(tmp_path, spec, applied):
    (tmp_path / "apps").mkdir()
    (tmp_path / "apps/slices.yaml").write_text(CONFIG)
    (tmp_path / "piece.yaml").write_text(f"{PIECE}{spec}")
    files = RepositoryFiles(tmp_path, [tmp_path])
    model = model_of(files, files.listed().yaml)
    brought = [item for delivery in model.deliveries if delivery.by_engine for item in delivery.objects]

    assert [item.metadata["name"] for item in brought if item.kind == "ConfigMap"] == applied
