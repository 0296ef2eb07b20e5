"""The release of the operator that runs, where it is another than the committed one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.verify.expected import Bringer
from poolsmith.core.diagnostics import Severity, diagnose
from poolsmith.core.diagnostics.codes.live import OTHER_VERSION
from poolsmith.core.diagnostics.listing import counted
from poolsmith.core.sources.pod_template import mapping
from poolsmith.kubernetes.live.resources import WORKLOADS

if TYPE_CHECKING:
    from poolsmith.change.verify.expected import Expected
    from poolsmith.change.verify.view import LiveView
    from poolsmith.core.diagnostics import Diagnostic

_OPERATOR = "gpu-operator"
_CHART, _VERSION = "helm.sh/chart", "app.kubernetes.io/version"
_DEPLOYMENT = next(item for item in WORKLOADS if item.kind == "Deployment")


def other_release(view: LiveView) -> str:
    """Empty where the operator is not there, tells nothing, or is of the committed release.

    Chart and image have to agree on it: of one edited field alone it does not follow that all objects are others.
    """
    for item in view.cluster.expected:
        if item.resource == _DEPLOYMENT and item.bringer is Bringer.CHART and item.pattern == _OPERATOR:
            given = mapping(item.body["metadata"].get("labels"))
            for body in view.find(item):
                held = mapping(body["metadata"].get("labels"))
                version, chart = held.get(_VERSION), held.get(_CHART)
                if isinstance(version, str) and version != given.get(_VERSION) and chart == f"{_OPERATOR}-{version}":
                    return version
    return ""


def follows_release(item: Expected) -> bool:
    """Whether an object is what the operator's release makes of it."""
    return item.bringer is Bringer.OPERATOR or (
        item.bringer is Bringer.CHART and item.through.partition(" ")[0] == _OPERATOR
    )


def runs_another(view: LiveView, release: str, differing: int) -> Diagnostic:
    """One finding for all objects that differ by it."""
    wanted = view.cluster.plan.cluster.spec.stack.release
    message = f"cluster `{view.cluster.name}` runs release {release} of the operator, and {wanted} is committed"
    if differing:
        message += f"; {counted(differing, 'object')} of the chart and the operator differ or are missing"
    place = view.cluster.of_cluster("/spec/stack/release")
    return diagnose(OTHER_VERSION, message, place, subject=view.cluster.name, severity=Severity.ERROR)
