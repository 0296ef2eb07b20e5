"""One scenario: the chart as the real Helm renders it, nodes, the operator, and what it leaves."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from fleet.operands.oracle import NODE_ANNOTATIONS, node_labels
from oracle.operator import binary
from oracle.operator.binary import NAMESPACE
from oracle.operator.cluster import Cluster, is_ready
from oracle.operator.observed import observed
from poolsmith.fleet.operands.expansion import Expansion
from support.control_plane import KUBERNETES, Process, Scenario

_APPLIED = (
    *("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ConfigMap"),
    *("ClusterPolicy", "NVIDIADriver", "GPUCluster"),
)
"""What of the chart's objects the operator needs; its own Deployment is the program."""
_RESOURCES = ("ClusterPolicy", "NVIDIADriver", "GPUCluster")
_MONITORS = ("ServiceMonitor", "PrometheusRule")


class RefusedError(Exception):
    """Helm rendered nothing; its own words."""


def rendered(helm: str, chart: Path, values: Any, api_versions: Iterable[str] = ()) -> list[dict[str, Any]]:
    """The objects of a chart's release `gpu-operator`, without hooks and feature discovery. Raises RefusedError."""
    words = [helm, "template", NAMESPACE, str(chart), "--namespace", NAMESPACE, "--kube-version", KUBERNETES]
    words += ["--no-hooks", "--skip-tests", "--values", "-"]
    for version in api_versions:
        words += ["--api-versions", version]
    result = subprocess.run(words, input=json.dumps(values), capture_output=True, text=True, check=False)
    if result.returncode:
        raise RefusedError(result.stderr.strip())
    return [item for item in yaml.load_all(result.stdout, yaml.CSafeLoader) if item]


def packaged(chart: Path, tag: str, folder: Path) -> Path:
    """A copy of the repository's chart with the version that its package has: the tag."""
    found = folder / "gpu-operator"
    shutil.copytree(chart, found)
    about = yaml.safe_load((found / "Chart.yaml").read_text("utf-8"))
    (found / "Chart.yaml").write_text(json.dumps({**about, "version": tag, "appVersion": tag}), "utf-8")
    return found


def definitions(chart: Path) -> list[dict[str, Any]]:
    """The custom resource definitions of a chart and of its subcharts."""
    files = [*chart.glob("crds/*.yaml"), *chart.glob("charts/*/crds/*.yaml")]
    found = [item for path in sorted(files) for item in yaml.load_all(path.read_text("utf-8"), yaml.CSafeLoader)]
    return [item for item in found if item and item["kind"] == "CustomResourceDefinition"]


def monitor_definitions() -> list[dict[str, Any]]:
    """Definitions of the monitoring group that take anything."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return [
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{kind.lower()}s.monitoring.coreos.com"},
            "spec": {
                "group": "monitoring.coreos.com",
                "names": {"kind": kind, "plural": f"{kind.lower()}s", "listKind": f"{kind}List"},
                "scope": "Namespaced",
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
            },
        }
        for kind in _MONITORS
    ]


def prepare(server: Scenario, chart: Path) -> Cluster:
    """A server with the definitions and the namespace of a release."""
    client = server.client()
    for item in definitions(chart):
        answer = client.apply(item)
        if not answer.taken:
            raise ValueError(f"{item['metadata']['name']}: {answer.message}")
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    server.start_controllers(
        "daemonset-controller", "serviceaccount-controller", "root-ca-certificate-publisher-controller"
    )
    cluster = Cluster(client)
    cluster.settle_base()
    return cluster


class Stage:
    """Where the scenarios of one release run, one after the other."""

    def __init__(self, server: Scenario, tag: str, chart: Path, helm: str) -> None:
        folder = binary.program(tag)
        if folder is None:
            raise ValueError(f"no program of {tag} below {binary.VARIABLE}")
        self.tag, self._helm, self._server = tag, helm, server
        self._chart = packaged(chart, tag, server.folder / "chart")
        self.root = server.folder / "root"
        binary.make_root(folder, self.root)
        self.cluster = prepare(server, chart)

    def run(self, inputs: dict[str, Any]) -> tuple[Expansion, list[dict[str, Any]]]:
        """What the operator made of a scenario's inputs, and the custom resources as they were stored.

        Raises RefusedError if Helm renders nothing.
        """
        values = {**inputs["values"], "nfd": {"enabled": False}}
        objects = rendered(self._helm, self._chart, values, inputs.get("apiVersions") or ())
        cluster = self.cluster
        cluster.reset()
        for node in inputs["nodes"]:
            cluster.add_node(node["name"], node_labels(node), dict(NODE_ANNOTATIONS), node["runtime"])
        if inputs.get("serviceMonitorCRD"):
            for item in monitor_definitions():
                cluster.add_definition(item)
        for item in inputs["objects"]:
            cluster.add(item)
        for name in sorted(_priority_classes([*objects, *inputs["crs"]])):
            cluster.add(
                {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": 1}
            )
        stored = [cluster.add(item) for item in [*objects, *inputs["crs"]] if item["kind"] in _APPLIED]
        before = cluster.everything()
        found = self._settled(objects, inputs["osRelease"], before)
        if not all(map(is_ready, cluster.custom_resources())):
            found = self._settled(objects, inputs["osRelease"], before)
        return found, [item for item in stored if item["kind"] in _RESOURCES]

    def _settled(self, objects: list[dict[str, Any]], os_release: str, before: dict[Any, Any]) -> Expansion:
        """What is there when nothing changes any more. Where something is not ready, a second start tells whether it
        stays so, and which errors the last pass has.
        """
        process, log = start_operator(self._server, self.root, images(objects), os_release)
        try:
            self.cluster.settle(log.works)
            return observed(self.tag, self.cluster, before, log)
        finally:
            process.end()


def start_operator(server: Scenario, root: Path, given: dict[str, str], os_release: str) -> tuple[Process, binary.Log]:
    """The operator with the token of its chart's service account, and what it says."""
    client = server.client()
    account = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/gpu-operator/token"
    answer = client.request("POST", account, {"spec": {"expirationSeconds": 7200}})
    config = binary.kubeconfig(client.url, answer.body["status"]["token"])
    binary.write_inputs(root, config, server.authority, os_release)
    process = server.run(binary.command(root), "operator", binary.environment(given))
    return process, binary.Log(process.log)


def _priority_classes(value: Any) -> set[str]:
    """The names of priority classes in objects, without those of Kubernetes: pods that name another are refused."""
    if isinstance(value, list):
        return {name for item in value for name in _priority_classes(item)}
    if not isinstance(value, dict):
        return set()
    found = {name for item in value.values() for name in _priority_classes(item)}
    name = value.get("priorityClassName")
    return found | ({name} if isinstance(name, str) and name and not name.startswith("system-") else set())


def images(objects: list[dict[str, Any]]) -> dict[str, str]:
    """The images that the chart gives to the operator in variables: of the driver manager, and from v26.7.0 of more."""
    (deployment,) = (item for item in objects if item["kind"] == "Deployment" and item["metadata"]["name"] == NAMESPACE)
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return {item["name"]: item["value"] for item in container["env"] if item["name"].endswith("_IMAGE")}
