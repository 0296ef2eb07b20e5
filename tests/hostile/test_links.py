"""Symbolic links lead neither reading nor writing out of the project."""

from __future__ import annotations

import os
import shutil

import pytest

from poolsmith.interface.app import check_paths


@pytest.fixture
def outside(project, tmp_path):
    """A second project beside the first, where links may lead."""
    return shutil.copytree(project, tmp_path / "outside")


@pytest.mark.rows(2, "each place and each kind of link")
@pytest.mark.parametrize(
    "path",
    [
        "profiles/broken/pool-0.yaml",
        "profiles/broken/cluster.yaml",
        "profiles/broken/more.yaml",
        "profiles/broken",
        "profiles/another",
        "profiles/_bases",
        "profiles/_bases/base.yaml",
    ],
)
@pytest.mark.parametrize("target", ["outside", "nowhere", "/etc/passwd", "/dev/zero", "/proc/self/environ"])
def test_a_link_out_of_the_project_is_not_read(project, outside, findings, path, target):
    link = project / path
    if link.is_dir():
        shutil.rmtree(link)
    link.unlink(missing_ok=True)
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside / path if target == "outside" else outside / target)

    found = findings()
    assert ("link-out-of-tree", path) in found
    assert {name for name, _ in found} <= {"link-out-of-tree", "cluster-without-pools"}


def test_profiles_themselves_may_not_be_a_link_out_of_the_project(project, outside, findings):
    shutil.rmtree(project / "profiles")
    (project / "profiles").symlink_to(outside / "profiles")

    assert findings(expect=()) == [("link-out-of-tree", "profiles")]


def test_a_link_to_itself_is_told(project, findings):
    (project / "profiles/broken/loop.yaml").symlink_to("loop.yaml")

    assert findings() == [("unreadable-file", "profiles/broken/loop.yaml")]


def test_a_link_inside_the_project_is_read(project, findings, edit):
    shared = project / "shared.yaml"
    (project / "profiles/broken/pool-0.yaml").rename(shared)
    (project / "profiles/broken/pool-0.yaml").symlink_to("../../shared.yaml")
    assert findings() == []

    edit("shared.yaml", "count: 8", "count: 0")
    assert findings() == [("out-of-range", "profiles/broken/pool-0.yaml:16:5")]


@pytest.mark.rows(2, "each place and each kind of link")
@pytest.mark.parametrize("path", ["output", "output/clusters", "output/clusters/broken"])
@pytest.mark.parametrize("what", ["link", "dangling link", "file", "pipe"])
def test_nothing_is_written_through_what_is_no_folder(project, outside, findings, edit, contents, path, what):
    edit("profiles/broken/cluster.yaml", "v26.3.3", "v26.7.0")
    edit("profiles/mistaken/pool-0.yaml", "  diver: {}\n", "")
    shutil.rmtree(project / path)
    {
        "link": lambda: (project / path).symlink_to(outside / path),
        "dangling link": lambda: (project / path).symlink_to(outside / "nowhere"),
        "file": lambda: (project / path).write_text("mine"),
        "pipe": lambda: os.mkfifo(project / path),
    }[what]()
    before = contents(outside)

    assert findings(expect=()) == [("path-occupied", path)]
    assert contents(outside) == before


def test_a_link_in_the_way_does_not_hide_a_mistake(project, outside, findings):
    shutil.rmtree(project / "output")
    (project / "output").symlink_to(outside / "output")

    assert findings() == [("path-occupied", "output")]


@pytest.mark.rows(3, "each kind once")
@pytest.mark.parametrize("path", ["platform", "delivery"])
@pytest.mark.parametrize("what", ["link", "file", "pipe"])
def test_a_generated_folder_that_is_something_else_is_told_and_not_touched(
    project, outside, findings, edit, contents, path, what
):
    edit("profiles/mistaken/pool-0.yaml", "  diver: {}\n", "")
    target = project / "output/clusters/broken" / path
    shutil.rmtree(target)
    {
        "link": lambda: target.symlink_to(outside / "output/clusters/broken" / path),
        "file": lambda: target.write_text("mine"),
        "pipe": lambda: os.mkfifo(target),
    }[what]()
    before = contents(outside)

    found = findings(expect=())
    assert ("path-occupied", f"output/clusters/broken/{path}") in found
    assert {name for name, _ in found} <= {"path-occupied", "foreign-file"}
    assert contents(outside) == before


def test_a_folder_where_a_generated_file_has_to_go_is_told(project, findings, edit, write):
    edit("profiles/mistaken/pool-0.yaml", "  diver: {}\n", "")
    (project / "output/clusters/broken/README.md").unlink()
    write("output/clusters/broken/README.md/mine.txt", "mine")

    found = findings(expect=())
    assert ("path-occupied", "output/clusters/broken/README.md/mine.txt") in found


def test_a_generated_file_that_became_a_link_is_replaced_and_its_target_kept(project, outside, run_cli, edit):
    edit("profiles/mistaken/pool-0.yaml", "  diver: {}\n", "")
    readme = project / "output/clusters/broken/README.md"
    wanted = readme.read_bytes()
    readme.unlink()
    secret = outside / "secret"
    secret.write_text("secret")
    readme.symlink_to(secret)

    result = run_cli(["generate", "--root", project])
    assert (result.code, result.err) == (0, "")
    assert "output/clusters/broken/README.md: warning PSM502 hand-edited" in result.out
    assert secret.read_text() == "secret"
    assert not readme.is_symlink()
    assert readme.read_bytes() == wanted


NAMING = {
    "skaffold.yaml": "apiVersion: skaffold/v4beta6\nkind: Config\ndeploy: {{helm: {{releases: [{{name: g, remoteChart: "
    "gpu-operator, repo: 'https://helm.ngc.nvidia.com/nvidia', version: v25.3.0, valuesFiles: ['{0}']}}]}}}}\n",
    "fleet.yaml": "helm: {{chart: gpu-operator, repo: 'https://helm.ngc.nvidia.com/nvidia', version: v25.3.0, "
    "valuesFiles: ['{0}']}}\n",
    "gpu.sh": "helm install g nvidia/gpu-operator --version v25.3.0 -f {0}\n",
}


@pytest.mark.parametrize("name", NAMING)
def test_a_file_elsewhere_that_a_deliverer_names_is_not_read(tmp_path, name):
    outside, root = tmp_path / "values.yaml", tmp_path / "root"
    outside.write_text("driver: {rdma: {planted: true}}\n")
    root.mkdir()
    (root / name).write_text(NAMING[name].format(outside))

    found = check_paths(root, [root]).diagnostics

    assert found
    assert not [item for item in found if "planted" in repr(item) or item.primary.span.path == str(outside)]
