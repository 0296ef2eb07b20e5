"""Names that pods and charts need, and that nothing supplies, that stand elsewhere, or that lack a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.gpu.catalog.gpu_requests import asks_for_gpus
from poolsmith.guard.rules.links.name_needs import (
    names_of,
    needs_of_chart,
    needs_of_linked_pod,
    needs_of_objects,
)
from poolsmith.guard.rules.links.needs_from_outside import from_outside
from poolsmith.guard.rules.names.messages import changed, elsewhere, lacking, slip
from poolsmith.guard.rules.names.need import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.names.need import Need, Verdict

RULE = RuleInfo(
    code="PSM773",
    name="name-of-nobody",
    applies_to="manifest",
    what="A pod of the stack, the values of one of its charts, a release of Flux, a queue or a pool of machines names "
    "an object that arrives under another name, stands in another namespace, lacks the key that is asked for, or is a "
    "slip of the pen for one that nobody asks for: a ConfigMap, a Secret, a ServiceAccount, a PriorityClass, a "
    "RuntimeClass, a volume claim, a namespace, a source or a class. As a note: a chart names something that nothing "
    "here makes; where policies/external.yaml is kept, of pods too.",
    why="The API server refuses the pods, or they wait for ever in ContainerCreating.",
    fix="write the name as it is applied, in the namespace of who names it, with its keys",
    bad="priorityClassName: gpu-hgh  # beside a PriorityClass gpu-high\n",
    good="priorityClassName: gpu-high  # beside a PriorityClass gpu-high\n",
    symptom='`no PriorityClass with name gpu-hgh was found`; `serviceaccount "..." not found`; `configmap references '
    "non-existent config key`",
    references=(
        "kubernetes/kubernetes:pkg/kubelet/configmap, plugin/pkg/admission/priority and serviceaccount",
        "NVIDIA/dcgm-exporter@4.5.3-4.8.2:internal/pkg/counters/counter_config.go, readConfigMap",
    ),
)
_SAID = {State.CHANGED: changed, State.NEAR: slip, State.ELSEWHERE: elsewhere, State.LACKS_KEY: lacking}
_COPIED = ("replicat", "reflector", "kubed", "kyverno")
"""Words in annotations of objects that a controller copies into other namespaces."""


def check(view: LinkView) -> Iterator[Finding[Location]]:
    if not view.is_whole:
        return
    for pod in filter(lambda pod: asks_for_gpus(pod.spec), view.pods):
        yield from (_SAID[found.state](found) for found in _wrong(view, needs_of_linked_pod(view, pod)))
        yield from from_outside(view, needs_of_linked_pod(view, pod), kinds=())
    yield from (_SAID[found.state](found) for found in _wrong(view, needs_of_objects(view)))
    for chart in view.charts:
        yield from (_SAID[found.state](found) for found in _wrong(view, needs_of_chart(chart)))
        yield from from_outside(view, needs_of_chart(chart), kinds=("ConfigMap", "Namespace"))


def _wrong(view: LinkView, needs: Iterable[Need]) -> Iterator[Verdict]:
    for need in needs:
        verdict = names_of(view).verdict(need)
        if verdict.state in _SAID and not need.may_be_absent and not _is_copied(verdict):
            yield verdict


def _is_copied(verdict: Verdict) -> bool:
    held = verdict.offer.item.metadata.get("annotations") if verdict.offer is not None else None
    return verdict.state is State.ELSEWHERE and any(mark in str(held).lower() for mark in _COPIED)
