"""The sample clusters as scenarios: the committed output is what Helm and the API server get, the pools are nodes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from oracle.operator.binary import NAMESPACE
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.fleet.operands.pool_nodes import pool_nodes
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project

REPOSITORY = Path(__file__).resolve().parents[3]
OUTPUT = REPOSITORY / "output/clusters"
PREFIX = "sample-"
_RESOURCES = ("NVIDIADriver", "GPUCluster")


@cache
def _project() -> Any:
    return open_project(REPOSITORY)


@cache
def sample_plan(name: str) -> Any:
    """What the profiles of a sample cluster come to."""
    (files,) = _project().select([name])
    return plan_cluster(_project(), files).plan


def sample_clusters() -> dict[str, str]:
    """The release of each sample cluster that has the operator, by name."""
    names = sorted(path.parents[2].name for path in OUTPUT.glob("*/platform/values/gpu-operator.yaml"))
    return {name: sample_plan(name).cluster.spec.stack.release for name in names}


def committed(name: str, *folders: str) -> list[dict[str, Any]]:
    """The objects in folders of a cluster's output, in the order of the files."""
    files = [path for folder in folders for path in sorted((OUTPUT / name / folder).rglob("*.yaml"))]
    found = [item for path in files for item in read_documents(path.read_text("utf-8")) if isinstance(item, dict)]
    return [item for item in found if "kind" in item and "metadata" in item]


def sample_inputs(name: str) -> dict[str, Any]:
    """A sample cluster's inputs, as those of any other scenario."""
    (values,) = read_documents((OUTPUT / name / "platform/values/gpu-operator.yaml").read_text("utf-8"))
    maps = [item for item in committed(name, "platform") if item["kind"] == "ConfigMap"]
    nodes = pool_nodes(sample_plan(name), _project().catalog.gpus)
    systems = sorted({node.labels["feature.node.kubernetes.io/system-os_release.ID"] for node in nodes})
    return {
        "apiVersions": ["resource.k8s.io/v1/DeviceClass"],
        "crs": [item for item in committed(name, "pools") if item["kind"] in _RESOURCES],
        "nodes": [{"name": node.name, "labels": dict(node.labels), "runtime": node.runtime} for node in nodes],
        "objects": [item for item in maps if item["metadata"].get("namespace", NAMESPACE) == NAMESPACE],
        "osRelease": f"ID={systems[0]}\n",
        "serviceMonitorCRD": True,
        "values": values or {},
    }
