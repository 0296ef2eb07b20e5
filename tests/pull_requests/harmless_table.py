"""Changes that reviewers make every week: none of them may be refused."""

from __future__ import annotations

from pull_requests.fleet import Change, both, document_edit, put, text_edit, values_edit
from pull_requests.switches_table import _change, _change_grant, _deleted
from support.git_repository import git
from support.yaml_edits import read_all, read_yaml, write_yaml


def harmless_changes():
    for name, edit in WHOLE:
        yield Change(name, edit, cluster=None if name in _OF_ALL else "lab-t4", kind="harmless")
    for cluster, name, edit in SINGLE:
        yield Change(f"{cluster}: {name}", edit, cluster=cluster, kind="harmless")


def _pool(cluster, pool, **fields):
    return document_edit(
        f"profiles/{cluster}/{pool}.yaml", {key.replace("__", "."): value for key, value in fields.items()}
    )


def _cluster(cluster, **fields):
    return _pool(cluster, "cluster", **fields)


def _copied(cluster, old, new, **fields):
    def edit(root):
        document = read_yaml(root / f"profiles/{cluster}/{old}.yaml")
        document["metadata"]["name"] = new
        for key, value in fields.items():
            put(document["spec"], key.split("__"), value)
        write_yaml(root / f"profiles/{cluster}/{new}.yaml", document)

    return edit


def _new_like(old, new):
    def edit(root):
        for path in (root / "profiles" / old).iterdir():
            document = read_yaml(path)
            if path.name == "cluster.yaml":
                document["metadata"]["name"] = new
            write_yaml(root / "profiles" / new / path.name, document)

    return edit


def _renamed_pool(cluster, old, new):
    def edit(root):
        git(root, "mv", f"profiles/{cluster}/{old}.yaml", f"profiles/{cluster}/{new}.yaml")
        path = root / f"profiles/{cluster}/{new}.yaml"
        document = read_yaml(path)
        document["metadata"]["name"] = new
        write_yaml(path, document)

    return edit


def _gone(cluster):
    return lambda root: git(root, "rm", "-rq", f"profiles/{cluster}")


def _narrowed_clusters(root):
    _change_grant(root, "container-toolkit.yaml", "toolkit-crio-pod", lambda spec: spec["privileges"].sort())


def _more_cases(root):
    path = root / "policies/admission/host-network.test.yaml"
    document = read_yaml(path)
    case = dict(document["spec"]["cases"][0])
    case["name"] += " once more"
    document["spec"]["cases"].append(case)
    write_yaml(path, document)


def _moved(root):
    path = root / "policies/privileges/driver.yaml"
    first, *rest = read_all(path)
    write_yaml(path, *rest)
    write_yaml(root / "policies/privileges/driver-pod.yaml", first)


_COMMENT = "# A comment.\n"
SINGLE = (
    ("edge", "the delivery goes on under its name", _cluster("edge", delivery__name="edge")),
    ("edge", "a pool that keeps its name", _pool("edge", "l4", objectName="l4")),
    ("edge", "a delivery that is suspended", _cluster("edge", delivery__retiring="keep")),
    ("prod-eu", "a new pool like others", _copied("prod-eu", "l40s-shared", "l40s-more")),
    ("prod-eu", "a new precompiled pool", _copied("prod-eu", "l4-precompiled", "l4-more")),
    ("prod-eu", "a removed pool", _deleted("profiles/prod-eu/l40s-shared.yaml")),
    ("prod-eu", "another patch release of the driver", _pool("prod-eu", "l40s-shared", driver__version="580.105.08")),
    ("edge", "another patch release of the driver", _pool("edge", "l4", driver__version="595.71.05")),
    ("prod-eu", "a comment in a pool", text_edit("profiles/prod-eu/a100-mig.yaml", _COMMENT, append=True)),
    ("prod-eu", "a comment in the cluster", text_edit("profiles/prod-eu/cluster.yaml", _COMMENT, append=True)),
    ("prod-eu", "more nodes", _pool("prod-eu", "l40s-shared", nodes__count=16)),
    ("prod-eu", "more time slices", _pool("prod-eu", "l40s-shared", sharing__timeSlicing__replicas=8)),
    ("prod-eu", "another MIG layout", _pool("prod-eu", "a100-mig", gpu__mig__layout="all-2g.20gb")),
    (
        "prod-eu",
        "one more taint with its toleration",
        _pool(
            "prod-eu",
            "l40s-shared",
            nodes__taints=[
                {"key": "nvidia.com/gpu", "effect": "NoSchedule"},
                {"key": "example.com/team", "value": "vision", "effect": "NoSchedule"},
            ],
        ),
    ),
    (
        "prod-eu",
        "resource limits of the operator",
        values_edit(
            "prod-eu",
            {
                "operator.resources": {
                    "limits": {"cpu": "1", "memory": "1Gi"},
                    "requests": {"cpu": "200m", "memory": "200Mi"},
                }
            },
        ),
    ),
    ("prod-eu", "log level of the operator", values_edit("prod-eu", {"operator.logging.level": "debug"})),
    (
        "prod-eu",
        "resource limits of the exporter",
        values_edit("prod-eu", {"dcgmExporter.resources": {"limits": {"memory": "512Mi"}}}),
    ),
    (
        "prod-eu",
        "interval of the ServiceMonitor",
        values_edit("prod-eu", {"dcgmExporter.serviceMonitor.interval": "30s"}),
    ),
    (
        "prod-eu",
        "label of the ServiceMonitor",
        values_edit("prod-eu", {"dcgmExporter.serviceMonitor.additionalLabels": {"release": "prometheus"}}),
    ),
    ("prod-eu", "ServiceMonitor off", values_edit("prod-eu", {"dcgmExporter.serviceMonitor.enabled": False})),
    ("edge", "ServiceMonitor on", values_edit("edge", {"dcgmExporter.serviceMonitor.enabled": True})),
    ("edge", "a label of the operands", values_edit("edge", {"daemonsets.labels": {"team": "gpu"}})),
    (
        "edge",
        "an annotation of the operands",
        values_edit("edge", {"daemonsets.annotations": {"example.com/team": "gpu"}}),
    ),
    (
        "edge",
        "an annotation of the operator",
        values_edit("edge", {"operator.annotations": {"example.com/team": "gpu"}}),
    ),
    (
        "edge",
        "memory of NFD",
        values_edit(
            "edge",
            {
                "node-feature-discovery.worker.resources": {
                    "limits": {"memory": "256Mi"},
                    "requests": {"memory": "80Mi", "cpu": "10m"},
                }
            },
        ),
    ),
    (
        "edge",
        "memory of NFD as by default",
        values_edit("edge", {"node-feature-discovery.worker.resources.requests.memory": "64Mi"}),
    ),
    ("edge", "two masters of NFD", values_edit("edge", {"node-feature-discovery.master.replicaCount": 2})),
    (
        "edge",
        "what the plugin logs",
        values_edit("edge", {"devicePlugin.env": [{"name": "LOG_LEVEL", "value": "debug"}]}),
    ),
    (
        "edge",
        "the zone of times",
        values_edit("edge", {"dcgmExporter.env": [{"name": "TZ", "value": "Europe/Berlin"}]}),
    ),
    ("edge", "the IOMMU", _pool("edge", "l4", kernel__args=["intel_iommu=on"])),
    ("sealed", "memory of guests", _pool("sealed", "confidential", sandbox__defaultMemory=65536)),
    ("sealed", "more nodes of a sandbox", _pool("sealed", "untrusted", nodes__count=9)),
    ("edge", "a pool's label value", _pool("edge", "l4", nodes__labelValue="l4-edge")),
    ("edge", "another kernel", _pool("edge", "l4", kernel__release="6.8.0-61-generic")),
    ("edge", "the exporter off", values_edit("edge", {"dcgmExporter.enabled": False})),
    ("edge", "rolling update", values_edit("edge", {"daemonsets.rollingUpdate.maxUnavailable": "2"})),
    ("edge", "probe of the driver", values_edit("edge", {"driver.startupProbe.failureThreshold": 200})),
    ("lab-t4", "a renamed pool", _renamed_pool("lab-t4", "t4", "tesla")),
    ("lab-t4", "a pool's drain", _pool("lab-t4", "t4", driver__upgradePolicy__drain__timeoutSeconds=600)),
    ("edge", "Kubernetes 1.35", _cluster("edge", kubernetes__version="1.35")),
    ("manual", "ServiceMonitor", _cluster("manual", stack__dcgmExporter__serviceMonitor=True)),
    ("manual", "another pool", _copied("manual", "workstations", "desktops")),
    ("kata-a10", "memory of sandboxes", _pool("kata-a10", "kata", sandbox__defaultMemory=8192)),
    ("a40-precompiled", "more nodes", _pool("a40-precompiled", "a40", nodes__count=4)),
)
_SUPPLY_NOTE = "policies/README.md"
_OF_ALL = (
    "nothing",
    "a removed cluster",
    "a removed cluster with Deny",
    "a cluster and its pools changed together",
    "a base changed in a number",
    "Deny in one more cluster",
)
WHOLE = (
    ("nothing", lambda root: None),
    ("the README", text_edit("README.md", "More words.\n", append=True)),
    ("a page of docs", text_edit("docs/runbook.md", "More words.\n", append=True)),
    ("the README of policies", text_edit(_SUPPLY_NOTE, "More words.\n", append=True)),
    ("source code of somebody's", text_edit("scripts/report.py", "print('hello')\n")),
    ("a removed cluster", _gone("a40-precompiled")),
    ("a removed cluster with Deny", _gone("lab-t4")),
    (
        "a cluster and its pools changed together",
        both(_pool("edge", "l4", nodes__count=31), _pool("prod-eu", "a100-mig", nodes__count=5)),
    ),
    (
        "a base changed in a number",
        document_edit("profiles/_bases/driver-rollout.yaml", {"driver.upgradePolicy.maxParallelUpgrades": 2}),
    ),
    ("a comment in grants", text_edit("policies/privileges/driver.yaml", _COMMENT, append=True)),
    (
        "a grant expires sooner",
        lambda root: _change_grant(
            root, "driver.yaml", "driver-pod", lambda spec: spec.update(expires=_day("2027-03-31"))
        ),
    ),
    (
        "a grant for its images only",
        lambda root: _change_grant(
            root,
            "node-feature-discovery.yaml",
            _first_without_images(root),
            lambda spec: spec.update(images=["registry.k8s.io/nfd/node-feature-discovery"]),
        ),
    ),
    (
        "a grant with better words",
        lambda root: _change_grant(
            root, "driver.yaml", "driver-pod", lambda spec: spec.update(reason=spec["reason"] + " As before.")
        ),
    ),
    ("a rule as by default", document_edit("policies/rules.yaml", {"rules.unused-grant": {"severity": "warning"}})),
    ("a rule raised", document_edit("policies/rules.yaml", {"rules.unused-grant": {"severity": "error"}})),
    ("a removed waiver", lambda root: _change(root / "policies/waivers.yaml", lambda d: d["spec"]["waivers"].pop())),
    (
        "warned sooner of what expires",
        document_edit("policies/rules.yaml", {"rules.expiring-grant.parameters": {"days": 60}}),
    ),
    (
        "Deny in one more cluster",
        lambda root: _change(root / "policies/enforcement.yaml", lambda d: d["spec"]["clusters"].append("edge")),
    ),
    (
        "a new policy with its test",
        both(
            lambda root: write_yaml(root / "policies/admission/no-latest.yaml", *NEW_POLICY),
            lambda root: write_yaml(root / "policies/admission/no-latest.test.yaml", NEW_TEST),
        ),
    ),
    ("a case more in a test of a policy", _more_cases),
    (
        "formatting of a profile",
        lambda root: write_yaml(root / "profiles/lab-t4/t4.yaml", read_yaml(root / "profiles/lab-t4/t4.yaml")),
    ),
    (
        "formatting of grants",
        lambda root: write_yaml(
            root / "policies/privileges/driver.yaml", *read_all(root / "policies/privileges/driver.yaml")
        ),
    ),
    ("a grant moved to a file of its own", _moved),
    ("the workflow of the docs", text_edit("docs/examples/workflow.yaml", "name: x\n")),
)


def _day(text):
    import datetime as dt

    return dt.date.fromisoformat(text)


def _first_without_images(root):
    documents = read_all(root / "policies/privileges/node-feature-discovery.yaml")
    return next(d["metadata"]["name"] for d in documents if "images" not in d["spec"])


_API = "admissionregistration.k8s.io/v1"
NEW_POLICY = (
    {
        "apiVersion": _API,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "no-latest"},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
                ]
            },
            "validations": [
                {
                    "expression": "object.spec.containers.all(c, !c.image.endsWith(':latest'))",
                    "message": "no image is called latest",
                }
            ],
        },
    },
    {
        "apiVersion": _API,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "no-latest"},
        "spec": {"policyName": "no-latest", "validationActions": ["Deny"]},
    },
)
_LATEST = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default"},
    "spec": {"containers": [{"name": "c", "image": "nvcr.io/nvidia/cuda:latest"}]},
}
NEW_TEST = {
    "apiVersion": "poolsmith/v1",
    "kind": "PolicyTest",
    "metadata": {"name": "no-latest"},
    "spec": {
        "policies": ["no-latest.yaml"],
        "cases": [
            {"name": "latest is refused", "object": _LATEST, "expect": {"verdict": "deny"}},
            {
                "name": "a tag passes",
                "object": {**_LATEST, "spec": {"containers": [{"name": "c", "image": "nvcr.io/nvidia/cuda:12.9"}]}},
                "expect": {"verdict": "allow"},
            },
        ],
    },
}
