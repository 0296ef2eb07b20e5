"""All that should stand on a cluster, and where it comes from."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poolsmith.change.drift.delivered import delivered_objects
from poolsmith.core.pattern import fits
from poolsmith.core.record import record
from poolsmith.fleet.operands.expansion import Maker
from poolsmith.kubernetes.live.api_resources import SECRETS, ApiResource
from poolsmith.project.output.pools import TOOLKIT_FOLDER as TOOLKIT_BASE
from poolsmith.project.output.smoke import render_smoke_tests

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.fleet.operands.manifest import Manifest
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.guard.ledger.prediction import Prediction

_WRITTEN_BY_ALL = ("ConfigMap", "nvidia-driver-startup-probe")
_DELIVERY = "delivery"
_PASSING = (Maker.HOOK, Maker.OPERAND)
"""Who makes what comes and goes by itself."""


class Bringer(StrEnum):
    """Who brings an object."""

    DELIVERY = "delivery"
    CHART = "chart"
    OPERATOR = "operator"
    PERSON = "person"


_BRINGERS = {
    Maker.POOLSMITH: Bringer.DELIVERY,
    Maker.CHART: Bringer.CHART,
    Maker.HOOK: Bringer.CHART,
    Maker.OPERATOR: Bringer.OPERATOR,
    Maker.OPERAND: Bringer.OPERATOR,
}


@record(kw_only=False)
class ExpectedCluster:
    """One object. `file` is its path below the cluster's output, empty for what nobody commits; `through` the unit,
    chart or resource that brings it. What is `passing` may be absent: hooks, and pods that end."""

    body: dict[str, Any]
    bringer: Bringer
    through: str
    file: str = ""
    passing: bool = False

    @property
    def resource(self) -> ApiResource:
        return ApiResource(str(self.body["apiVersion"]), str(self.body["kind"]))

    @property
    def pattern(self) -> str:
        """Its name; `*` stands for what only the server or the operator chooses."""
        metadata = self.body["metadata"]
        return str(metadata["name"]) if metadata.get("name") else f"{metadata.get('generateName', '')}*"

    @property
    def namespace(self) -> str:
        return str(self.body["metadata"].get("namespace") or "")

    @property
    def shown(self) -> str:
        return shown(self.resource.kind, self.pattern, self.namespace)

    def is_called(self, name: str) -> bool:
        return fits(name, self.pattern)


def shown(kind: str, name: str, namespace: str) -> str:
    """An object in a message."""
    return f"`{kind}/{name}`" + (f" in `{namespace}`" if namespace else "")


def expected_objects(
    plan: ClusterPlan, prediction: Prediction, admission: Sequence[Manifest]
) -> tuple[ExpectedCluster, ...]:
    """Each once, without Secrets; what is delivered counts before what the operator is predicted to make of it."""
    found: dict[tuple[str, str, str, str], ExpectedCluster] = {}
    for item in _all(plan, prediction, admission):
        if item.resource != SECRETS:
            found.setdefault((item.resource.group, item.resource.kind, item.namespace, item.pattern), item)
    return tuple(found.values())


def is_delivered_from_elsewhere(plan: ClusterPlan) -> bool:
    """Whether Argo CD runs in another cluster: its Applications stand there."""
    return not plan.cluster.spec.delivery.argo_target.is_own_cluster


def _lasting(body: dict[str, Any]) -> dict[str, Any]:
    """Without the label of the one object that each NVIDIADriver writes anew, under its own name: the last one wins."""
    metadata = body["metadata"]
    if (body["kind"], metadata.get("name")) != _WRITTEN_BY_ALL:
        return body
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key != "app"}
    return {**body, "metadata": {**metadata, "labels": labels}}


def _all(plan: ClusterPlan, prediction: Prediction, admission: Sequence[Manifest]) -> Iterator[ExpectedCluster]:
    left_out = {TOOLKIT_BASE}  # pools have their own variants of it, among what is made
    if is_delivered_from_elsewhere(plan):
        left_out.add(_DELIVERY)
    for item in delivered_objects(plan, prediction, admission):
        if item.unit not in left_out:
            yield ExpectedCluster(item.body, Bringer.DELIVERY if item.file else Bringer.CHART, item.unit, item.file)
    for made in prediction.installation.made:
        yield ExpectedCluster(_lasting(made.body), _BRINGERS[made.maker], made.through, passing=made.maker in _PASSING)
    for manifest in render_smoke_tests(plan, ()):
        for body in manifest.documents:
            if isinstance(body, dict) and "kind" in body:
                yield ExpectedCluster(body, Bringer.PERSON, "smoke", passing=True)
