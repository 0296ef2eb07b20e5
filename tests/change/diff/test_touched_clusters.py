"""Which clusters a change can do something to."""

from __future__ import annotations

import pytest

from change.diff.projects import pool
from poolsmith.change.diff.touched_clusters import cluster_names, may_extend, touched
from poolsmith.core.sources.input_tree import InputTree
from poolsmith.fleet.profiles.fleet import find_fleet
from poolsmith.guard.policies.revision import GitFile


def files(*paths, **changed):
    return {path: GitFile("100644", changed.get(path, "1")) for path in paths}


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("profiles/lab/a.yaml", {"lab"}),
        ("profiles/lab/deep/er/a.yaml", {"lab"}),
        ("output/clusters/lab/README.md", {"lab"}),
        ("output/clusters/lab/pools/a/kustomization.yaml", {"lab"}),
        ("output/fleet/argocd/kustomization.yaml", set()),
        ("profiles/_bases/common.yaml", {"_bases"}),
        ("profiles/stray.yaml", set()),
        ("policies/waivers.yaml", set()),
        ("README.md", set()),
    ],
)
def test_a_cluster_is_touched_by_a_file_of_its_own(path, names):
    assert touched({}, files(path)).by_folder == names
    assert touched(files(path), {}).by_folder == names
    assert touched(files(path), files(path)).by_folder == set()


@pytest.mark.parametrize(
    ("path", "is_all"),
    [
        ("profiles/_driver-images.yaml", True),
        ("policies/admission/a.yaml", True),
        ("policies/privileges/a.yaml", True),
        ("policies/enforcement.yaml", True),
        ("policies/waivers.yaml", False),
        ("policies/rules.yaml", False),
        ("policies/supply.yaml", False),
    ],
)
def test_all_clusters_are_touched_by_what_all_of_them_get(path, is_all):
    assert bool(touched({}, files(path)).why_all) is is_all


def test_an_executable_bit_is_no_change_and_a_link_is():
    plain, executable, link = (GitFile(mode, "1") for mode in ("100644", "100755", "120000"))

    assert touched({"profiles/lab/a.yaml": plain}, {"profiles/lab/a.yaml": executable}).paths == frozenset()
    assert touched({"profiles/lab/a.yaml": plain}, {"profiles/lab/a.yaml": link}).paths


def test_names_are_those_of_folders_with_profiles():
    found = cluster_names(
        ("profiles/lab/a.yaml", "profiles/_bases/b.yaml", "profiles/.git/c", "profiles/d.yaml", "output/clusters/e/f")
    )

    assert found == {"lab"}


@pytest.mark.parametrize(
    ("extends", "may"),
    [
        ("extends: [common]", True),
        ("extends: [other]", False),
        ('extends: ["co\\u006dmon"]', True),
        ("extends: &x [other, common]", True),
        ("extends:\n    - |-\n      common", True),
    ],
)
def test_a_name_that_is_not_in_the_text_is_in_no_field(write_files, extends, may):
    root = write_files({"profiles/lab/cluster.yaml": "x: 1\n", "profiles/lab/a.yaml": pool("a") + f"  {extends}\n"})
    tree = InputTree(root)
    (found,) = find_fleet(tree).clusters

    assert may_extend(tree, found, frozenset({"common"})) is may
