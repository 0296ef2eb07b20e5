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


UNITS = 12


def delivered_by(root, folder, more):
    """As many units in one folder, each with what it puts on another; and what is not followed."""
    units = (f"{PIECE.replace('gpu-operator', f'unit{number}')}{SOURCE}  path: ./{folder}\n" for number in range(UNITS))
    (root / "own").mkdir()
    (root / "own/units.yaml").write_text("---\n".join(unit + more(number) for number, unit in enumerate(units)))
    (root / "own/slices.yaml").write_text(CONFIG)
    (root / "apps").mkdir()
    (root / "apps/slices.yaml").write_text(CONFIG)
    files = RepositoryFiles(root, [root])
    model = model_of(files, files.listed().yaml)
    objects = [item for delivery in model.deliveries if delivery.by_engine for item in delivery.objects]
    maps = {item.metadata.get("namespace") for item in objects if item.kind == "ConfigMap"}
    return maps, sum("in the folder which they change" in item.what for item in model.unknown)


def test_one_folder_is_applied_to_each_namespace(tmp_path):
    found, left = delivered_by(tmp_path, "apps", "  targetNamespace: team{}\n".format)

    assert found == {f"team{number}" for number in range(UNITS)}
    assert left == 0


def test_units_that_change_the_folder_in_which_they_stand_are_followed_so_far(tmp_path):
    found, left = delivered_by(tmp_path, "own", "  targetNamespace: team{}\n".format)

    assert len(found) == 8
    assert left > 0


def test_units_that_change_nothing_are_all_followed(tmp_path):
    assert delivered_by(tmp_path, "own", lambda _: "") == ({None}, 0)
