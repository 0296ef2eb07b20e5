"""Whatever a change puts beside the generated files is an error that names it; what poolsmith writes is none."""

from __future__ import annotations

import json
import os

import pytest

from poolsmith.change.review.beside_output import Delivered, DeliveredPath, alike, beside_output, head_tree
from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.codes.change import BESIDE_OUTPUT

GENERATED = {
    "clusters/a/platform/kustomization.yaml": "resources: [namespaces.yaml]\n",
    "clusters/a/platform/namespaces.yaml": "kind: Namespace\n",
    "clusters/a/delivery/kustomization.yaml": "resources: []\n",
    "clusters/a/pools/p/nvidia-driver.yaml": "kind: NVIDIADriver\n",
    "fleet/argocd/kustomization.yaml": "resources: []\n",
}
FOLDERS = (
    "output",
    "output/clusters",
    "output/clusters/a",
    "output/clusters/a/platform",
    "output/clusters/a/delivery",
    "output/clusters/a/pools/p",
    "output/clusters/a/new",
    "output/clusters/unknown",
    "output/clusters/unknown/delivery",
    "output/fleet",
    "output/fleet/argocd",
    "output/extra/delivery",
)
NAMES = {
    "Kustomization": "kustomization",
    "kustomization.yml": "kustomization",
    "KUSTOMIZATION.YAML": "kustomization",
    ".argocd-source.yaml": "Argo CD Application",
    ".argocd-source-a-platform.yaml": "Argo CD Application",
    ".argocd-allow-concurrency": "Argo CD Application",
    "Chart.yaml": "Helm",
    "Chart.lock": "Helm",
    "values.yaml": "Helm",
    "values-prod.yaml": "Helm",
    "templates/evil.yaml": "Helm",
    "charts/a.tgz": "Helm",
    "evil.jsonnet": "Jsonnet",
    "evil.libsonnet": "Jsonnet",
    "jsonnetfile.json": "Jsonnet",
    "plugin.yaml": "plugin",
    "kcl.mod": "plugin",
    "main.star": "plugin",
    ".sourceignore": "Flux",
    ".gitattributes": "git",
    ".gitmodules": "git",
    "evil.yaml": "manifest",
    "evil.json": "manifest",
    ".hidden.yml": "manifest",
    "README": "not generated",
    ".gitkeep": "not generated",
    ".DS_Store": "not generated",
}


def lock(paths):
    return json.dumps({"version": 1, "files": dict.fromkeys(paths, "sha256:0")})


def project(prefix=""):
    files = {f"{prefix}output/{path}": text for path, text in GENERATED.items()}
    for folder in ("clusters/a", "fleet"):
        own = (path.removeprefix(f"{folder}/") for path in GENERATED if path.startswith(f"{folder}/"))
        files[f"{prefix}output/{folder}/poolsmith.lock.json"] = lock(own)
    return files | {f"{prefix}profiles/a/cluster.yaml": "kind: Cluster\n", "docs/README.md": "text\n"}


def delivered(repository, **fields):
    names = {"clusters": frozenset(("a",)), "known_clusters": frozenset(("a",))} | fields
    return Delivered(root=repository.root, **names)


def findings(repository, **fields):
    with repository.revision() as base:
        return list(beside_output(head_tree(repository.root, ("output",)), base, delivered(repository, **fields)))


def named(repository, **fields):
    return [item.primary.span.path for item in findings(repository, **fields)]


@pytest.mark.rows(4, "a row takes 0.14 s; each value of each column is seen first")
@pytest.mark.parametrize("folder", FOLDERS)
def test_files_that_no_lock_owns_are_errors_that_say_what_they_would_do(repository_of, folder):
    repository = repository_of(project())
    # each name is a commit of its own, so that no two names of one file on some systems meet
    for name in NAMES:
        repository.add_entry("100644", f"{folder}/{name}")

    found = {item.primary.span.path: item for item in findings(repository)}

    expected = {f"{folder}/{name}": word for name, word in NAMES.items()}
    assert expected.keys() <= found.keys()
    for path, word in expected.items():
        assert found[path].severity is Severity.ERROR
        assert found[path].code == BESIDE_OUTPUT.code
        assert word in found[path].message or "one file with" in found[path].message, path
        assert path in found[path].message


@pytest.mark.parametrize("folder", ["output/clusters/a/platform", "output/clusters/unknown", "output"])
@pytest.mark.parametrize("is_committed", [True, False])
def test_it_does_not_matter_whether_the_file_is_committed_yet(repository_of, folder, is_committed):
    repository = repository_of(project())
    repository.write({f"{folder}/evil.yaml": "kind: Pod\n"})
    if is_committed:
        repository.commit()

    assert named(repository) == [f"{folder}/evil.yaml"]


@pytest.mark.parametrize("path", ["output/.DS_Store", "output/clusters/a/._x", "output/clusters/a/platform/x.yaml.swp"])
def test_what_systems_and_editors_leave_counts_where_it_is_tracked(repository_of, path):
    repository = repository_of(project())
    repository.write({path: "x"})

    assert named(repository) == []
    repository.commit()
    assert named(repository) == [path]


def test_what_git_ignores_can_not_be_merged(repository_of):
    repository = repository_of(project() | {".gitignore": "*.tmp\n"})
    repository.write({"output/clusters/a/x.tmp": "x"})

    assert named(repository) == []
    repository.git("add", "-f", "output/clusters/a/x.tmp")
    assert named(repository) == ["output/clusters/a/x.tmp"]


LINKS = (
    "output",
    "output/clusters/a/platform",
    "output/clusters/a/platform/namespaces.yaml",
    "output/fleet",
    "output/x",
)


@pytest.mark.parametrize("path", LINKS)
@pytest.mark.parametrize("target", ["/etc", "../docs", "docs/README.md"])
def test_links_are_errors_in_the_place_of_generated_files_too(repository_of, path, target):
    repository = repository_of(project())
    if (repository.top / path).exists():
        repository.remove(path)
    repository.link(path, target)
    repository.commit()

    (found,) = [item for item in findings(repository) if item.primary.span.path == path]
    assert "symbolic link" in found.message


@pytest.mark.parametrize("path", ["output/clusters/a/sub", "output/sub", "output/clusters/new", "output/fleet/sub"])
def test_submodules_are_errors(repository_of, path):
    repository = repository_of(project())
    repository.add_entry("160000", path)

    (found,) = findings(repository)
    assert "submodule" in found.message


@pytest.mark.parametrize("path", ["clusters/a/platform/namespaces.yaml", "fleet/argocd/kustomization.yaml"])
def test_generated_files_are_not_executable(repository_of, path):
    repository = repository_of(project())
    repository.git("update-index", "--chmod=+x", f"output/{path}")

    (found,) = findings(repository)
    assert (found.primary.span.path, "executable" in found.message) == (f"output/{path}", True)


ALIKE = {
    "Output/clusters/a/evil.yaml": "own folders",
    "OUTPUT/evil.yaml": "own folders",
    "output./evil.yaml": "own folders",
    "output /evil.yaml": "own folders",
    "out\u200bput/evil.yaml": "own folders",
    "Policies/waivers.yaml": "own folders",
    "PROFILES/a/cluster.yaml": "own folders",
    "\uff4futput/evil.yaml": "own folders",
    "output/clusters/A/evil.yaml": "no lock owns it",
    "output/clusters/a/platform/Namespaces.yaml": "no lock owns it",
}


@pytest.mark.parametrize("path", ALIKE)
def test_names_that_some_file_systems_take_for_others_are_errors(repository_of, path):
    repository = repository_of(project())
    repository.add_entry("100644", path)

    (found,) = findings(repository)
    assert ALIKE[path] in found.message
    assert found.primary.span.path.isprintable()


def test_the_same_name_is_alike_and_others_are_not():
    assert alike("output/a.yaml") == "output/a.yaml"
    assert alike("output/e\u0301") == alike("output/\u00e9") != alike("output/e")


def test_what_the_base_has_already_is_left_to_a_warning(repository_of):
    repository = repository_of(project() | {"output/README.md": "text\n", "output/clusters/a/NOTES": "text\n"})

    assert named(repository) == []
    repository.write({"output/README.md": "other\n"})
    repository.commit()
    assert named(repository) == ["output/README.md"]


def test_what_waits_in_the_folder_of_a_cluster_to_come_is_an_error_when_it_comes(repository_of):
    path = "output/clusters/b/.argocd-source.yaml"
    repository = repository_of(project() | {path: "{}\n"})

    assert named(repository) == []
    assert named(repository, clusters=frozenset(("a", "b"))) == [path]


@pytest.mark.parametrize("prefix", ["", "project/", "Deep/er/"])
def test_generated_files_are_none_wherever_the_project_lies(repository_of, prefix):
    repository = repository_of(project(prefix), prefix)
    files = project(prefix)
    files[f"{prefix}output/clusters/a/pools/q/nvidia-driver.yaml"] = "kind: NVIDIADriver\n"
    own = [path.removeprefix(f"{prefix}output/clusters/a/") for path in files if "/clusters/a/" in path]
    files[f"{prefix}output/clusters/a/poolsmith.lock.json"] = lock(own)
    repository.write(files | {"docs/other.md": "text\n", f"{prefix}profiles/a/pool.yaml": "kind: NodePool\n"})

    assert named(repository) == []
    repository.commit()
    assert named(repository) == []
    repository.write({f"{prefix}output/evil.yaml": "x\n"})
    repository.commit()
    assert named(repository) == ["output/evil.yaml"]


@pytest.mark.parametrize("prefix", ["", "project/"])
@pytest.mark.parametrize("path", ["docs", "output2", "elsewhere/output", "output/clusters"])
def test_delivery_points_at_what_poolsmith_writes(repository_of, prefix, path):
    repository = repository_of(project(prefix), prefix)
    there = (DeliveredPath("a", path, "profiles/a/cluster.yaml"),)
    right = (DeliveredPath("a", f"{prefix}output", "profiles/a/cluster.yaml"),)

    (found,) = findings(repository, paths=there)

    assert found.primary.span.path == "profiles/a/cluster.yaml"
    assert f"`{path}`" in found.message
    assert f"`{prefix}output`" in found.message
    assert named(repository, paths=right) == []
    assert named(repository, paths=there, known_paths=frozenset((path,))) == []
    repository.write({f"{path}/clusters/a/delivery/evil.yaml": "x\n"})
    repository.commit()
    assert len(findings(repository, paths=there, known_paths=frozenset((path,)))) == 1


def test_a_flood_is_cut_with_a_count(repository_of):
    repository = repository_of(project())
    repository.write({f"output/x/{number}.yaml": "x" for number in range(100)})
    repository.commit()

    found = findings(repository)

    assert len(found) == 41
    assert found[-1].message.startswith("60 more files ")


@pytest.mark.skipif(os.name != "posix", reason="names of other systems can't hold them")
@pytest.mark.parametrize("name", ["a\nb.yaml", "a\x1b[31m.yaml", "a\u202eb.yaml", "::error::x"])
def test_names_that_steer_a_log_are_told_without_doing_so(repository_of, name):
    repository = repository_of(project())
    repository.write({f"output/{name}": "x"})
    repository.commit()

    (found,) = findings(repository)
    assert found.message.isprintable()
    assert found.primary.span.path.isprintable()
