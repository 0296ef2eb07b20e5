"""What verbs print as JSON holds by its published schema, and the example beside the schema is what they printed."""

from __future__ import annotations

import json
import os

import jsonschema
import pytest

from poolsmith.interface.app.schemas import REPORTS, schema_text
from poolsmith.interface.report.report_schemas import answers
from support.git_repository import commit_all

EXAMPLES = "docs/schemas/examples"
_POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
  validations: [{expression: "object.spec.replicas <= 5", message: too many}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: replicas}
spec: {policyName: replicas, validationActions: [Deny, Audit]}
"""
_OBJECT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team}
spec: {replicas: 6, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: []}}}
"""
_TEST = """\
apiVersion: poolsmith/v1
kind: PolicyTest
metadata: {name: replicas}
spec:
  policies: [replicas.yaml]
  cases:
    - name: six are too many
      object:
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web, namespace: team}
        spec: {replicas: 6}
      expect: {verdict: deny}
    - name: one is not
      object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 1}}
      expect: {verdict: deny}
"""
_NODES = """\
- name: n1
  labels: {feature.node.kubernetes.io/pci-10de.present: "true", nvidia.com/gpu.present: "true"}
  runtime: containerd://1.7.27
"""
_FILES = {
    "replicas.yaml": _POLICY,
    "web.yaml": _OBJECT,
    "replicas.test.yaml": _TEST,
    "nodes.yaml": _NODES,
    "values.yaml": "dcgmExporter: {hostNetwork: true}\n",
}
OF_PROJECT = {
    "report": ("generate", "--check"),
    "diff": ("diff", "--base", "HEAD"),
    "upgrade": ("upgrade", "edge", "--to", "v26.3.3", "--dry-run"),
    "inventory": ("inventory", "--cluster", "edge"),
    "audit": ("audit", "--since", "HEAD", "--cluster", "edge"),
    "drift": ("drift", "--cluster", "edge"),
    "explain": ("explain", "edge:driver.version"),
    "image-copies": ("images", "--cluster", "edge", "--copy-plan", "json"),
    "images": ("images", "--cluster", "edge"),
    "ledger": ("ledger", "--cluster", "edge"),
}
BESIDE = {
    "expand": ("expand", "--release", "v26.7.0", "-f", "values.yaml", "--nodes", "nodes.yaml"),
    "ledger-releases": ("ledger", "--release-diff", "v26.3.3", "v26.7.0"),
    "policy-eval": ("policy", "eval", "--policy", "replicas.yaml", "--object", "web.yaml"),
    "policy-test": ("policy", "test", "replicas.test.yaml"),
    "releases": ("catalog", "list"),
    "rules": ("rules",),
    "template": ("template", "--release", "v26.7.0", "-f", "values.yaml"),
}
MORE = (
    ("ledger", ("ledger", "--cluster", "edge", "--set", "dcgmExporter.hostNetwork=true")),
    ("ledger", ("ledger", "--cluster", "prod-eu", "--pool", "h100-rhel", "--against", "a100-mig")),
    ("explain", ("explain", "edge/l4")),
    ("images", ("images",)),
    ("drift", ("drift",)),
)


def closed(node):
    """The same schema, by which no field may be there that it does not tell of."""
    if isinstance(node, dict):
        extra = {"additionalProperties": False} if "properties" in node and node.get("type") == "object" else {}
        return {**{key: closed(value) for key, value in node.items()}, **extra}
    return [closed(item) for item in node] if isinstance(node, list) else node


def problems(kind, body):
    schema = closed(json.loads(schema_text(kind)))
    jsonschema.Draft202012Validator.check_schema(schema)
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(body)]


@pytest.fixture
def project(sample_project, run_cli):
    """In git, with output, and a change that is not committed."""
    run_cli(["generate", "--root", sample_project])
    commit_all(sample_project)
    path = sample_project / "profiles/edge/cluster.yaml"
    text = path.read_text()
    path.write_text(
        text.replace("release: v26.7.0\n", "release: v26.7.0\n    values: {dcgmExporter: {hostNetwork: true}}\n")
    )
    return sample_project


@pytest.fixture
def printed(run_cli, tmp_path):
    def printed_(arguments, root=None):
        folder = tmp_path / "beside"
        folder.mkdir(exist_ok=True)
        for name, text in _FILES.items():
            (folder / name).write_text(text)
        form = () if "json" in arguments else ("--format", "json")
        where = ("--root", root) if root is not None else ()
        return json.loads(run_cli([*arguments, *form, *where], cwd=folder).out)

    return printed_


@pytest.mark.parametrize("kind", sorted(OF_PROJECT))
def test_what_is_printed_of_a_project_is_valid(printed, project, repository, kind):
    body = printed(OF_PROJECT[kind], project)

    assert problems(kind, body) == []
    _keep(repository, kind, body)


@pytest.mark.parametrize("kind", sorted(BESIDE))
def test_what_is_printed_beside_projects_is_valid(printed, repository, kind):
    body = printed(BESIDE[kind])

    assert problems(kind, body) == []
    _keep(repository, kind, body)


@pytest.mark.rows(2, "a whole run of a verb each")
@pytest.mark.parametrize(("kind", "arguments"), MORE)
def test_other_answers_of_the_same_verbs_are_valid(printed, project, kind, arguments):
    assert problems(kind, printed(arguments, project)) == []


@pytest.mark.parametrize("kind", [kind for kind in REPORTS if kind != "discovery"])
def test_each_kind_has_an_example_that_is_valid(repository, kind):
    """Of discovery, which a live cluster answers, tests/change/live/test_discover.py holds it."""
    body = json.loads((repository / EXAMPLES / f"{kind}.json").read_text())

    assert problems(kind, body) == []
    assert body["version"] == 1


def test_every_shape_is_a_kind_and_has_a_row_here():
    assert answers().keys() <= set(REPORTS)
    assert {*OF_PROJECT, *BESIDE, "discovery"} == set(REPORTS)


def _keep(repository, kind, body):
    """The example is remade on demand: it is the printed one, with the first items of each list."""
    if os.environ.get("UPDATE_DOCS") == "1":
        text = json.dumps(_short(body), indent=2, ensure_ascii=False) + "\n"
        (repository / EXAMPLES).mkdir(exist_ok=True)
        (repository / EXAMPLES / f"{kind}.json").write_text(text)


def _short(node, few=2):
    if isinstance(node, dict):
        return {key: _short(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_short(item) for item in node[:few]]
    return node if not isinstance(node, str) or len(node) < 400 else node[:400]
