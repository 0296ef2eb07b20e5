"""What a project's clusters are delivered, and what is forecast of it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from poolsmith.change.drift.delivered import DeliveredObject, delivered_objects
from poolsmith.change.drift.forecast import Forecast, forecast
from poolsmith.project.run.cluster_run import admission_of, plan_cluster
from poolsmith.project.run.project import open_project


def delivered(root: Path, cluster: str) -> tuple[tuple[DeliveredObject, ...], Forecast]:
    """Of one cluster whose profiles are sound."""
    project = open_project(root)
    (files,) = project.select((cluster,))
    planned = plan_cluster(project, files)
    assert planned.plan is not None, planned.diagnostics
    assert planned.prediction is not None
    assert planned.loaded.file is not None
    admission = admission_of(project.policies, planned.prediction, planned.loaded.file).manifests
    found = delivered_objects(planned.plan, planned.prediction, admission)
    return found, forecast(planned.plan, planned.prediction, admission)


def digest(body: dict[str, Any]) -> str:
    """A few letters of an object's hash: enough to tell it from others of a cluster."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:10]
