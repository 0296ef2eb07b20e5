"""PolicyExceptions of Kyverno for the predicted workloads of a cluster, never wider than its grants.

`kyverno.io/v2` with `spec.conditions`: Kyverno 1.12 and later (api/kyverno/v2/policy_exception_types.go). An exception
lifts a whole rule for a pod. So its conditions say what else the pod must not hold: containers by name and image,
host paths, where they are mounted, and the service account. Kyverno cannot tell pools apart: what is not granted on all
pools where a workload runs is left out.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import account_of, pod_template_of, word
from poolsmith.guard.ledger.grants.grant import repository_of
from poolsmith.guard.ledger.ledger import NO_KNOWN_NODE, LedgerLine
from poolsmith.guard.ledger.pod_privileges import pod_privileges
from poolsmith.guard.ledger.reach import Reach
from poolsmith.guard.policies.kyverno.rules import RULES, SAID
from poolsmith.guard.policies.kyverno.terms import NotSayable, PodTerms, any_of, count, quoted
from poolsmith.kubernetes.pods.pod import Pod

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.fleet.operands.installation import Made
    from poolsmith.guard.ledger.grants.matching import GrantBook
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.guard.ledger.privilege import Privilege
    from poolsmith.guard.policies.kyverno.rules import KyvernoRule
    from poolsmith.kubernetes.pods.pod import Container

_POD = "request.object.spec"
_TEMPLATE = "request.object.spec.template.spec"
_CONTROLLERS = ("DaemonSet", "Deployment", "Job", "StatefulSet")
_LAST = dt.date.max
_NAME = re.compile(r"[^a-z0-9]+")
_LONGEST = 200


@record
class KyvernoExport:
    """Documents in order, and what of the granted privileges they don't say."""

    documents: tuple[dict[str, Any], ...]
    unsaid: tuple[str, ...] = ()


class _Given:
    """What valid grants allow one workload; remembers the last day on which all that was asked is granted."""

    def __init__(self, prediction: Prediction, book: GrantBook, today: dt.date) -> None:
        cluster = prediction.plan.name
        self._book = book
        self._landing = prediction.ledger.landing
        self._mirrors = prediction.plan.cluster.spec.registry.mirrors
        self._places = frozenset(place for place in book.of_cluster(cluster) if self._last_day(place) >= today)
        self.until = _LAST
        self.grants: set[str] = set()

    def _last_day(self, place: int) -> dt.date:
        return self._book.grants[place].last_day or _LAST

    def holds(self, made: Made, container: Container | None, privilege: Privilege) -> bool:
        """On each of the pools where the workload runs."""
        name = "" if container is None else container.name
        image = "" if container is None else word(container.body.get("image"))
        repository = self._book.name_of(repository_of(image), self._mirrors)
        namespace, _, workload = made.key.partition("/")
        best: list[int] = []
        for pool in self._landing.get(made.key) or (NO_KNOWN_NODE,):
            line = LedgerLine(pool, workload, name, privilege, Reach.NONE, (), namespace)
            granting = self._book.granting(line, repository, self._places)
            if not granting:
                return False
            best.append(max((item.grant for item in granting), key=self._last_day))
        self.until = min(self.until, *(self._last_day(place) for place in best))
        self.grants.update(self._book.grants[place].name for place in best)
        return True


def kyverno_exceptions(prediction: Prediction, book: GrantBook, today: dt.date, namespace: str) -> KyvernoExport:
    """`today` is the day for which grants count; `namespace` is the one from which Kyverno takes exceptions."""
    documents: list[dict[str, Any]] = []
    unsaid: set[str] = set()
    for made in prediction.installation.made:
        template = pod_template_of(made.body)
        if template is None:
            continue
        pod = Pod.of(template)
        for rule in RULES:
            given = _Given(prediction, book, today)
            try:
                documents.extend(_of_rule(made, pod, rule, given, namespace))
            except NotSayable as problem:
                unsaid.add(f"{made.key}: {rule.policy}: {problem}")
        others = sorted({token.name for _, token in pod_privileges(template)} - SAID)
        unsaid.update(f"{made.key}: no exception for {name}" for name in others)
    return KyvernoExport(documents=tuple(documents), unsaid=tuple(sorted(unsaid)))


def _of_rule(made: Made, pod: Pod, rule: KyvernoRule, given: _Given, namespace: str) -> Iterator[dict[str, Any]]:
    """For the pods, and for what makes them: Kyverno derives rules for these from the rule for pods."""

    def may_hold(container: Container | None, privilege: Privilege) -> bool:
        return given.holds(made, container, privilege)

    kind = str(made.body["kind"])
    template = pod_template_of(made.body)
    for of_pod in (True, False) if kind in _CONTROLLERS else (True,) if kind == "Pod" else ():
        terms = PodTerms(_POD if of_pod else _TEMPLATE)
        counts = rule.counts(pod, may_hold, terms)
        if counts:
            account = f"(serviceAccountName || 'default') != {quoted(account_of(template))}"
            counts = (*counts, count(f"[{terms.root}] | [?{account}]"), *(_owned(made) if of_pod else ()))
            yield _document(made, rule, given, counts, of_pod=of_pod, namespace=namespace)


def _owned(made: Made) -> Iterator[str]:
    """Pods have the owner that the workload's controller gives them."""
    kind, name = str(made.body["kind"]), made.name
    if kind == "Pod":
        return
    owner = f"kind == {quoted(kind)} && name == {quoted(name)}"
    if kind == "Deployment":
        start = quoted(f"{name}-")
        owner = any_of([f"kind == 'ReplicaSet' && starts_with(name, {start})"])
    yield count(f"[request.object.metadata] | [?!(ownerReferences[?{owner}])]")


def _document(
    made: Made, rule: KyvernoRule, given: _Given, counts: tuple[str, ...], *, of_pod: bool, namespace: str
) -> dict[str, Any]:
    kind = "Pod" if of_pod else str(made.body["kind"])
    names = made.name if kind == made.body["kind"] else f"{made.name}-*"
    metadata: dict[str, Any] = {"name": _name(made, rule, kind), "namespace": namespace}
    if given.until < _LAST:
        metadata["labels"] = {"cleanup.kyverno.io/ttl": (given.until + dt.timedelta(days=1)).isoformat()}
    metadata["annotations"] = {"poolsmith.dev/grants": ", ".join(sorted(given.grants))}
    resources: Mapping[str, Any] = {
        "kinds": [kind],
        "namespaces": [str(made.body["metadata"].get("namespace") or "default")],
        "names": [names],
    }
    return {
        "apiVersion": "kyverno.io/v2",
        "kind": "PolicyException",
        "metadata": metadata,
        "spec": {
            "match": {"any": [{"resources": resources}]},
            "conditions": {"all": [{"key": text, "operator": "Equals", "value": 0} for text in counts]},
            "exceptions": [
                {"policyName": rule.policy, "ruleNames": [rule.rule if of_pod else f"autogen-{rule.rule}"]},
            ],
        },
    }


def _name(made: Made, rule: KyvernoRule, kind: str) -> str:
    """Readable, and different for each workload, rule and kind."""
    mark = hashlib.sha256(f"{made.key} {rule.policy} {kind}".encode()).hexdigest()[:8]
    return f"{_NAME.sub('-', f'{made.name}-{kind}-{rule.policy}'.lower()).strip('-')[:_LONGEST]}-{mark}"
