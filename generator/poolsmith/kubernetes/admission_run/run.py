"""Policies on requests, in a process that can be stopped."""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.kubernetes.admission.evaluate import Surroundings, evaluate
from poolsmith.kubernetes.admission.matching import Answer, Match, matches
from poolsmith.kubernetes.admission.policy_expressions import CompiledPolicy, Issue, compile_policy, fields_read
from poolsmith.kubernetes.admission.request import Subject
from poolsmith.kubernetes.admission.verdict import AuditAnnotation, Evaluation, NotMatched, ValidationResult, Verdict
from poolsmith.kubernetes.admission_run.process import LIMITS, Limits, Part, Stopped, Supervisor, too_late
from poolsmith.kubernetes.cel.engine import engine
from poolsmith.kubernetes.cel.errors import NotEvaluated

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from poolsmith.kubernetes.admission.policy import PolicySet
    from poolsmith.kubernetes.admission.request import AdmissionRequest
    from poolsmith.kubernetes.admission.resources import Resources
    from poolsmith.kubernetes.server.defaults import Path

CHUNK = 100
"""Requests whose values are held at once."""


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
    `evaluations`.
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
            )
            self._supervisor = _supervised(self._plan.parts, limits)

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
    ) -> None:
        self._names = [policy.name for policy in policies.policies]
        self._before = stopped or {}
        self._sound_only = sound_only
        self._work = _Work(policies, requests, resources, imply_bindings=imply_bindings, sound_only=sound_only)
        self._jobs = [
            (index, start)
            for start in range(0, len(requests), CHUNK)
            for index, name in enumerate(self._names)
            if name not in self._before and self._work.wanted(index, start)
        ]
        self._tried = [index for index, name in enumerate(self._names) if static and name not in self._before]
        self.parts = [Part(self._names[index], self._work.compiling(index)) for index in self._tried]
        self.parts += [Part(self._names[index], self._work.evaluating(index, start)) for index, start in self._jobs]

    def run_of(self, found: list[Any]) -> PolicyRun:
        """From the results of the parts, in their order."""
        names, tried = self._names, self._tried
        ends = zip(self.parts, found, strict=True)
        late = {part.blame: item.why for part, item in ends if isinstance(item, Stopped)}
        answers = _Answers(self._work, {**self._before, **late})
        for job, item in zip(self._jobs, found[len(tried) :], strict=True):
            answers.take(*job, item)
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


def _supervised(parts: list[Part], limits: Limits) -> Supervisor:
    """The engine is loaded before the fork, so that no child has to do it again; it is given nothing here."""
    if parts:
        with contextlib.suppress(NotEvaluated):
            engine()
    return Supervisor(parts, limits)


def _nothing(names: list[str], requests: int, why: str) -> PolicyRun:
    """Of no policy it is even asked what it is meant for."""
    answer = Evaluation(results=tuple(item for name in names for item in _not_evaluated(name, why).results))
    return PolicyRun(evaluations=(answer,) * requests, stopped=dict.fromkeys(names, why))


class _Answers:
    """What comes back, by policy and request."""

    def __init__(self, work: _Work, stopped: Mapping[str, str]) -> None:
        self._work = work
        self._stopped = stopped
        self._found: dict[tuple[int, int], Evaluation] = {}

    def take(self, index: int, start: int, item: Any) -> None:
        if isinstance(item, Stopped) or item is None:
            return
        policy = self._work.policies.policies[index].name
        unlike = [_decoded(policy, one) for one in item["unlike"]]
        for place, answer in zip(self._work.wanted(index, start), item["answers"], strict=True):
            self._found[index, place] = unlike[answer]

    def evaluations(self, without: Collection[str]) -> tuple[Evaluation, ...]:
        policies = self._work.policies.policies
        taken = [index for index, policy in enumerate(policies) if policy.name not in without]
        return tuple(
            _together([self._of(index, place) for index in taken]) for place in range(len(self._work.requests))
        )

    def _of(self, index: int, place: int) -> Evaluation:
        policy = self._work.policies.policies[index].name
        match = self._work.match(index, place)
        if match.answer is Answer.NO:
            return Evaluation(not_matched=(NotMatched(policy, None, match.why),))
        if policy in self._stopped:
            return _not_evaluated(policy, self._stopped[policy])
        return self._found[index, place]


class _Work:
    """What the child does. Compiled policies and the values of a chunk of requests are kept in it, not here."""

    def __init__(
        self,
        policies: PolicySet,
        requests: Sequence[AdmissionRequest],
        resources: Resources,
        *,
        imply_bindings: bool,
        sound_only: bool,
    ) -> None:
        self.sound_only = sound_only
        self.policies = policies
        self.requests = requests
        self.around = Surroundings(policies, resources, imply_bindings=imply_bindings)
        self._matches: dict[tuple[int, int], Match] = {}
        self._compiled: dict[int, CompiledPolicy] = {}
        self._subjects: tuple[int, dict[int, Subject]] = (-1, {})

    def match(self, index: int, place: int) -> Match:
        """Whether a policy is meant for a request; nothing of the policy's is run for that."""
        key = index, place
        if key not in self._matches:
            policy = self.policies.policies[index]
            self._matches[key] = matches(policy.match, self.requests[place], self.around.resources)
        return self._matches[key]

    def wanted(self, index: int, start: int) -> list[int]:
        """The places of a chunk's requests that a policy has to be asked about."""
        places = range(start, min(start + CHUNK, len(self.requests)))
        return [place for place in places if self.match(index, place).answer is not Answer.NO]

    def compiling(self, index: int) -> Callable[[Callable[[], None]], Any]:
        def run(tick: Callable[[], None]) -> Any:
            compiled = self._policy(index)
            tick()
            reads = fields_read(compiled.policy)
            tick()
            return {
                "issues": [_issue(item) for item in compiled.issues],
                "undecidable": list(compiled.undecidable),
                "reads": reads,
            }

        return run

    def evaluating(self, index: int, start: int) -> Callable[[Callable[[], None]], Any]:
        def run(tick: Callable[[], None]) -> Any:
            compiled = self._policy(index)
            if self.sound_only and compiled.issues:
                return None
            answers: list[int] = []
            unlike: dict[int, tuple[int, Evaluation]] = {}
            for place in self.wanted(index, start):
                answer = evaluate(compiled, self._subject(start, place), self.around, self.match(index, place))
                tick()
                answers.append(unlike.setdefault(id(answer), (len(unlike), answer))[0])
            return {"answers": answers, "unlike": [_encoded(answer) for _, answer in unlike.values()]}

        return run

    def _policy(self, index: int) -> CompiledPolicy:
        if index not in self._compiled:
            self._compiled[index] = compile_policy(self.policies.policies[index], self.around.resources.kubernetes)
        return self._compiled[index]

    def _subject(self, start: int, place: int) -> Subject:
        if self._subjects[0] != start:
            self._subjects = start, {}
        subjects = self._subjects[1]
        if place not in subjects:
            subjects[place] = Subject(self.requests[place])
        return subjects[place]


def _issue(item: Issue) -> dict[str, Any]:
    return {
        "pointer": item.pointer,
        "message": item.message,
        "line": item.line,
        "column": item.column,
        "needs": item.needs,
        "held_back": item.held_back,
    }


def _encoded(found: Evaluation) -> list[Any]:
    return [
        [
            [
                item.binding,
                item.verdict.value,
                item.validation,
                item.action,
                item.actions,
                item.message,
                item.reason,
                item.param,
                item.pointer,
                item.failed,
            ]
            for item in found.results
        ],
        [[item.binding, item.why] for item in found.not_matched],
        [[item.key, item.value] for item in found.audit_annotations],
    ]


def _decoded(policy: str, found: list[Any]) -> Evaluation:
    results, not_matched, audits = found
    return Evaluation(
        results=tuple(
            ValidationResult(
                policy=policy,
                binding=binding,
                verdict=Verdict(verdict),
                validation=validation,
                action=action,
                actions=tuple(actions),
                message=message,
                reason=reason,
                param=param,
                pointer=pointer,
                failed=failed,
            )
            for binding, verdict, validation, action, actions, message, reason, param, pointer, failed in results
        ),
        not_matched=tuple(NotMatched(policy, binding, why) for binding, why in not_matched),
        audit_annotations=tuple(AuditAnnotation(key, value) for key, value in audits),
    )


def _not_evaluated(policy: str, why: str) -> Evaluation:
    result = ValidationResult(policy=policy, binding=None, verdict=Verdict.NOT_EVALUATED, message=why)
    return Evaluation(results=(result,))


def _together(found: list[Evaluation]) -> Evaluation:
    return Evaluation(
        results=tuple(item for one in found for item in one.results),
        not_matched=tuple(item for one in found for item in one.not_matched),
        audit_annotations=tuple(item for one in found for item in one.audit_annotations),
    )
