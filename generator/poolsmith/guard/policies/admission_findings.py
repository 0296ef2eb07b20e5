"""What policies say of a cluster's objects, as findings at the lines of profiles."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose, whole_file
from poolsmith.core.diagnostics.codes import policy as codes
from poolsmith.core.diagnostics.codes.policy import DEPENDS_ON_DEFAULTING, POLICY_SAW_NOTHING
from poolsmith.core.diagnostics.message_text import cut_inside, listed, shorten
from poolsmith.core.diagnostics.outcome import Skipped
from poolsmith.core.record import record
from poolsmith.kubernetes.admission.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from poolsmith.core.diagnostics import Location, RuleInfo
    from poolsmith.guard.ledger.ledger_view import PrivilegeView
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.kubernetes.admission.policy import Policy, PolicySet
    from poolsmith.kubernetes.admission.verdict import Evaluation, ValidationResult
    from poolsmith.kubernetes.admission_run.run import PolicyRun
    from poolsmith.kubernetes.objects_file import PlacedObject

_RULES: tuple[tuple[str, RuleInfo, str], ...] = (
    ("Deny", codes.DENIED_BY_POLICY, "denied"),
    ("Warn", codes.WARNED_BY_POLICY, "warned of"),
    ("Audit", codes.AUDITED_BY_POLICY, "audited"),
)
_POLICY = "ValidatingAdmissionPolicy"
_LONGEST = 400
_FEW = 4


@record
class JudgedObject:
    """An object that policies are asked about, by its key; `path` is that of a rendered one, below the cluster's."""

    key: str
    is_pod: bool = False
    path: str | None = None

    @property
    def sort(self) -> str:
        return "rendered_objects" if self.path is not None else "predicted_pods" if self.is_pod else "predicted_objects"

    @property
    def kind(self) -> str:
        return self.key.split("/")[1]

    @property
    def words(self) -> str:
        """The object, for messages."""
        namespace, _, name = self.key.partition("/")
        where = f" in namespace {namespace}" if namespace else ""
        what = name if not self.is_pod or name.startswith("Pod/") else f"the pod of {name}"
        return f"{what}{where}"


@record(kw_only=False)
class ObjectEvaluation:
    """What all policies say of one object; `defaulted` are fields that they read and the API server fills in."""

    about: JudgedObject
    evaluation: Evaluation
    defaulted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@record
class Sight:
    """How many objects a policy was meant for; `defaulted` are fields of them that it reads and that are filled in."""

    predicted_pods: int = 0
    predicted_objects: int = 0
    rendered_objects: int = 0
    defaulted: tuple[str, ...] = ()

    def with_more(self, other: Sight) -> Sight:
        return Sight(
            predicted_pods=self.predicted_pods + other.predicted_pods,
            predicted_objects=self.predicted_objects + other.predicted_objects,
            rendered_objects=self.rendered_objects + other.rendered_objects,
            defaulted=tuple(sorted({*self.defaulted, *other.defaulted})),
        )

    @property
    def counts(self) -> dict[str, int]:
        return {
            "predicted_pods": self.predicted_pods,
            "predicted_objects": self.predicted_objects,
            "rendered_objects": self.rendered_objects,
        }

    @property
    def words(self) -> str:
        """As `47 predicted pods`; what it did not see is left out."""
        seen = (
            f"{count:,} {(name if count > 1 else name.removesuffix('s')).replace('_', ' ')}"
            for name, count in self.counts.items()
            if count
        )
        return ", ".join(seen) or "nothing"


@record
class PolicyFindings:
    """Of one cluster; `undecided` is what has no verdict, each with the number of objects."""

    diagnostics: tuple[Diagnostic, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    undecided: tuple[tuple[str, int], ...] = ()
    sights: dict[str, Sight] = field(default_factory=dict)


def findings_of(
    judged: Sequence[ObjectEvaluation], policies: PolicySet, run: PolicyRun, prediction: Prediction, view: PrivilegeView
) -> PolicyFindings:
    """`run` tells which policies the API server would refuse, or had to be stopped: those are not evaluated at all."""
    places = _Places(policies, prediction, view)
    diagnostics: list[Diagnostic] = []
    undecided: Counter[tuple[str, str]] = Counter()
    sights: dict[str, Counter[str]] = {policy.name: Counter() for policy in policies.policies}
    defaulted: dict[str, set[str]] = {}
    for item in judged:
        for name in item.evaluation.met:
            sights[name][item.about.sort] += 1
        for name, fields in item.defaulted.items():
            defaulted.setdefault(name, set()).update(f"{item.about.kind} {field}" for field in fields)
        for result in item.evaluation.results:
            if result.verdict is Verdict.NOT_EVALUATED:
                undecided[result.policy, result.message] += 1
            elif result.failed:
                diagnostics.append(places.finding(item.about, result))
    unread = dict(_unread(policies, run))
    diagnostics.extend(places.undecided(name, why, count) for (name, why), count in sorted(undecided.items()))
    diagnostics.extend(places.undecided(name, why, 0) for name, why in sorted(unread.items()))
    return PolicyFindings(
        diagnostics=tuple(diagnostics),
        skipped=tuple(
            Skipped(f"policy {shorten(name)} in cluster {view.cluster}", why) for name, why in sorted(unread.items())
        ),
        undecided=(
            *((f"policy {shorten(name)}: {why}", count) for (name, why), count in sorted(undecided.items())),
            *((f"policy {shorten(name)}: {why}", 1) for name, why in sorted(unread.items())),
        ),
        sights={
            name: Sight(**dict(count), defaulted=tuple(sorted(defaulted.get(name, ()))))
            for name, count in sights.items()
            if name not in unread
        },
    )


def unseen(objects: Sequence[PlacedObject], sights: Mapping[str, Sight]) -> tuple[Diagnostic, ...]:
    """Notes at policies that saw nothing anywhere, or that depend on defaulting."""
    return tuple(
        note
        for item in objects
        if item.kind == _POLICY and item.name in sights
        for note in _notes(item, sights[item.name])
    )


def _notes(item: PlacedObject, sight: Sight) -> Iterator[Diagnostic]:
    shown = shorten(item.shown)
    if not any(sight.counts.values()):
        message = f"{shown} matches no object of any cluster"
        yield diagnose(POLICY_SAW_NOTHING, message, item.locate("/spec/matchConstraints"), subject=shown)
    if sight.defaulted:
        fields = listed(map(shorten, sight.defaulted), _FEW)
        message = f"{shown} reads what the API server fills in where an object leaves it out: {fields}"
        yield diagnose(DEPENDS_ON_DEFAULTING, message, item.locate(), subject=shown)


def _unread(policies: PolicySet, run: PolicyRun) -> Iterator[tuple[str, str]]:
    """Policies that were asked nothing at all."""
    for name, issues in run.issues.items():
        if issues:
            yield name, "the API server would refuse it"
    yield from run.stopped.items()
    for broken in policies.broken:
        yield broken.name, "the API server would refuse it"


class _Places:
    """From an object to the line of a profile, and from a result to the line of its policy."""

    def __init__(self, policies: PolicySet, prediction: Prediction, view: PrivilegeView) -> None:
        self._policies: dict[str, Policy] = {policy.name: policy for policy in policies.policies}
        self._broken = {item.name: item.placed for item in policies.broken}
        self._prediction = prediction
        self._view = view

    def finding(self, about: JudgedObject, result: ValidationResult) -> Diagnostic:
        rule, done = next((rule, done) for action, rule, done in _RULES if action == result.action)
        bound = f" (binding {shorten(result.binding)})" if result.binding is not None else ""
        said = cut_inside(" ".join(result.message.split()), _LONGEST)
        message = f"{about.words} is {done} by policy {shorten(result.policy)}{bound}: {said}"
        return diagnose(
            rule,
            message,
            self._line(about),
            subject=f"{self._view.cluster}/{about.key.lstrip('/')} {result.policy}",
            related=(*self._policy(result), *self._rendered(about)),
        )

    def undecided(self, name: str, why: str, count: int) -> Diagnostic:
        """At the policy: what keeps it from being evaluated stands there."""
        placed = self._policies[name].placed if name in self._policies else self._broken[name]
        on = f" on {count} objects" if count else ""
        reason = cut_inside(" ".join(why.split()), _LONGEST)
        message = f"policy {shorten(name)} was not evaluated{on} of cluster {self._view.cluster}: {reason}"
        subject = f"{self._view.cluster}/{name}"
        return diagnose(codes.UNDECIDED_BY_POLICY, message, placed.locate(), subject=subject)

    def _line(self, about: JudgedObject) -> Location:
        if about.path is not None:
            return self._view.locate(self._view.plan.line_of_file(about.path))
        return self._view.locate(self._view.line_of(about.key, self._prediction.origins.of_workload(about.key)))

    def _policy(self, result: ValidationResult) -> tuple[Location, ...]:
        policy = self._policies.get(result.policy)
        return () if policy is None else (policy.placed.locate(result.pointer or "/metadata/name", "the policy"),)

    def _rendered(self, about: JudgedObject) -> tuple[Location, ...]:
        if about.path is None:
            return ()
        return (whole_file(f"output/clusters/{self._view.cluster}/{about.path}", "the object"),)
