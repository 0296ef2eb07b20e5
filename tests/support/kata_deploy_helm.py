"""What the real Helm renders of the chart kata-deploy."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from poolsmith.core.sources.yaml_reader import read_documents
from support.chart_objects import comparable
from support.kata_deploy import NAMESPACE, RELEASE


def chart_alone(charts: Path, version: str, target: Path) -> Path:
    """A copy of a chart without the chart of node feature discovery, which is off and need not be there."""
    copy = target / version
    shutil.copytree(charts / version / RELEASE, copy, ignore=lambda _folder, names: {"charts"} & set(names))
    text = (copy / "Chart.yaml").read_text("utf-8")
    (copy / "Chart.yaml").write_text(text[: text.index("\ndependencies:") + 1], "utf-8")
    return copy


def rendered(helm: str, chart: Path, values: dict[str, Any]) -> dict[str, Any] | None:
    """Objects by `Kind/namespace/name`, or None where Helm refuses."""
    run = subprocess.run(
        [helm, "template", RELEASE, str(chart), "--namespace", NAMESPACE, "--values", "-"],
        input=json.dumps(values),
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        return None
    return comparable((item for item in read_documents(run.stdout) if item), NAMESPACE)
