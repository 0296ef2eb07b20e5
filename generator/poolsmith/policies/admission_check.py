"""The users' policies on all that a cluster's profiles come to, rendered or predicted.

A workload is judged as itself and as the pod that it comes to. Clusters that have the same objects share the verdicts.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.catalog.versions import minor_key
from poolsmith.cel import CelEnvironment, UnknownKubernetes
from poolsmith.diagnostics import Diagnostic
from poolsmith.diagnostics.outcome import Skipped
from poolsmith.policies.admission.make_request import make_request
from poolsmith.policies.admission.placed import placed_objects
from poolsmith.policies.admission.pods import as_admitted_pod, creator_of
from poolsmith.policies.admission.reading import read_policies
from poolsmith.policies.admission.reads import absent_defaults
from poolsmith.policies.admission.request import User
from poolsmith.policies.admission.resources import Resources
from poolsmith.policies.admission_file import FIRST_SERVED
from poolsmith.policies.admission_findings import JudgedObject, ObjectEvaluation, Sight, findings_of, unseen
from poolsmith.policies.run.budget import Budget
from poolsmith.policies.run.run import run_policies
from poolsmith.policies.run.static import static_findings
from poolsmith.sources.digest import tree_digest
from poolsmith.sources.pod_template import mapping, word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from poolsmith.ledger.prediction import Prediction
    from poolsmith.ledger.view import PrivilegeView
    from poolsmith.operands.manifest import ManifestTree
    from poolsmith.policies.admission.policy import PolicySet
    from poolsmith.policies.admission.request import AdmissionRequest
    from poolsmith.policies.admission.verdict import Evaluation
    from poolsmith.policies.admission_file import AdmissionFile

_REMEMBERED_OBJECTS = 20_000
_REMEMBERED_CLUSTERS = 32
_GROUPS = ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionFindings:
    """Of one cluster. `sights` are what each policy saw there; `requests` counts what was judged.

    `was_stopped`: a policy took too long or failed, which may be otherwise the next time.
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    not_evaluated: int = 0
    requests: int = 0
    policies: int = 0
    sights: dict[str, Sight] = field(default_factory=dict)
    was_stopped: bool = False


class AdmissionReviews:
    """The policies of a project on its clusters. `files` are those of policies/admission/ that are sound YAML.

    What they said of an object of one cluster holds for the next; their time is that of all clusters together.
    """

    def __init__(self, files: Sequence[AdmissionFile]) -> None:
        self._files = tuple(files)
        self._budget = Budget()
        self._by_minor: dict[str, _Policies] = {}

    def judge(self, prediction: Prediction, tree: ManifestTree, view: PrivilegeView) -> AdmissionFindings:
        """One cluster: its rendered and predicted objects.

        A cluster that is too old for policies is judged as the oldest that has them.
        """
        texts = tuple((file.path, file.text) for file in self._files)
        if not texts:
            return AdmissionFindings()
        minor = max(minor_key(prediction.plan.cluster.spec.kubernetes.version), FIRST_SERVED)
        kubernetes = ".".join(map(str, minor))
        try:
            CelEnvironment.of(kubernetes)
        except UnknownKubernetes as error:
            skipped = Skipped(f"policies of cluster {view.cluster}", str(error))
            return AdmissionFindings(skipped=(skipped,), not_evaluated=len(texts))
        policies = self._by_minor.get(kubernetes)
        if policies is None:
            policies = self._by_minor[kubernetes] = _Policies(texts, kubernetes, self._budget)
        judged = policies.judge(prediction, tree)
        found = findings_of(judged, policies.set, policies.run, prediction, view)
        return AdmissionFindings(
            diagnostics=(*policies.static, *found.diagnostics),
            skipped=found.skipped,
            not_evaluated=found.not_evaluated,
            requests=len(judged),
            policies=len(policies.set.policies),
            sights=found.sights,
            was_stopped=policies.was_stopped,
        )


class _Policies:
    """Policies for one Kubernetes minor, and their verdicts on objects that may come up again."""

    def __init__(self, texts: tuple[tuple[str, str], ...], kubernetes: str, budget: Budget) -> None:
        placed = (placed_objects(path, text) for path, text in texts)
        objects = [item for found in placed if not isinstance(found, Diagnostic) for item in found]
        self.kubernetes = kubernetes
        self.set, problems = read_policies(objects, kubernetes)
        self.resources = Resources(kubernetes, (item.body for item in self.set.definitions))
        self._budget = budget
        with self._budget.limits() as limits:
            self.run = run_policies(self.set, (), self.resources, imply_bindings=False, limits=limits)
        self.static = (*problems, *static_findings(self.set, self.run, kubernetes))
        self._stopped: dict[str, str] = {}
        self._known: OrderedDict[bytes, Evaluation] = OrderedDict()
        self._predicted: OrderedDict[tuple[str, bytes], list[ObjectEvaluation]] = OrderedDict()

    @property
    def was_stopped(self) -> bool:
        return bool(self.run.stopped or self._stopped)

    @cached_property
    def sound(self) -> PolicySet:
        """Those that the API server would take; the others are not in the cluster."""
        refused = {name for name, issues in self.run.issues.items() if issues} | self.run.stopped.keys()
        return replace(self.set, policies=tuple(item for item in self.set.policies if item.name not in refused))

    def judge(self, prediction: Prediction, tree: ManifestTree) -> list[ObjectEvaluation]:
        namespaces = _namespaces(prediction, tree)
        alike = prediction.shared.given.key, tree_digest(namespaces)
        known = self._predicted.get(alike)
        predicted = () if known is not None else tuple(_predicted(prediction, self.resources, namespaces))
        rendered = tuple(_rendered(prediction, tree, self.resources, namespaces))
        self._ask((*predicted, *rendered))
        if known is None:
            known = [self._judged(item) for item in predicted]
            self._predicted[alike] = known
            while len(self._predicted) > _REMEMBERED_CLUSTERS:
                self._predicted.popitem(last=False)
        judged = [*known, *map(self._judged, rendered)]
        while len(self._known) > _REMEMBERED_OBJECTS:
            self._known.popitem(last=False)
        return judged

    def _judged(self, item: _Candidate) -> ObjectEvaluation:
        evaluation = self._known[item.key]
        body = None if item.about.is_pod else item.request.object
        met = evaluation.met if body is not None else ()
        fields = {name: absent_defaults(self.run.reads.get(name, ()), body or {}) for name in met}
        return ObjectEvaluation(item.about, evaluation, {name: found for name, found in fields.items() if found})

    def _ask(self, candidates: Sequence[_Candidate]) -> None:
        new = {item.key: item.request for item in candidates if item.key not in self._known}
        if new:
            with self._budget.limits() as limits:
                run = run_policies(
                    self.sound,
                    tuple(new.values()),
                    self.resources,
                    imply_bindings=False,
                    static=False,
                    stopped=self._stopped,
                    limits=limits,
                )
            self._stopped |= run.stopped
            self._known.update(zip(new, run.evaluations, strict=True))


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A request, by whose content its verdict is remembered."""

    about: JudgedObject
    request: AdmissionRequest
    key: bytes


def _predicted(
    prediction: Prediction, resources: Resources, namespaces: Mapping[str, Mapping[str, Any]]
) -> Iterator[_Candidate]:
    """Each object once, and each workload's pod."""
    objects = prediction.installation.objects
    classes = tuple(item for item in objects if item.get("kind") == "RuntimeClass")
    accounts = tuple(item for item in objects if item.get("kind") == "ServiceAccount")
    for item in prediction.installation.made:
        pod = as_admitted_pod(item.body, classes, resources.kubernetes, service_accounts=accounts)
        if pod is None or item.body.get("kind") != "Pod":
            yield _candidate(JudgedObject(key=item.key), item.body, resources, namespaces, None)
        if pod is not None:
            creator = creator_of(item.body)
            user = None if creator is None else User(name=creator, groups=_GROUPS)
            yield _candidate(JudgedObject(key=item.key, is_pod=True), pod, resources, namespaces, user)


def _rendered(
    prediction: Prediction, tree: ManifestTree, resources: Resources, namespaces: Mapping[str, Mapping[str, Any]]
) -> Iterator[_Candidate]:
    """What a sync applies, as far as it is not among the predicted objects already."""
    made = prediction.shared.made
    for path, body in tree.objects():
        if not isinstance(body, dict) or not word(body.get("kind")) or not word(body.get("apiVersion")):
            continue
        if word(body["apiVersion"]).startswith("kustomize.config.k8s.io/") or _key(body) in made:
            continue
        yield _candidate(JudgedObject(key=_key(body), path=path), body, resources, namespaces, None)


def _candidate(
    about: JudgedObject,
    body: Mapping[str, Any],
    resources: Resources,
    namespaces: Mapping[str, Mapping[str, Any]],
    user: User | None,
) -> _Candidate:
    request = make_request(body, resources, namespaces=namespaces.get, user=user)
    return _Candidate(about, request, tree_digest((body, request.namespace_object, user.name if user else None)))


def _key(body: Mapping[str, Any]) -> str:
    """As of an object that is made: namespace, kind and name."""
    metadata = mapping(body.get("metadata"))
    return f"{word(metadata.get('namespace'))}/{word(body.get('kind'))}/{word(metadata.get('name'))}"


def _namespaces(prediction: Prediction, tree: ManifestTree) -> dict[str, Mapping[str, Any]]:
    """Those that the cluster's files make, as they make them. Of any other nothing is known."""
    found: dict[str, Mapping[str, Any]] = {
        word(mapping(body.get("metadata")).get("name")): body
        for _, body in tree.objects()
        if isinstance(body, dict) and body.get("kind") == "Namespace"
    }
    for body in prediction.installation.objects:
        if body.get("kind") == "Namespace":
            found.setdefault(str(body["metadata"]["name"]), body)
    return found


def sight_facts(sights: Iterable[Mapping[str, Sight]]) -> tuple[str, ...]:
    """Sentences on what each policy saw in all clusters."""
    return tuple(f"policy {name} saw {sight.words}" for name, sight in sorted(_total(sights).items()))


def saw_nothing(files: Sequence[AdmissionFile], sights: Iterable[Mapping[str, Sight]]) -> tuple[Diagnostic, ...]:
    """Notes: on each policy that met no object in any cluster, and on each that reads what the API server fills in."""
    placed = (placed_objects(file.path, file.text) for file in files)
    objects = [item for found in placed if not isinstance(found, Diagnostic) for item in found]
    return unseen(objects, _total(sights))


def _total(sights: Iterable[Mapping[str, Sight]]) -> dict[str, Sight]:
    total: dict[str, Sight] = {}
    for one in sights:
        for name, sight in one.items():
            total[name] = sight if name not in total else total[name].with_more(sight)
    return total
