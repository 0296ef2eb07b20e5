"""Applications of Argo CD's source hydrator, as its schema has them."""

from __future__ import annotations

import pytest

from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.kubernetes.schema.schemas import NoSchema, schemas_for

ARGO = "engine: argocd, repoURL: https://git.example.com/gpu.git"


def argocd(words=""):
    return {"delivery": "{" + ARGO + words + "}"}


def applications(files):
    return {
        item["metadata"]["name"]: item["spec"] for _, item in files.everything() if item.get("kind") == "Application"
    }


def test_what_is_rendered_is_hydrated_and_the_rest_as_before(render):
    before = applications(render(argocd()))
    files = render(argocd(", hydrate: {branch: environments/prod}"))
    found = applications(files)
    assert found.keys() == before.keys()
    hydrated = {name for name, spec in found.items() if "sourceHydrator" in spec}
    assert hydrated == {name for name, spec in before.items() if "source" in spec}
    assert hydrated
    for name, spec in found.items():
        if name not in hydrated:
            assert spec == before[name]
            continue
        assert "source" not in spec
        assert "sources" not in spec
        hydrator = spec["sourceHydrator"]
        assert hydrator["drySource"] == before[name]["source"]
        assert hydrator["syncSource"] == {"targetBranch": "environments/prod", "path": before[name]["source"]["path"]}
        assert "hydrateTo" not in hydrator
    paths = [found[name]["sourceHydrator"]["syncSource"]["path"] for name in hydrated]
    assert len(set(paths)) == len(paths)
    schema = schemas_for(schema_versions(kubernetes="1.33")).find("argoproj.io/v1alpha1", "Application")
    assert not isinstance(schema, NoSchema)
    for _, item in files.everything():
        if item.get("kind") == "Application":
            assert schema.violations(item) == ()


def test_a_branch_before_it(render):
    found = applications(render(argocd(", hydrate: {branch: prod, stageBranch: prod-next}")))
    staged = [spec["sourceHydrator"]["hydrateTo"] for spec in found.values() if "sourceHydrator" in spec]
    assert staged
    assert all(item == {"targetBranch": "prod-next"} for item in staged)


@pytest.mark.parametrize("words", ["branch: main", "branch: a, stageBranch: main", "branch: a, stageBranch: a"])
def test_no_branch_is_read_and_written_to(resolve, words):
    found = resolve(argocd(f", hydrate: {{{words}}}")).diagnostics
    assert [item.code for item in found if item.severity.name == "ERROR"] == ["PSM256"]


def test_flux_has_no_hydrator(resolve):
    words = "{engine: flux, repoURL: https://git.example.com/gpu.git, hydrate: {branch: a}}"
    assert any(item.code == "PSM257" for item in resolve({"delivery": words}).diagnostics)
