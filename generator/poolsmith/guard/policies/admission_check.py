"""The users' policies on all that a cluster's profiles produce, rendered or predicted.

A workload is judged as itself and as the pod that it creates. Clusters that have the same objects share the verdicts.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic
from poolsmith.core.diagnostics.outcome import Skipped
from poolsmith.core.facts.versions import minor_key
from poolsmith.core.latest import Latest
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import account_of, mapping, pod_template_of, word
from poolsmith.core.sources.source_file import tree_digest
from poolsmith.guard.ledger.workload_privileges import name_of, namespace_of
from poolsmith.guard.policies.admission_findings import JudgedObject, ObjectEvaluation, Sight, findings_of, unseen
from poolsmith.guard.policies.policy_files import FIRST_SERVED
from poolsmith.kubernetes.admission.matching import may_match
from poolsmith.kubernetes.admission.pods import as_admitted_pod, creator_of, makes_pods
from poolsmith.kubernetes.admission.policy_expressions import absent_defaults
from poolsmith.kubernetes.admission.policy_reading import read_policies
from poolsmith.kubernetes.admission.request import User, make_request
from poolsmith.kubernetes.admission.resources import Resources
from poolsmith.kubernetes.admission.verdict import Evaluation
from poolsmith.kubernetes.admission_run.process import Budget
from poolsmith.kubernetes.admission_run.run import PolicyJob, PolicyRun
from poolsmith.kubernetes.admission_run.static import static_findings
from poolsmith.kubernetes.admission_run.work import KeptPolicies
from poolsmith.kubernetes.cel import CelEnvironment, UnknownKubernetes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from poolsmith.fleet.operands.expansion import KubernetesObject, Made
    from poolsmith.fleet.operands.manifest import ManifestTree
    from poolsmith.guard.ledger.ledger_view import PrivilegeView
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.guard.policies.policy_files import AdmissionFile
    from poolsmith.kubernetes.admission.policy import PolicySet
    from poolsmith.kubernetes.admission.request import AdmissionRequest

_REMEMBERED_OBJECTS = 20_000
_REMEMBERED_REQUESTS = 1_000
_REMEMBERED_CLUSTERS = 32
_NOT_ASKED = Evaluation()
_GROUPS = ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated")


@record
class AdmissionFindings:
    """Of one cluster. `sights` are what each policy saw there; `requests` counts what was judged;
    `undecided` is what has no verdict, each with the number of things.

    `was_stopped`: a policy took too long or failed, which may be otherwise the next time.
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    undecided: tuple[tuple[str, int], ...] = ()
    requests: int = 0
    policies: int = 0
    sights: dict[str, Sight] = field(default_factory=dict)
    was_stopped: bool = False

    @property
    def not_evaluated(self) -> int:
        return sum(count for _, count in self.undecided)


class AdmissionReviews:
    """The policies of a project on its clusters. `files` are those of policies/admission/ that are sound YAML.

    What they said of an object of one cluster holds for the next; their time is that of all clusters together.
    """

    def __init__(self, files: Sequence[AdmissionFile]) -> None:
        self._files = tuple(files)
        self._budget = Budget()
        self._by_minor: dict[str, _Policies] = {}
        self._kept: KeptPolicies | None = None

    @contextlib.contextmanager
    def keeping(self) -> Iterator[None]:
        """For many clusters: meanwhile one process stays, in which each policy is compiled once for each Kubernetes."""
        self._kept = kept = KeptPolicies()
        try:
            yield
        finally:
            self._kept = None
            kept.close()

    def judge(self, prediction: Prediction, tree: ManifestTree, view: PrivilegeView) -> AdmissionFindings:
        """One cluster: its rendered and predicted objects."""
        with contextlib.closing(self.ask(prediction, tree)) as asked:
            return asked.findings(view)

    def ask(self, prediction: Prediction, tree: ManifestTree) -> AskedPolicies:
        """Begin to judge one cluster; another process works on it until the findings are wanted.

        A cluster that is too old for policies is judged as the oldest that has them.
        """
        texts = tuple((file.path, file.text) for file in self._files)
        if not texts:
            return AskedPolicies(prediction, None)
        minor = max(minor_key(prediction.plan.cluster.spec.kubernetes.version), FIRST_SERVED)
        kubernetes = ".".join(map(str, minor))
        try:
            CelEnvironment.of(kubernetes)
        except UnknownKubernetes as error:
            return AskedPolicies(prediction, None, unknown=str(error), files=len(texts))
        policies = self._by_minor.get(kubernetes)
        if policies is None:
            policies = self._by_minor[kubernetes] = _Policies(texts, kubernetes, self._budget)
        return AskedPolicies(prediction, policies.ask(prediction, tree, self._kept))


class AskedPolicies:
    """One cluster whose verdicts are being found. It has to be closed."""

    def __init__(self, prediction: Prediction, asked: _Asked | None, *, unknown: str = "", files: int = 0) -> None:
        self._prediction = prediction
        self._asked = asked
        self._unknown = unknown
        self._files = files

    def close(self) -> None:
        if self._asked is not None:
            self._asked.close()

    def met(self) -> dict[str, frozenset[str]]:
        """By the key of each object: the policies that are meant for it, or for its pod."""
        found: dict[str, frozenset[str]] = {}
        for item in self._asked.judged() if self._asked is not None else ():
            found[item.about.key] = found.get(item.about.key, frozenset()) | frozenset(item.evaluation.met)
        return found

    def findings(self, view: PrivilegeView) -> AdmissionFindings:
        if self._asked is None and not self._unknown:
            return AdmissionFindings()
        if self._asked is None:
            skipped = Skipped(f"policies of cluster {view.cluster}", self._unknown)
            undecided = ((f"all policies: {self._unknown}", self._files),)
            return AdmissionFindings(skipped=(skipped,), undecided=undecided)
        judged = self._asked.judged()
        policies = self._asked.policies
        found = findings_of(judged, policies.set, policies.run, self._prediction, view)
        return AdmissionFindings(
            diagnostics=(*policies.static, *found.diagnostics),
            skipped=found.skipped,
            undecided=found.undecided,
            requests=len(judged),
            policies=len(policies.set.policies),
            sights=found.sights,
            was_stopped=policies.was_stopped,
        )


class _Policies:
    """Policies for one Kubernetes minor, and their verdicts on objects that may come up again."""

    def __init__(self, texts: tuple[tuple[str, str], ...], kubernetes: str, budget: Budget) -> None:
        from poolsmith.kubernetes.objects_file import placed_objects  # on demand

        placed = (placed_objects(path, text) for path, text in texts)
        objects = [item for found in placed if not isinstance(found, Diagnostic) for item in found]
        self.kubernetes = kubernetes
        self.set, self._problems = read_policies(objects, kubernetes)
        self.resources = Resources(kubernetes, (item.body for item in self.set.definitions))
        self.budget = budget
        self.run = PolicyRun()
        self.is_compiled = False
        self.stopped: dict[str, str] = {}
        self.known: OrderedDict[bytes, Evaluation] = OrderedDict()
        self._predicted = Latest(_REMEMBERED_CLUSTERS)
        self._met: dict[tuple[str, str], bool] = {}
        self._made: dict[tuple[object, ...], tuple[object, object, tuple[_Candidate, ...]]] = {}

    @property
    def was_stopped(self) -> bool:
        return bool(self.run.stopped or self.stopped)

    @cached_property
    def static(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the policies as such, once they have been compiled."""
        return (*self._problems, *static_findings(self.set, self.run, self.kubernetes))

    @cached_property
    def sound(self) -> PolicySet:
        """Those that the API server would take; the others are not in the cluster."""
        refused = {name for name, issues in self.run.issues.items() if issues} | self.run.stopped.keys()
        return replace(self.set, policies=tuple(item for item in self.set.policies if item.name not in refused))

    def ask(self, prediction: Prediction, tree: ManifestTree, kept: KeptPolicies | None) -> _Asked:
        namespaces = _namespaces(prediction, tree)
        alike = prediction.shared.given.key, tree_digest(namespaces)
        is_new = alike not in self._predicted
        predicted = tuple(self._candidates(prediction, namespaces)) if is_new else ()
        return _Asked(self, alike, predicted, tuple(self._rendered(prediction, tree, namespaces)), kept)

    def _candidates(self, prediction: Prediction, namespaces: Mapping[str, Mapping[str, Any]]) -> Iterator[_Candidate]:
        """Each object once, and each workload's pod; of what clusters have alike, made once."""
        named: _Named = {}
        for item in prediction.installation.objects:
            named.setdefault((item["kind"], _place_of(item), name_of(item)), item)
        digests = {name: tree_digest(body) for name, body in namespaces.items()}
        for made in prediction.installation.made:
            beside = _beside(made.body, named)
            places = (namespace_of(made.body), made.name)
            key = (id(made.body), *map(id, beside), *map(digests.get, places))
            if key not in self._made:
                if len(self._made) >= _REMEMBERED_REQUESTS:
                    self._made.clear()
                # what the key is made of is kept: as long as it lives, no other has its identity
                found = tuple(self._predicted_of(made, beside, namespaces))
                self._made[key] = made.body, beside, found
            yield from self._made[key][2]

    def _predicted_of(
        self, item: Made, beside: Sequence[KubernetesObject], namespaces: Mapping[str, Mapping[str, Any]]
    ) -> Iterator[_Candidate]:
        """An object, and a workload's pod."""
        kind, own, creator = item.body.get("kind"), JudgedObject(key=item.key), creator_of(item.body)
        if kind != "Pod" or not makes_pods(item.body):
            yield self._candidate(own, item.body, namespaces)
        if not makes_pods(item.body):
            return
        pods = replace(own, is_pod=True)
        if not self._may_meet("v1", "Pod"):
            yield _Candidate(pods)
            return
        classes, accounts = ([one for one in beside if one["kind"] == name] for name in (_CLASS, _ACCOUNT))
        pod = as_admitted_pod(item.body, classes, self.kubernetes, service_accounts=accounts) or {}
        yield self._candidate(pods, pod, namespaces, User(name=creator, groups=_GROUPS) if creator else None)

    def _rendered(
        self, prediction: Prediction, tree: ManifestTree, namespaces: Mapping[str, Mapping[str, Any]]
    ) -> Iterator[_Candidate]:
        """What a sync applies besides the predicted objects."""
        made = prediction.shared.made
        for path, body in tree.objects():
            if not isinstance(body, dict) or not word(body.get("kind")) or not word(body.get("apiVersion")):
                continue
            if word(body["apiVersion"]).startswith("kustomize.config.k8s.io/") or _key(body) in made:
                continue
            yield self._candidate(JudgedObject(key=_key(body), path=path), body, namespaces)

    def _candidate(
        self,
        about: JudgedObject,
        body: Mapping[str, Any],
        namespaces: Mapping[str, Mapping[str, Any]],
        user: User | None = None,
    ) -> _Candidate:
        if not self._may_meet(word(body.get("apiVersion")), word(body.get("kind"))):
            return _Candidate(about)
        request = make_request(body, self.resources, namespaces=namespaces.get, user=user)
        key = tree_digest((body, request.namespace_object, user.name if user else None))
        return _Candidate(about, request, key)

    def _may_meet(self, api_version: str, kind: str) -> bool:
        """Whether any policy may be meant for objects of a kind: of most kinds nothing need be asked."""
        key = api_version, kind
        if key not in self._met:
            resource = self.resources.of(*key)
            self._met[key] = any(may_match(item.match, resource, self.resources) for item in self.set.policies)
        return self._met[key]

    def job(self, requests: tuple[AdmissionRequest, ...], kept: KeptPolicies | None) -> PolicyJob:
        """The first one compiles the policies, too."""
        first = not self.is_compiled
        return PolicyJob(
            self.set if first else self.sound,
            requests,
            self.resources,
            imply_bindings=False,
            static=first,
            sound_only=first,
            stopped=self.stopped,
            limits=self.budget.begin(),
            kept=kept,
        )

    def take(self, run: PolicyRun) -> None:
        if self.is_compiled:
            self.stopped |= run.stopped
            return
        compiled = run.issues.keys()
        self.stopped |= {name: why for name, why in run.stopped.items() if name in compiled}
        stopped = {name: why for name, why in run.stopped.items() if name not in compiled}
        self.run = replace(run, evaluations=(), stopped=stopped)
        self.is_compiled = True

    def of_alike(self, alike: tuple[str, bytes], predicted: tuple[_Candidate, ...]) -> list[ObjectEvaluation]:
        """Verdicts on predicted objects, which clusters that are installed alike share."""
        return self._predicted.of(alike, lambda: [self.judged(item) for item in predicted])

    def judged(self, item: _Candidate) -> ObjectEvaluation:
        if item.request is None:
            return ObjectEvaluation(item.about, _NOT_ASKED)
        evaluation = self.known[item.key]
        body = None if item.about.is_pod else item.request.object
        met = evaluation.met if body is not None else ()
        fields = {name: absent_defaults(self.run.reads.get(name, ()), body or {}) for name in met}
        return ObjectEvaluation(item.about, evaluation, {name: found for name, found in fields.items() if found})

    def forget_oldest(self) -> None:
        while len(self.known) > _REMEMBERED_OBJECTS:
            self.known.popitem(last=False)


class _Asked:
    """Requests of one cluster; those without a known verdict are with another process."""

    def __init__(
        self,
        policies: _Policies,
        alike: tuple[str, bytes],
        predicted: tuple[_Candidate, ...],
        rendered: tuple[_Candidate, ...],
        kept: KeptPolicies | None,
    ) -> None:
        self.policies = policies
        self._alike = alike
        self._predicted = predicted
        self._rendered = rendered
        self._new = {
            item.key: item.request
            for item in (*predicted, *rendered)
            if item.request is not None and item.key not in policies.known
        }
        self._job: PolicyJob | None = None
        if self._new or not policies.is_compiled:
            self._job = policies.job(tuple(self._new.values()), kept)

    def close(self) -> None:
        if self._job is not None:
            self._job.close()
            self.policies.budget.end()
            self._job = None

    def judged(self) -> list[ObjectEvaluation]:
        policies = self.policies
        if self._job is not None:
            run = self._job.finish()
            self.close()
            policies.take(run)
            policies.known.update(zip(self._new, run.evaluations, strict=True))
        judged = [*policies.of_alike(self._alike, self._predicted), *map(policies.judged, self._rendered)]
        policies.forget_oldest()
        return judged


@record(kw_only=False)
class _Candidate:
    """A request, by whose content its verdict is remembered; none where no policy can be meant for it."""

    about: JudgedObject
    request: AdmissionRequest | None = None
    key: bytes = b""


_CLASS, _ACCOUNT = "RuntimeClass", "ServiceAccount"
_Named = dict[tuple[str, str, str], "KubernetesObject"]
"""By kind, namespace and name."""


def _place_of(item: KubernetesObject) -> str:
    """A class lies in no namespace, whatever its text says."""
    return "" if item["kind"] == _CLASS else namespace_of(item)


def _beside(body: KubernetesObject, named: _Named) -> list[KubernetesObject]:
    """The class and the account of the pods of a workload, where there are such."""
    template = pod_template_of(body)
    if template is None:
        return []
    runtime_class = word(mapping(template.get("spec")).get("runtimeClassName"))
    keys = ((_CLASS, "", runtime_class), (_ACCOUNT, namespace_of(body), account_of(template)))
    return [named[key] for key in keys if key in named]


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
    from poolsmith.kubernetes.objects_file import placed_objects  # on demand

    placed = (placed_objects(file.path, file.text) for file in files)
    objects = [item for found in placed if not isinstance(found, Diagnostic) for item in found]
    return unseen(objects, _total(sights))


def _total(sights: Iterable[Mapping[str, Sight]]) -> dict[str, Sight]:
    total: dict[str, Sight] = {}
    for one in sights:
        for name, sight in one.items():
            total[name] = sight if name not in total else total[name].with_more(sight)
    return total
