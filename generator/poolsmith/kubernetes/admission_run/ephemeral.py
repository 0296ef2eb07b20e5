"""Ephemeral containers of a pod at hand, as the request by which alone they come into one.

A policy that is for pods/ephemeralcontainers and not for pods would else be passed over.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.sources.pod_template import mapping
from poolsmith.kubernetes.admission.verdict import Evaluation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.kubernetes.admission.request import AdmissionRequest

EPHEMERAL = "ephemeralcontainers"


def ephemeral_requests(requests: Sequence[AdmissionRequest]) -> Iterator[AdmissionRequest]:
    """An UPDATE of the subresource for each pod that has such containers."""
    for request in tuple(requests):
        resource = request.resource
        is_pod = (resource.group, resource.kind, request.subresource) == ("", "Pod", "")
        if is_pod and mapping(mapping(request.object).get("spec")).get("ephemeralContainers"):
            unknown = request.unknown | ({"oldObject"} if request.old_object is None else set())
            yield replace(request, subresource=EPHEMERAL, operation="UPDATE", unknown=unknown)


def ephemeral_answers(
    requests: Sequence[AdmissionRequest], asked: int, evaluations: Sequence[Evaluation]
) -> Iterator[tuple[AdmissionRequest, Evaluation]]:
    """What policies say of the requests after the first `asked` that say nothing of the pod as it was sent."""
    said = {
        id(request.object): {item.policy for item in evaluation.results}
        for request, evaluation in zip(requests[:asked], evaluations, strict=False)
    }
    for request, evaluation in zip(requests[asked:], evaluations[asked:], strict=True):
        results = tuple(item for item in evaluation.results if item.policy not in said[id(request.object)])
        if results:
            yield request, Evaluation(results=results)
