"""What is done in the child for policies and requests, and the letter that says it to a child that is kept.

Only what JSON can say comes back from there.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.kubernetes.admission.evaluate import Surroundings, evaluate
from poolsmith.kubernetes.admission.policy_expressions import CompiledPolicy, Issue, compile_policy, fields_read
from poolsmith.kubernetes.admission.request import Subject
from poolsmith.kubernetes.admission.verdict import AuditAnnotation, Evaluation, NotMatched, ValidationResult, Verdict
from poolsmith.kubernetes.admission_run.process import Part, Standby

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from poolsmith.kubernetes.admission.policy import PolicySet
    from poolsmith.kubernetes.admission.request import AdmissionRequest
    from poolsmith.kubernetes.admission.resources import Resources

CHUNK = 100
"""Requests whose values are held at once."""


class Compiled:
    """Policies as they are compiled, and among what they are evaluated. They are filled in the child only."""

    def __init__(self, policies: PolicySet, resources: Resources, *, imply_bindings: bool, text: bytes = b"") -> None:
        self.policies = policies
        self.text = text
        self.around = Surroundings(policies, resources, imply_bindings=imply_bindings)
        self._found: dict[int, CompiledPolicy] = {}

    def of(self, index: int) -> CompiledPolicy:
        if index not in self._found:
            self._found[index] = compile_policy(self.policies.policies[index], self.around.resources.kubernetes)
        return self._found[index]


@record
class Order:
    """What to do, in this order: policies to compile by index, and evaluations.

    Each of these has the index of a policy, where the chunk of requests begins, and the places of those to ask it of.
    """

    compiling: tuple[int, ...]
    evaluating: tuple[tuple[int, int, tuple[int, ...]], ...]
    sound_only: bool

    def parts(self, compiled: Compiled, requests: Mapping[int, AdmissionRequest]) -> list[Part]:
        """Each to be blamed on its policy."""
        work = _Work(compiled, requests, sound_only=self.sound_only)
        names = [policy.name for policy in compiled.policies.policies]
        parts = [Part(names[index], work.compiling(index)) for index in self.compiling]
        parts += [Part(names[index], work.evaluating(index, start, at)) for index, start, at in self.evaluating]
        return parts


class KeptPolicies:
    """A child that keeps what it has compiled for the next requests. It has to be closed."""

    def __init__(self) -> None:
        self.standby = Standby(self._parts)
        self._compiled: dict[bytes, Compiled] = {}
        self._known: dict[tuple[int, int, bool], tuple[PolicySet, Resources, Compiled]] = {}

    def close(self) -> None:
        self.standby.close()

    def compiled(self, policies: PolicySet, resources: Resources, *, imply_bindings: bool) -> Compiled:
        """The same for the same policies."""
        key = id(policies), id(resources), imply_bindings
        if key not in self._known:
            text = pickle.dumps((policies, resources, imply_bindings), pickle.HIGHEST_PROTOCOL)
            compiled = Compiled(policies, resources, imply_bindings=imply_bindings, text=text)
            self._known[key] = policies, resources, self._compiled.setdefault(text, compiled)
        return self._known[key][2]

    @staticmethod
    def letter(compiled: Compiled, order: Order, requests: Mapping[int, AdmissionRequest]) -> bytes:
        """For a child that is kept. Nothing that comes from there is read in this way."""
        return pickle.dumps((compiled.text, order, requests), pickle.HIGHEST_PROTOCOL)

    def _parts(self, letter: bytes) -> Sequence[Part]:
        """In the child."""
        text, order, requests = pickle.loads(letter)  # noqa: S301 - its parent wrote it
        if text not in self._compiled:
            policies, resources, imply = pickle.loads(text)  # noqa: S301 - its parent wrote it
            self._compiled[text] = Compiled(policies, resources, imply_bindings=imply, text=text)
        parts: list[Part] = order.parts(self._compiled[text], requests)
        return parts


class _Work:
    """What the child does. The values of a chunk of requests are kept in it, not here."""

    def __init__(self, compiled: Compiled, requests: Mapping[int, AdmissionRequest], *, sound_only: bool) -> None:
        self._compiled = compiled
        self._requests = requests
        self._sound_only = sound_only
        self._subjects: tuple[int, dict[int, Subject]] = (-1, {})

    def compiling(self, index: int) -> Callable[[Callable[[], None]], Any]:
        def run(tick: Callable[[], None]) -> Any:
            compiled = self._compiled.of(index)
            tick()
            reads = fields_read(compiled.policy)
            tick()
            return {
                "issues": [_issue(item) for item in compiled.issues],
                "undecidable": list(compiled.undecidable),
                "reads": reads,
            }

        return run

    def evaluating(self, index: int, start: int, places: tuple[int, ...]) -> Callable[[Callable[[], None]], Any]:
        def run(tick: Callable[[], None]) -> Any:
            compiled = self._compiled.of(index)
            if self._sound_only and compiled.issues:
                return None
            answers: list[int] = []
            unlike: dict[int, tuple[int, Evaluation]] = {}
            for place in places:
                answer = evaluate(compiled, self._subject(start, place), self._compiled.around)
                tick()
                answers.append(unlike.setdefault(id(answer), (len(unlike), answer))[0])
            return {"answers": answers, "unlike": [encoded(answer) for _, answer in unlike.values()]}

        return run

    def _subject(self, start: int, place: int) -> Subject:
        if self._subjects[0] != start:
            self._subjects = start, {}
        subjects = self._subjects[1]
        if place not in subjects:
            subjects[place] = Subject(self._requests[place])
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


def encoded(found: Evaluation) -> list[Any]:
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


def decoded(policy: str, found: list[Any]) -> Evaluation:
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
