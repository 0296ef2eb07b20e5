"""The users' admission policies in the output: byte by byte, where a cluster serves them."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics import Severity
from poolsmith.guard.policies.policy_files import is_served
from poolsmith.interface.app import check_project, generate

pytestmark = pytest.mark.sample

POLICY = """# kept as it is,   spaces and all
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: exact-tags}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations:
    - expression: "object.spec.containers.all(c, !c.image.endsWith(':latest'))"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: exact-tags}
spec: {policyName: exact-tags, validationActions: [Deny]}
"""
CLUSTERS = "output/clusters"


@pytest.fixture
def project(sample_project):
    folder = sample_project / "policies/admission"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "exact.yaml").write_text(POLICY, "utf-8")
    (folder / "exact.test.yaml").write_text("never: shipped\n", "utf-8")
    return sample_project


def written(project):
    return sorted(path.parts[-4] for path in project.glob(f"{CLUSTERS}/*/platform/admission/exact.yaml"))


def test_a_policy_is_shipped_unchanged_and_is_applied_with_the_platform(project):
    generate(project)

    shipped = project / CLUSTERS / "prod-eu/platform/admission/exact.yaml"

    assert shipped.read_text("utf-8") == POLICY
    assert "- admission/exact.yaml" in (shipped.parents[1] / "kustomization.yaml").read_text("utf-8")


def test_tests_of_policies_are_not_shipped(project):
    generate(project)

    assert not list(project.glob("output/**/*.test.yaml"))


def test_only_clusters_that_serve_policies_get_them_and_the_others_are_named(project):
    result = generate(project)

    unserved = {item.subject for item in result.outcome.diagnostics if item.name == "policy-not-served"}
    assert unserved == {"a40-precompiled", "kata-a10"}
    assert not unserved & set(written(project))
    clusters = {path.name for path in (project / "profiles").iterdir() if not path.name.startswith("_")}
    assert set(written(project)) == clusters - unserved


@pytest.mark.deep("a check of the whole fleet")
def test_shipped_policies_are_validated_like_anything_that_is_applied(project):
    path = project / "policies/admission/exact.yaml"
    path.write_text(POLICY.replace("validationActions", "validationAction"), "utf-8")
    generate(project)

    found = {item.primary.span.path for item in check_project(project, progress=lambda *_: None).diagnostics}

    assert f"{CLUSTERS}/prod-eu/platform/admission/exact.yaml" in found or "policies/admission/exact.yaml" in found


@pytest.mark.deep("a whole run, 0.8 s; its parts have tests of their own")
def test_a_policy_that_goes_leaves_the_output(project):
    generate(project)
    (project / "policies/admission/exact.yaml").unlink()
    generate(project)

    assert written(project) == []


def test_a_policy_that_cannot_be_read_keeps_everything_from_being_written(project):
    before = sorted(path for path in project.glob("output/**/*") if path.is_file())
    (project / "policies/admission/exact.yaml").write_text("a: [\n", "utf-8")

    result = generate(project)

    assert result.outcome.fails(Severity.ERROR)
    assert sorted(path for path in project.glob("output/**/*") if path.is_file()) == before


def test_the_name_of_the_grants_own_policy_is_taken(project):
    (project / "policies/admission/exact.yaml").rename(project / "policies/admission/privilege-grants.yaml")

    result = generate(project)

    assert result.outcome.fails(Severity.ERROR)
    assert {item.primary.span.path for item in result.outcome.diagnostics if item.severity is Severity.ERROR} == {
        "policies/admission/privilege-grants.yaml"
    }


def test_the_lock_names_the_policies_that_a_cluster_was_made_from(project):
    generate(project)

    assert '"policies/admission/exact.yaml"' in (project / CLUSTERS / "prod-eu/poolsmith.lock.json").read_text("utf-8")
    assert "policies/admission" not in (project / CLUSTERS / "kata-a10/poolsmith.lock.json").read_text("utf-8")


@pytest.mark.parametrize(
    ("version", "kubernetes", "served"),
    (
        ("admissionregistration.k8s.io/v1", (1, 29), False),
        ("admissionregistration.k8s.io/v1", (1, 30), True),
        ("admissionregistration.k8s.io/v1", (1, 99), True),
        ("admissionregistration.k8s.io/v1beta1", (1, 29), False),
        ("admissionregistration.k8s.io/v1beta1", (1, 33), True),
        ("admissionregistration.k8s.io/v1beta1", (1, 34), False),
        ("admissionregistration.k8s.io/v1alpha1", (1, 34), False),
        ("v1", (1, 34), False),
    ),
)
def test_versions_are_served_by_some_minors(version, kubernetes, served):
    assert is_served(version, kubernetes) is served
