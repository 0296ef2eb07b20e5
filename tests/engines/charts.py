"""The operator's chart as a package: the published one where POOLSMITH_CHARTS has it, else a miniature with objects of
the same kinds, names and hooks."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from control_plane.released_chart import released
from support.recordings import recording

CHART = "gpu-operator"
_RIGHTS = "rbac.authorization.k8s.io/v1"
_NFD = "node-feature-discovery"
_IMAGE = "registry.example.com/miniature:v1"


def package(release: str, folder: Path, scratch: Path) -> Path:
    """Write `gpu-operator-RELEASE.tgz` and the index of all packages to `folder`."""
    charts = os.environ.get("POOLSMITH_CHARTS")
    chart = released(Path(charts), release, scratch) if charts else _miniature(release, scratch / "miniature" / release)
    _helm("package", str(chart), "--destination", str(folder))
    _helm("repo", "index", str(folder))
    return folder / f"{CHART}-{release}.tgz"


def _helm(*arguments: str) -> None:
    run = subprocess.run(["helm", *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr


def _miniature(release: str, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("crds", "templates"):
        (folder / name).mkdir(parents=True)
    about = {"apiVersion": "v2", "name": CHART, "version": release, "appVersion": release}
    (folder / "Chart.yaml").write_text(yaml.safe_dump(about))
    (folder / "values.yaml").write_text("{}\n")
    files = recording("gpu_operator")
    for path in files.below(f"gpu-operator/{release}/crds"):
        content = files[path]
        documents = content if isinstance(content, list) else [content]
        (folder / "crds" / path.rpartition("/")[2]).write_text(yaml.safe_dump_all(documents))
    for item in _objects(release):
        name = f"{item['kind']}-{item['metadata']['name']}.yaml".lower()
        (folder / "templates" / name).write_text(yaml.safe_dump(item))
    return folder


def _objects(release: str) -> list[dict[str, Any]]:
    hook = {"helm.sh/hook": "post-delete", "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded"}
    rights: dict[str, Any] = {"rules": []}
    full = f"{CHART}-{_NFD}"
    return [
        _object("v1", "ServiceAccount", CHART),
        _object("v1", "ServiceAccount", _NFD),
        {**_object(_RIGHTS, "ClusterRole", CHART), **rights},
        _workload("Deployment", CHART, release),
        _workload("Deployment", f"{full}-master", release),
        _workload("Deployment", f"{full}-gc", release),
        _workload("DaemonSet", f"{full}-worker", release),
        {**_object("nvidia.com/v1", "ClusterPolicy", "cluster-policy"), "spec": _policy(release)},
        _object("v1", "ServiceAccount", f"{full}-prune", hook),
        {**_object(_RIGHTS, "ClusterRole", f"{full}-prune", hook), **rights},
        {
            **_object("batch/v1", "Job", f"{full}-prune", hook),
            "spec": {"template": {"spec": {**_pod(release), "restartPolicy": "Never"}}},
        },
    ]


def _policy(release: str) -> dict[str, Any]:
    """With one field that only the later release defines."""
    names = (
        "operator",
        "daemonsets",
        "driver",
        "toolkit",
        "devicePlugin",
        "dcgm",
        "dcgmExporter",
        "gfd",
        "nodeStatusExporter",
    )
    found: dict[str, Any] = {**{name: {} for name in names}, "toolkit": {"enabled": True}}
    return found | ({"dcgmExporter": {"serviceMonitor": {"scrapeTimeout": "10s"}}} if release >= "v26.7" else {})


def _object(version: str, kind: str, name: str, annotations: dict[str, str] | None = None) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "annotations": annotations or {}}}


def _pod(release: str) -> dict[str, Any]:
    return {"containers": [{"name": "main", "image": f"{_IMAGE}-{release}"}]}


def _workload(kind: str, name: str, release: str) -> dict[str, Any]:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": _pod(release)}
    count = {"replicas": 1} if kind == "Deployment" else {}
    spec = {**count, "selector": {"matchLabels": labels}, "template": template}
    return {**_object("apps/v1", kind, name), "spec": spec}
