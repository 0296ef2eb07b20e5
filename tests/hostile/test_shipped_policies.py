"""What a pull request puts into `policies/` is shipped: it brings in nothing else, and what it takes away is told."""

from __future__ import annotations

import pytest

from support.git_repository import commit_all

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
BINDING = """apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: a}
spec: {policyName: a, validationActions: [Deny], paramRef: %s}
---
"""
DEFINITION = """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s.%s}
spec: {group: %s, names: {kind: %s, plural: %s}, scope: Namespaced, versions: []}
---
"""


def bound(version, kind, reference="{name: a, namespace: policies, parameterNotFoundAction: Deny}"):
    return POLICY % (version, kind) + BINDING % reference


def parameter(version, kind, metadata="name: a, namespace: policies"):
    return f"{{apiVersion: {version}, kind: {kind}, metadata: {{{metadata}}}}}"


def defined(group, kind):
    return DEFINITION % (kind.lower(), group, group, kind, kind.lower())


OWNED_BY_OTHERS = (
    ("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
    ("kustomize.toolkit.fluxcd.io/v1", "Kustomization"),
    ("argoproj.io/v1alpha1", "Application"),
    ("nvidia.com/v1", "ClusterPolicy"),
    ("nvidia.com/v1alpha1", "NVIDIADriver"),
    ("nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule"),
    ("helm.cattle.io/v1", "HelmChart"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "Job"),
    ("v1", "Secret"),
    ("v1", "Pod"),
    ("v1", "ServiceAccount"),
)
UNSHIPPABLE_PARAMETERS = {
    f"a dummy policy takes a {kind} of {version} as its parameter": bound(version, kind) + parameter(version, kind)
    for version, kind in OWNED_BY_OTHERS
} | {
    f"so it does, and a definition of {kind} of {version} is there": bound(version, kind)
    + defined(version.rpartition("/")[0] or "core", kind)
    + "---\n"
    + parameter(version, kind)
    for version, kind in OWNED_BY_OTHERS
}
NAMESPACES = ("kube-system", "kube-public", "argocd", "flux-system", "gpu-operator", "default", "openshift-config")
UNSHIPPABLE_PARAMETERS |= {
    f"a parameter in namespace {name}": bound("v1", "ConfigMap", f"{{name: a, namespace: {name}}}")
    + parameter("v1", "ConfigMap", f"name: a, namespace: {name}")
    for name in NAMESPACES
}
CONFIG_MAP = parameter("v1", "ConfigMap")
UNSHIPPABLE_PARAMETERS |= {
    "a ConfigMap alone": CONFIG_MAP,
    "a ConfigMap without a namespace": bound("v1", "ConfigMap", "{name: a}") + parameter("v1", "ConfigMap", "name: a"),
    "a ConfigMap that no binding selects": POLICY % ("v1", "ConfigMap") + CONFIG_MAP,
    "a ConfigMap of another name": bound("v1", "ConfigMap", "{name: b}") + CONFIG_MAP,
    "a ConfigMap of another namespace": bound("v1", "ConfigMap", "{name: a, namespace: b}") + CONFIG_MAP,
    "a ConfigMap that a selector leaves out": bound("v1", "ConfigMap", "{selector: {matchLabels: {a: b}}}")
    + CONFIG_MAP,
    "a ConfigMap of a policy with another kind": bound("example.com/v1", "Limit") + CONFIG_MAP,
    "a ConfigMap under a binding of another policy": (bound("v1", "ConfigMap") + CONFIG_MAP).replace(
        "policyName: a", "policyName: b"
    ),
    "a ConfigMap of another version": bound("v1", "ConfigMap") + parameter("v2", "ConfigMap"),
    "a custom resource that nobody defines here": bound("example.com/v1", "Limit")
    + parameter("example.com/v1", "Limit"),
    "a definition alone": defined("example.com", "Limit"),
    "a definition of another kind": bound("example.com/v1", "Limit") + defined("example.com", "Other"),
    "a definition of the operator's group": bound("nvidia.com/v1", "Limit") + defined("nvidia.com", "Limit"),
}
SHIPPED = {
    "a ConfigMap by its name": bound("v1", "ConfigMap") + CONFIG_MAP,
    "a ConfigMap in whichever namespace": bound("v1", "ConfigMap", "{name: a}") + CONFIG_MAP,
    "a ConfigMap by its labels": bound("v1", "ConfigMap", "{selector: {matchLabels: {a: b}}}")
    + parameter("v1", "ConfigMap", "name: c, namespace: policies, labels: {a: b}"),
    "all ConfigMaps": bound("v1", "ConfigMap", "{selector: {}}") + CONFIG_MAP,
    "a custom resource and its definition": bound("example.com/v1", "Limit")
    + defined("example.com", "Limit")
    + parameter("example.com/v1", "Limit"),
    "a custom resource of the whole cluster": bound("limits.example.com/v1", "Limit", "{name: a}")
    + defined("limits.example.com", "Limit")
    + parameter("limits.example.com/v1", "Limit", "name: a"),
    "no parameter": bound("v1", "ConfigMap"),
}
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
    "a policy that kustomize leaves out": POLICY.replace(
        "{name: a}", "{name: a, annotations: {config.kubernetes.io/local-config: 'true'}}"
    )
    % ("v1", "ConfigMap"),
    "a policy that Flux leaves alone": POLICY.replace(
        "{name: a}", "{name: a, annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}}"
    )
    % ("v1", "ConfigMap"),
    "a policy that Argo CD takes for a hook": POLICY.replace(
        "{name: a}", "{name: a, annotations: {argocd.argoproj.io/hook: Skip}}"
    )
    % ("v1", "ConfigMap"),
    "an object without a kind": "{apiVersion: v1, metadata: {name: a}}",
} | UNSHIPPABLE_PARAMETERS


@pytest.mark.rows(6, "kinds of files; the rest are spellings of them")
@pytest.mark.parametrize("name", UNSHIPPABLE)
def test_what_is_no_policy_is_not_shipped(project, write, run_cli, name):
    (project / "profiles/mistaken/pool-0.yaml").write_bytes((project / "profiles/sound/pool-0.yaml").read_bytes())
    write("policies/admission/evil.yaml", UNSHIPPABLE[name])

    result = run_cli(["generate", "--root", project, "--format", "json"])

    assert result.code == 1
    assert result.err == ""
    assert "unshippable-object" in {item["name"] for item in result.diagnostics if item["severity"] == "error"}
    assert not list((project / "output").glob("**/evil.yaml"))


AMBIGUOUS = {
    "a binding behind a carriage return": lambda text: text.replace("\n---\n", "\r---\r"),
    "a binding behind the end of a document": lambda text: text.replace("\n---\n", "\n...\n---\n"),
    "a merge key": lambda text: text.replace("metadata: {name: a}", "x: &x {name: a}\nmetadata: {<<: *x}"),
    "a word": lambda text: text.replace("{name: a}", "{name: a, annotations: {b: yes}}"),
    "a tag": lambda text: text.replace("[Deny]", "[!!str Deny]"),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_what_is_shipped_has_one_reading(project, write, run_cli, name):
    (project / "profiles/mistaken/pool-0.yaml").write_bytes((project / "profiles/sound/pool-0.yaml").read_bytes())
    text = AMBIGUOUS[name](bound("v1", "ConfigMap") + CONFIG_MAP)
    (project / "policies/admission").mkdir(parents=True, exist_ok=True)
    (project / "policies/admission/a.yaml").write_bytes(text.encode())

    result = run_cli(["generate", "--root", project, "--format", "json"])

    assert result.code == 1
    found = [item for item in result.diagnostics if item["name"] == "ambiguous-yaml"]
    assert found
    assert all(item["severity"] == "error" and item["primary"]["line"] for item in found)


@pytest.mark.parametrize("name", SHIPPED)
def test_parameters_are_shipped(project, write, run_cli, name):
    (project / "profiles/mistaken/pool-0.yaml").write_bytes((project / "profiles/sound/pool-0.yaml").read_bytes())
    parts = SHIPPED[name].split("---\n")
    for number, text in enumerate(filter(None, parts)):  # whichever file each is in
        write(f"policies/admission/{number}.yaml", text)

    result = run_cli(["generate", "--root", project, "--format", "json"])

    assert "unshippable-object" not in {item["name"] for item in result.diagnostics}


def test_that_policies_are_not_those_that_judge_is_told_file_by_file(project, write, run_cli):
    write("policies/admission/a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
    write("policies/admission/b.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}")
    commit_all(project)
    arguments = [
        "check",
        "--root",
        project,
        "--jobs",
        "1",
        "--policies-from",
        "HEAD",
        "--judge",
        "work-tree",
        "--format",
        "json",
    ]

    same = run_cli(arguments)
    (project / "policies/admission/a.yaml").unlink()
    write("policies/admission/b.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}")
    write("policies/enforcement.yaml", "never: mind\n")
    other = run_cli(arguments)

    assert "changed-policies" not in {item["name"] for item in same.diagnostics}
    (found,) = [item for item in other.diagnostics if item["name"] == "changed-policies"]
    assert found["severity"] == "warning"
    assert "new: `enforcement.yaml`; changed: `admission/b.yaml`; gone: `admission/a.yaml`" in found["message"]


@pytest.mark.rows(2, "each name and field")
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
