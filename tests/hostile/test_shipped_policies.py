"""What a pull request puts into `policies/` is shipped: it brings in nothing else, and what it takes away is told."""

from __future__ import annotations

import subprocess

import pytest

ROLES = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: everything}}"
POLICY = """apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: a}
spec:
  paramKind: {apiVersion: %s, kind: %s}
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations: [{expression: "true"}]
---
"""
UNSHIPPABLE = {
    "a role binding": ROLES,
    "a role binding in a list": f"{{apiVersion: v1, kind: List, items: [{ROLES}]}}",
    "a role binding in a list of lists": f"{{apiVersion: v1, kind: List, items: [{{kind: List, items: [{ROLES}]}}]}}",
    "a role binding in what looks like a parameter": (
        f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}, items: [{ROLES}]}}"
    ),
    "a role binding by a merge key": f"- &roles {ROLES}\n- {{<<: *roles}}",
    "a role binding behind other documents": f"---\n---\n{{apiVersion: v1, kind: ConfigMap}}\n---\n{ROLES}",
    "a workload": "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a}}",
    "a workload that a policy takes as its parameter": (
        POLICY % ("apps/v1", "DaemonSet") + "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a}}"
    ),
    "a secret": "{apiVersion: v1, kind: Secret, metadata: {name: a}}",
    "a webhook": "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration}",
    "a custom resource that no policy reads": "{apiVersion: argoproj.io/v1alpha1, kind: Application}",
    "an object without a kind": "{apiVersion: v1, metadata: {name: a}}",
}


@pytest.mark.parametrize("name", UNSHIPPABLE)
def test_what_is_no_policy_is_not_shipped(project, write, run_cli, name):
    (project / "profiles/mistaken/pool-0.yaml").write_bytes((project / "profiles/sound/pool-0.yaml").read_bytes())
    write("policies/admission/evil.yaml", UNSHIPPABLE[name])

    result = run_cli(["generate", "--root", project, "--format", "json"])

    assert result.code == 1
    assert result.err == ""
    assert "unshippable-object" in {item["name"] for item in result.diagnostics if item["severity"] == "error"}
    assert not list((project / "output").glob("**/evil.yaml"))


def test_parameters_are_shipped(project, write, run_cli):
    (project / "profiles/mistaken/pool-0.yaml").write_bytes((project / "profiles/sound/pool-0.yaml").read_bytes())
    write(
        "policies/admission/a.yaml", POLICY % ("example.com/v1", "Limit") + "{apiVersion: example.com/v1, kind: Limit}"
    )
    write("policies/admission/b.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")

    result = run_cli(["generate", "--root", project, "--format", "json"])

    assert "unshippable-object" not in {item["name"] for item in result.diagnostics}


def git(folder, *arguments):
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_that_policies_are_not_those_that_judge_is_told_file_by_file(project, write, run_cli):
    write("policies/admission/a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
    write("policies/admission/b.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}")
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "base")
    arguments = ["check", "--root", project, "--jobs", "1", "--policies-from", "HEAD", "--format", "json"]

    same = run_cli(arguments)
    (project / "policies/admission/a.yaml").unlink()
    write("policies/admission/b.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}")
    write("policies/enforcement.yaml", "never: mind\n")
    other = run_cli(arguments)

    assert "changed-policies" not in {item["name"] for item in same.diagnostics}
    (found,) = [item for item in other.diagnostics if item["name"] == "changed-policies"]
    assert found["severity"] == "warning"
    assert "new: `enforcement.yaml`; changed: `admission/b.yaml`; gone: `admission/a.yaml`" in found["message"]


@pytest.mark.parametrize(
    "name",
    ["a\\0b", "a\\0b/c", "x" * 6_000, "x/" * 3_000, "\\ud800", "../../../../etc/passwd", "/etc/passwd", "..", "."],
)
@pytest.mark.parametrize("field", ["objectFile", "policies"])
def test_files_that_cases_name_are_never_read_outside(project, write, run_cli, name, field):
    case = f'{{name: a, objectFile: "{name if field == "objectFile" else "b.yaml"}", expect: {{verdict: allow}}}}'
    named = f'policies: ["{name}"], ' if field == "policies" else ""
    body = f"{{apiVersion: poolsmith/v1, kind: PolicyTest, metadata: {{name: a}}, spec: {{{named}cases: [{case}]}}}}"
    write("policies/admission/a.test.yaml", body)
    write("policies/admission/b.yaml", POLICY % ("v1", "ConfigMap"))

    results = (run_cli(["policy", "test", project / "policies"]), run_cli(["check", "--root", project, "--jobs", "1"]))

    for result in results:
        assert result.code == 1
        assert "root:" not in result.out
        assert result.err == ""
