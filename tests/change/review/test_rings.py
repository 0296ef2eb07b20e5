"""A pull request that reorders rings, or takes a cluster out of its ring, is told."""

from __future__ import annotations

import shutil

import pytest

from support.git_repository import commit_all
from support.walks import ROOT

ORDER = """\
apiVersion: poolsmith/v1
kind: RingOrder
metadata: {name: rings}
spec:
  order: [lab, canary, stable]
"""


@pytest.fixture
def fleet(tmp_path):
    """Two small clusters of the sample in rings, committed."""
    root = tmp_path / "fleet"
    for name, ring in (("lab-t4", "lab"), ("edge", "stable")):
        shutil.copytree(ROOT / "profiles" / name, root / "profiles" / name)
        profile = root / "profiles" / name / "cluster.yaml"
        profile.write_text(profile.read_text().replace("\nspec:", f"\nspec:\n  ring: {ring}", 1))
    shutil.copytree(ROOT / "profiles/_bases", root / "profiles/_bases")
    shutil.copytree(ROOT / "policies", root / "policies")
    (root / "profiles/_rings.yaml").write_text(ORDER)
    commit_all(root)
    return root


def told(fleet, run_cli):
    run_cli(["generate", "--root", fleet])
    found = run_cli(
        ["check", "--root", fleet, "--policies-from", "main", "--judge", "work-tree", "--today", "2026-11-20"]
    )
    return [line for line in (found.out + found.err).splitlines() if "PSM710" in line]


@pytest.mark.deep("a whole run, 1.0 s; its parts have tests of their own")
@pytest.mark.rows(2, "a fleet, a commit and a check each")
@pytest.mark.parametrize(
    ("path", "old", "new", "words"),
    [
        ("edge/cluster.yaml", "  ring: stable\n", "", "outside of the rings"),
        ("edge/cluster.yaml", "ring: stable", "ring: lab", "in ring `lab`"),
        ("_rings.yaml", "[lab, canary, stable]", "[stable, canary, lab]", "another order"),
        ("lab-t4/cluster.yaml", "ring: lab", "ring: canary", None),
        ("_rings.yaml", "[lab, canary, stable]", "[lab, canary, early, stable]", None),
    ],
)
def test_what_weakens_the_rings_is_told(fleet, run_cli, path, old, new, words):
    file = fleet / "profiles" / path
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))

    found = told(fleet, run_cli)

    assert (found == []) if words is None else any(words in line for line in found), found
