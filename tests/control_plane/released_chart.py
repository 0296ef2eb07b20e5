"""The operator's chart as it is published: the repository's own, with version and appVersion of the release."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

NAMESPACE = "gpu-operator"


def released(charts: Path, release: str, folder: Path) -> Path:
    """A copy of a checkout's chart below `folder`; its own Chart.yaml names a development version."""
    copy = folder / release / "gpu-operator"
    if not copy.exists():
        shutil.copytree(charts / release / "gpu-operator", copy)
        about = copy / "Chart.yaml"
        text = re.sub(r"(?m)^version: .*$", f"version: {release}", about.read_text("utf-8"), count=1)
        about.write_text(re.sub(r"(?m)^appVersion: .*$", f'appVersion: "{release}"', text, count=1), "utf-8")
    return copy


def rendered(chart: Path, values: Path, namespace: str = NAMESPACE) -> list[dict[str, Any]]:
    """All objects that Helm makes of it, hooks too, in their namespace."""
    command = ["helm", "template", "gpu-operator", str(chart), "--namespace", namespace, "--values", str(values)]
    run = subprocess.run(
        [*command, "--kube-version", "1.34.1", "--api-versions", "resource.k8s.io/v1/DeviceClass"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found = [item for item in yaml.load_all(run.stdout, yaml.CSafeLoader) if item]
    for item in found:
        item["metadata"].setdefault("namespace", namespace)
    return found
