"""Requests by which workloads of the stack and their pods are made, and what the API server asks about them.

Webhooks and policies choose requests alike, by rules, selectors and conditions in CEL. What can't be evaluated (a
condition that reads who asks, a parameter) may hold.
Source: kubernetes/apiserver@v0.34.1: pkg/admission/plugin/webhook/generic, pkg/admission/plugin/policy/mutating.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.verify.expected import shown
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import containers_of, mapping
from poolsmith.core.sources.yaml_places import StreamPlaces
from poolsmith.kubernetes.admission.matching import Answer, matches
from poolsmith.kubernetes.admission.pods import as_admitted_pod, creator_of
from poolsmith.kubernetes.admission.policy_reading import match_resources, read_policies
from poolsmith.kubernetes.admission.request import User, make_request
from poolsmith.kubernetes.admission.resources import Resources
from poolsmith.kubernetes.admission_run.run import run_policies
from poolsmith.kubernetes.live.api_resources import POLICIES
from poolsmith.kubernetes.objects_file import PlacedObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from poolsmith.change.verify.expected import ExpectedCluster
    from poolsmith.kubernetes.admission.request import AdmissionRequest
    from poolsmith.kubernetes.live.snapshot import KubernetesObject

_GROUPS = ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated")


@record(kw_only=False)
class StackPod:
    """A pod of a workload as admission gets it, and how many of it there are to be."""

    item: ExpectedCluster
    body: dict[str, Any]
    count: int

    @property
    def shown(self) -> str:
        return shown(self.item.resource.kind, self.item.pattern, self.item.namespace)

    @property
    def spec(self) -> Mapping[str, Any]:
        return mapping(self.body.get("spec"))

    @property
    def containers(self) -> list[Mapping[str, Any]]:
        return list(containers_of(self.spec))


class StackRequests:
    """Of each workload that lasts: its pod, by who makes it, and itself, by who applies it."""

    def __init__(
        self,
        cluster: str,
        kubernetes: str,
        workloads: Iterable[tuple[ExpectedCluster, int]],
        around: Iterable[Mapping[str, Any]],
        namespaces: Mapping[str, KubernetesObject],
    ) -> None:
        """`workloads` with how many pods each is to have, `around` them RuntimeClasses and service accounts as they are
        predicted; `kubernetes` is the minor.
        """
        self.kubernetes, self.places = kubernetes, StreamPlaces(cluster, "")
        self.resources = Resources(kubernetes, ())
        self.pods = tuple(_stack_pods(workloads, tuple(around), kubernetes))
        of_pods = [(pod.shown, self._of_pod(pod, namespaces)) for pod in self.pods]
        made = (
            (pod.shown, make_request(pod.item.body, self.resources, namespaces=namespaces.get)) for pod in self.pods
        )
        self.asked = (*of_pods, *made)

    def first_met(
        self,
        chosen: Sequence[Mapping[str, Any]],
        conditions: Iterable[Mapping[str, Any]] = (),
        variables: Iterable[Mapping[str, Any]] = (),
    ) -> str:
        """The first workload that is met by all that is `chosen` (fields of a policy's matchConstraints), and by
        conditions in CEL; empty where there is none.
        """
        criteria = [match_resources(dict(item)) for item in chosen]
        met = [
            (who, request)
            for who, request in self.asked
            if all(matches(item, request, self.resources).answer is Answer.YES for item in criteria)
        ]
        asked = list(conditions)
        if not met or not asked:
            return met[0][0] if met else ""
        return next(self._held(met, {"matchConditions": asked, "variables": list(variables)}), "")

    def _held(self, met: Sequence[tuple[str, AdmissionRequest]], fields: Mapping[str, Any]) -> Iterator[str]:
        """Whoever a policy with these conditions that allows nothing does not pass over."""
        spec = {"matchConstraints": {"resourceRules": [_ANY]}, "validations": [{"expression": "false"}], **fields}
        body = {"apiVersion": POLICIES.api_version, "kind": POLICIES.kind, "metadata": {"name": "asked"}, "spec": spec}
        policies, _ = read_policies([PlacedObject(body, self.places)], self.kubernetes)
        requests = [request for _, request in met]
        run = run_policies(policies, requests, self.resources, imply_bindings=True, static=False)
        if policies.broken or run.stopped:
            yield met[0][0]
        for (who, _), evaluation in zip(met, run.evaluations, strict=False):
            if evaluation.results:
                yield who

    def _of_pod(self, pod: StackPod, spaces: Mapping[str, KubernetesObject]) -> AdmissionRequest:
        creator = creator_of(pod.item.body)
        user = None if creator is None else User(name=creator, groups=_GROUPS)
        return make_request(pod.body, self.resources, namespaces=spaces.get, user=user)


_ANY = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}


def _stack_pods(
    workloads: Iterable[tuple[ExpectedCluster, int]], around: tuple[Mapping[str, Any], ...], kubernetes: str
) -> Iterator[StackPod]:
    classes = tuple(item for item in around if item.get("kind") == "RuntimeClass")
    accounts = tuple(item for item in around if item.get("kind") == "ServiceAccount")
    for item, count in workloads:
        pod = as_admitted_pod(item.body, classes, kubernetes, service_accounts=accounts)
        if pod is not None:
            yield StackPod(item, pod, count)
