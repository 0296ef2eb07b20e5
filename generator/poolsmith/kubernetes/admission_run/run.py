"""Policies on requests, in a process that can be stopped."""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.kubernetes.admission.matching import Answer, Match, matches
from poolsmith.kubernetes.admission.policy_expressions import Issue
from poolsmith.kubernetes.admission.verdict import Evaluation, NotMatched, ValidationResult, Verdict
from poolsmith.kubernetes.admission_run.process import LIMITS, Limits, Part, Standby, Stopped, Supervisor, too_late
from poolsmith.kubernetes.admission_run.work import CHUNK, Compiled, KeptPolicies, Order, decoded
from poolsmith.kubernetes.cel.engine import engine
from poolsmith.kubernetes.cel.errors import NotEvaluated

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from poolsmith.kubernetes.admission.policy import PolicySet
    from poolsmith.kubernetes.admission.request import AdmissionRequest
    from poolsmith.kubernetes.admission.resources import Resources
    from poolsmith.kubernetes.server.defaults import Path


@record
class PolicyRun:
    """`evaluations` are one for each request, in order. Names in the others are policies'.

    `issues` is what the API server would refuse; `undecidable` why a policy can't be evaluated here, `stopped` why it
    was not; `reads` which fields of objects it reads.
    """

    evaluations: tuple[Evaluation, ...] = ()
    issues: dict[str, tuple[Issue, ...]] = field(default_factory=dict)
    undecidable: dict[str, tuple[str, ...]] = field(default_factory=dict)
    stopped: dict[str, str] = field(default_factory=dict)
    reads: dict[str, tuple[Path, ...]] = field(default_factory=dict)


def run_policies(
    policies: PolicySet,
    requests: Sequence[AdmissionRequest],
    resources: Resources,
    *,
    imply_bindings: bool = True,
    static: bool = True,
    stopped: Mapping[str, str] | None = None,
    limits: Limits = LIMITS,
) -> PolicyRun:
    """Every policy on every request that it is meant for.

    Results of a policy that had to be stopped are one `notEvaluated` per request; `stopped` were so before, and are not
    tried again. Without `static` there are no `issues`, and no process is started where there is nothing to ask.
    """
    job = PolicyJob(
        policies, requests, resources, imply_bindings=imply_bindings, static=static, stopped=stopped, limits=limits
    )
    with contextlib.closing(job):
        return job.finish()


def run_together(
    asked: Sequence[tuple[PolicySet, Sequence[AdmissionRequest], Resources]], limits: Limits = LIMITS
) -> tuple[PolicyRun, ...]:
    """As `run_policies` for each, in one process. Who has to be stopped in one of them is not stopped in the others."""
    if limits.is_used_up:
        return tuple(run_policies(*one, limits=limits) for one in asked)
    plans = [_Plan(*one) for one in asked]
    parts = [Part(f"{index} {part.blame}", part.run) for index, plan in enumerate(plans) for part in plan.parts]
    with contextlib.closing(_supervised(parts, limits)) as supervisor:
        found = iter(supervisor.results())
        return tuple(plan.run_of(list(itertools.islice(found, len(plan.parts)))) for plan in plans)


class PolicyJob:
    """As `run_policies`; it begins when it is made, and is waited for in `finish`. It has to be closed.

    With `sound_only`, policies that the API server would refuse, or that can't even be compiled, take no part in
    `evaluations`. `kept` has a child that may know the policies already.
    """

    def __init__(
        self,
        policies: PolicySet,
        requests: Sequence[AdmissionRequest],
        resources: Resources,
        *,
        imply_bindings: bool = True,
        static: bool = True,
        sound_only: bool = False,
        stopped: Mapping[str, str] | None = None,
        limits: Limits = LIMITS,
        kept: KeptPolicies | None = None,
    ) -> None:
        self._names = [policy.name for policy in policies.policies]
        self._requests = len(requests)
        self._limits = limits
        self._sound_only = sound_only
        self._supervisor: Supervisor | None = None
        if not limits.is_used_up:
            self._plan = _Plan(
                policies,
                requests,
                resources,
                imply_bindings=imply_bindings,
                static=static,
                sound_only=sound_only,
                stopped=stopped,
                kept=kept,
            )
            self._supervisor = self._plan.supervised(limits)

    def close(self) -> None:
        if self._supervisor is not None:
            self._supervisor.close()

    def finish(self) -> PolicyRun:
        if self._supervisor is not None:
            return self._plan.run_of(self._supervisor.results())
        why = too_late(self._limits)
        if not self._sound_only:
            return _nothing(self._names, self._requests, why)
        return PolicyRun(evaluations=(Evaluation(),) * self._requests, stopped=dict.fromkeys(self._names, why))


class _Plan:
    """What has to be done for a run, in parts: first each policy is compiled, then it is asked."""

    def __init__(
        self,
        policies: PolicySet,
        requests: Sequence[AdmissionRequest],
        resources: Resources,
        *,
        imply_bindings: bool = True,
        static: bool = True,
        sound_only: bool = False,
        stopped: Mapping[str, str] | None = None,
        kept: KeptPolicies | None = None,
    ) -> None:
        self._names = [policy.name for policy in policies.policies]
        self._before = stopped or {}
        self._sound_only = sound_only
        self._kept = kept
        self._asked = _Asked(policies, requests, resources)
        make = Compiled if kept is None else kept.compiled
        self._compiled = make(policies, resources, imply_bindings=imply_bindings)
        names = [(index, name) for index, name in enumerate(self._names) if name not in self._before]
        chunks = (
            (index, start, self._asked.wanted(index, start))
            for start in range(0, len(requests), CHUNK)
            for index, _ in names
        )
        self._order = Order(
            compiling=tuple(index for index, _ in names) if static else (),
            evaluating=tuple(chunk for chunk in chunks if chunk[2]),
            sound_only=sound_only,
        )
        self.parts = self._order.parts(self._compiled, dict(enumerate(requests)))

    def supervised(self, limits: Limits) -> Supervisor:
        return _supervised(self.parts, limits, self._kept.standby if self._kept is not None else None, self._letter)

    def _letter(self) -> bytes:
        """With the requests that somebody has to be asked about."""
        requests = self._asked.requests
        wanted = {place: requests[place] for _, _, places in self._order.evaluating for place in places}
        return KeptPolicies.letter(self._compiled, self._order, wanted)

    def run_of(self, found: list[Any]) -> PolicyRun:
        """From the results of the parts, in their order."""
        names, tried = self._names, self._order.compiling
        ends = zip(self.parts, found, strict=True)
        late = {part.blame: item.why for part, item in ends if isinstance(item, Stopped)}
        answers = _Answers(self._asked, {**self._before, **late})
        for (index, _, places), item in zip(self._order.evaluating, found[len(tried) :], strict=True):
            answers.take(index, places, item)
        facts = {names[index]: item for index, item in zip(tried, found, strict=False) if not isinstance(item, Stopped)}
        issues = {name: tuple(Issue(**issue) for issue in item["issues"]) for name, item in facts.items()}
        unfit = {name for name in names if issues.get(name) or (name in late and name not in facts)}
        return PolicyRun(
            evaluations=answers.evaluations(unfit if self._sound_only else set()),
            issues=issues,
            undecidable={name: tuple(item["undecidable"]) for name, item in facts.items()},
            reads={name: tuple(map(tuple, item["reads"])) for name, item in facts.items()},
            stopped={**self._before, **late},
        )


def _supervised(
    parts: list[Part], limits: Limits, standby: Standby | None = None, letter: Callable[[], bytes] = bytes
) -> Supervisor:
    """The engine is loaded before the fork, so that no child has to do it again; it is given nothing here."""
    if parts:
        with contextlib.suppress(NotEvaluated):
            engine()
    return Supervisor(parts, limits, standby, letter)


def _nothing(names: list[str], requests: int, why: str) -> PolicyRun:
    """Of no policy it is even asked what it is meant for."""
    answer = Evaluation(results=tuple(item for name in names for item in _not_evaluated(name, why).results))
    return PolicyRun(evaluations=(answer,) * requests, stopped=dict.fromkeys(names, why))


class _Asked:
    """Requests, and which policies are meant for each; nothing of a policy's is run for that."""

    def __init__(self, policies: PolicySet, requests: Sequence[AdmissionRequest], resources: Resources) -> None:
        self.policies = policies.policies
        self.requests = requests
        self._resources = resources
        first: dict[str, dict[int, Match]] = {}
        self._matches = [first.setdefault(repr(policy.match), {}) for policy in self.policies]
        """By policy and request; policies that are meant for the same have the same."""

    def match(self, index: int, place: int) -> Match:
        known = self._matches[index]
        if place not in known:
            known[place] = matches(self.policies[index].match, self.requests[place], self._resources)
        return known[place]

    def wanted(self, index: int, start: int) -> tuple[int, ...]:
        """The places of a chunk's requests that a policy has to be asked about."""
        places = range(start, min(start + CHUNK, len(self.requests)))
        return tuple(place for place in places if self.match(index, place).answer is not Answer.NO)


class _Answers:
    """What comes back, by policy and request."""

    def __init__(self, asked: _Asked, stopped: Mapping[str, str]) -> None:
        self._asked = asked
        self._stopped = stopped
        self._found: dict[tuple[int, int], Evaluation] = {}

    def take(self, index: int, places: Sequence[int], item: Any) -> None:
        if isinstance(item, Stopped) or item is None:
            return
        policy = self._asked.policies[index].name
        unlike = [decoded(policy, one) for one in item["unlike"]]
        for place, answer in zip(places, item["answers"], strict=True):
            self._found[index, place] = unlike[answer]

    def evaluations(self, without: Collection[str]) -> tuple[Evaluation, ...]:
        taken = [index for index, policy in enumerate(self._asked.policies) if policy.name not in without]
        places = range(len(self._asked.requests))
        return tuple(_together([self._of(index, place) for index in taken]) for place in places)

    def _of(self, index: int, place: int) -> Evaluation:
        policy = self._asked.policies[index].name
        match = self._asked.match(index, place)
        if match.answer is Answer.NO:
            return Evaluation(not_matched=(NotMatched(policy, None, match.why),))
        if policy in self._stopped:
            return _not_evaluated(policy, self._stopped[policy])
        return self._found[index, place]


def _not_evaluated(policy: str, why: str) -> Evaluation:
    result = ValidationResult(policy=policy, binding=None, verdict=Verdict.NOT_EVALUATED, message=why)
    return Evaluation(results=(result,))


def _together(found: list[Evaluation]) -> Evaluation:
    return Evaluation(
        results=tuple(item for one in found for item in one.results),
        not_matched=tuple(item for one in found for item in one.not_matched),
        audit_annotations=tuple(item for one in found for item in one.audit_annotations),
    )
