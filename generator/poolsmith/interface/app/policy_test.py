"""Use case: policies against the cases that people wrote for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, UsageError, diagnose, sorted_unique
from poolsmith.core.diagnostics.codes import policy as codes
from poolsmith.core.diagnostics.message_text import cut_inside, did_you_mean, shorten
from poolsmith.core.diagnostics.outcome import Outcome, Skipped
from poolsmith.core.record import record
from poolsmith.core.sources.yaml_places import StreamPlaces
from poolsmith.interface.app.policy_eval import DEFAULT_KUBERNETES, known_kubernetes
from poolsmith.kubernetes.admission.policy_reading import read_policies
from poolsmith.kubernetes.admission.policy_test import CaseResult, CaseUser, Expected, PolicyCase
from poolsmith.kubernetes.admission.policy_test_files import ENDING, TestFile, TestFiles, find_test_files
from poolsmith.kubernetes.admission.request import User, make_request
from poolsmith.kubernetes.admission.resources import Resources
from poolsmith.kubernetes.admission.verdict import Evaluation, Verdict
from poolsmith.kubernetes.admission_run.process import Budget
from poolsmith.kubernetes.admission_run.run import run_policies, run_together
from poolsmith.kubernetes.admission_run.static import static_findings
from poolsmith.kubernetes.cel import engine_problem
from poolsmith.kubernetes.objects_file import PlacedObject, placed_objects

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from poolsmith.core.sources.input_tree import InputTree
    from poolsmith.guard.policies.policy_files import PolicyFiles
    from poolsmith.kubernetes.admission.policy import PolicySet
    from poolsmith.kubernetes.admission.request import AdmissionRequest
    from poolsmith.kubernetes.admission_run.run import PolicyRun

_NOT_EVALUATED = "notEvaluated"
_SECONDS = 60.0
_LONGEST = 400
_SECONDS_OF_GROUP = 0.01
"""What cases may take in all, and more for each group of them that is evaluated together."""


@record
class PolicyTestResult:
    """Cases in the order of files, and findings: failed cases, untested policies, files that are not sound."""

    cases: tuple[CaseResult, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    policies: int = 0
    untried: int = 0
    why_untried: str = ""
    was_stopped: bool = False

    @property
    def outcome(self) -> Outcome:
        checked = {"policy objects": self.policies, "test cases": len(self.cases)}
        not_evaluated = sum(1 for item in self.cases if item.actual == _NOT_EVALUATED)
        return Outcome(
            diagnostics=self.diagnostics,
            checked=checked,
            skipped=(Skipped(f"{self.untried} policy test cases", self.why_untried),) if self.untried else (),
            not_evaluated=not_evaluated + self.untried,
        )


def policy_test(root: Path, paths: Sequence[Path], *, kubernetes: str | None = None) -> PolicyTestResult:
    """Test files below paths. `kubernetes` is for cases that name no version.

    Raises UsageError, also where there is no engine; NoInputError.
    """
    files = find_test_files(root, paths)
    if (problem := engine_problem()) is not None:
        raise UsageError(problem)
    return _tested(files, known_kubernetes(kubernetes or DEFAULT_KUBERNETES), static=True)


def project_policy_tests(tree: InputTree, files: PolicyFiles, *, kubernetes: str | None = None) -> PolicyTestResult:
    """The tests of a project's own policies/admission/; what is wrong with the policies is told elsewhere."""
    found = TestFiles(tree)
    found.take(files.admission, files.tests)
    if (problem := engine_problem()) is not None:
        untried = sum(len(test.document.spec.cases) for test in found.tests)
        return PolicyTestResult(diagnostics=sorted_unique(found.problems), untried=untried, why_untried=problem)
    return _tested(found, known_kubernetes(kubernetes or DEFAULT_KUBERNETES), static=False)


def _tested(files: TestFiles, kubernetes: str, *, static: bool) -> PolicyTestResult:
    cases: list[CaseResult] = []
    found: list[Diagnostic] = []
    groups = [group for test in files.tests for group in _CasesOfFile(files, test, kubernetes).groups()]
    budget = Budget(_SECONDS, each=_SECONDS_OF_GROUP * len(groups))
    with budget.limits() as limits:
        runs = run_together([group.asked for group in groups], limits)
    results: dict[str, list[tuple[int, CaseResult]]] = {test.path: [] for test in files.tests}
    for group, run in zip(groups, runs, strict=True):
        results[group.path].extend(group.results(run))
    for test in files.tests:
        for index, result in sorted(results[test.path], key=lambda item: item[0]):
            cases.append(result)
            if not result.passed:
                found.append(_failed(test, index, result))
    policies, problems = read_policies(files.objects(files.policies), kubernetes)
    if static:
        with budget.limits() as limits:
            run = run_policies(policies, (), Resources(kubernetes), limits=limits)
        found.extend((*problems, *static_findings(policies, run, kubernetes, told_unbound=False)))
    else:
        files.problems[:] = [item for item in files.problems if item.primary.span.path.endswith(ENDING)]
    found.extend(_uncovered(policies, cases))
    return PolicyTestResult(
        cases=tuple(cases),
        diagnostics=sorted_unique((*files.problems, *found)),
        policies=len(policies.policies),
        was_stopped=any(run.stopped for run in runs),
    )


@record
class _Group:
    """Cases of one file that need the same policies and parameters. `settled` are those that nobody has to be asked."""

    cases_of_file: _CasesOfFile
    policies: PolicySet
    resources: Resources
    requests: tuple[tuple[int, PolicyCase, AdmissionRequest], ...]
    settled: tuple[tuple[int, CaseResult], ...]

    @property
    def path(self) -> str:
        return self.cases_of_file.test.path

    @property
    def asked(self) -> tuple[PolicySet, tuple[AdmissionRequest, ...], Resources]:
        return self.policies, tuple(request for _, _, request in self.requests), self.resources

    def results(self, run: PolicyRun) -> Iterator[tuple[int, CaseResult]]:
        yield from self.settled
        for (index, case, _), evaluation in zip(self.requests, run.evaluations, strict=True):
            yield index, self.cases_of_file.judged(case, evaluation, self.policies, run)


class _CasesOfFile:
    """The cases of one file; those that need the same policies and parameters run together."""

    def __init__(self, files: TestFiles, test: TestFile, kubernetes: str) -> None:
        self.files = files
        self.test = test
        self.default = test.document.spec.kubernetes or kubernetes
        self.objects = files.objects(test.policies)
        self.places = StreamPlaces(test.path, test.document.file.text)

    def groups(self) -> Iterator[_Group]:
        groups: dict[tuple[str, str, str], list[tuple[int, PolicyCase]]] = {}
        for index, case in enumerate(self.test.document.spec.cases):
            key = case.kubernetes or self.default, case.policy, repr(case.params)
            groups.setdefault(key, []).append((index, case))
        for key, cases in groups.items():
            yield self._group(*key[:2], cases)

    def _group(self, kubernetes: str, name: str, cases: list[tuple[int, PolicyCase]]) -> _Group:
        minor = known_kubernetes(kubernetes)
        policies, _ = read_policies(self._with_params(cases[0][1]), minor)
        if name:
            policies = replace(policies, policies=tuple(item for item in policies.policies if item.name == name))
        problem = _unusable(policies, name)
        resources = Resources(minor, (item.body for item in policies.definitions))
        requests: list[tuple[int, PolicyCase, AdmissionRequest]] = []
        settled: list[tuple[int, CaseResult]] = []
        for index, case in cases:
            made = problem or self._request(case, resources)
            if isinstance(made, str):
                settled.append((index, self._result(case, policies, _NOT_EVALUATED, why=made)))
            else:
                requests.append((index, case, made))
        return _Group(
            cases_of_file=self,
            policies=policies,
            resources=resources,
            requests=tuple(requests),
            settled=tuple(settled),
        )

    def _with_params(self, case: PolicyCase) -> list[PlacedObject]:
        """The files' objects; a parameter of the case stands in the place of one with its kind and name."""
        own = [PlacedObject(dict(body), self.places) for body in case.params]
        names = {(item.kind, item.name) for item in own}
        return [*(item for item in self.objects if (item.kind, item.name) not in names), *own]

    def _request(self, case: PolicyCase, resources: Resources) -> AdmissionRequest | str:
        body = self._object(case)
        if isinstance(body, str):
            return body
        old = case.old_object or None
        operation = case.operation or ("CREATE" if old is None else "UPDATE" if body else "DELETE")
        if operation == "DELETE":
            body, old = None, old or body
        if not body and not old:
            return "the case has no object"
        return make_request(
            body or None,
            resources,
            old=old,
            operation=str(operation),
            namespaces=lambda _name: case.namespace_object or None,
            user=_user(case.user),
            subresource=case.subresource,
        )

    def _object(self, case: PolicyCase) -> Mapping[str, Any] | str | None:
        """The object, none, or what is wrong."""
        if case.object and case.object_file:
            return "the case has `object` and `objectFile`; keep one of the two"
        if not case.object_file:
            return case.object or None
        folder = self.test.path.rpartition("/")[0]
        path = f"{folder}/{case.object_file}" if folder else case.object_file
        text = self.files.tree.read_text(path)
        found = text if isinstance(text, Diagnostic) else placed_objects(path, text)
        if isinstance(found, Diagnostic):
            return f"`{shorten(case.object_file)}`: {found.message}"
        return (
            found[0].body if len(found) == 1 else f"`{shorten(case.object_file)}` holds {len(found)} objects, not one"
        )

    def judged(self, case: PolicyCase, evaluation: Evaluation, policies: PolicySet, run: PolicyRun) -> CaseResult:
        wanted = case.expect.verdict
        actual = _actual(evaluation, wanted)
        messages = [item.message for item in evaluation.results if item.verdict == actual]
        fits = not case.expect.message or any(case.expect.message in message for message in messages)
        why = ""
        if actual != wanted:
            said = f": {messages[0]}" if messages and messages[0] else ""
            why = f"expected {wanted}, got {_words(actual)}{said}"
            why += "; " + _why_not_met(evaluation) if not evaluation.results else ""
        elif not fits:
            why = f"the message is `{messages[0] if messages else ''}`, without `{case.expect.message}`"
        refused = [issue.message for issues in run.issues.values() for issue in issues]
        if refused and not why:
            why = f"the API server would refuse the policy: {refused[0]}"
        return self._result(case, policies, actual, why=why, messages=messages, evaluation=evaluation)

    def _result(
        self,
        case: PolicyCase,
        policies: PolicySet,
        actual: str,
        *,
        why: str = "",
        messages: Sequence[str] = (),
        evaluation: Evaluation | None = None,
    ) -> CaseResult:
        secrets = self.test.document.file.content.secrets.known
        met = dict.fromkeys(item.policy for item in evaluation.results) if evaluation is not None else {}
        return CaseResult(
            file=self.test.path,
            name=case.name,
            policy=case.policy or ", ".join(item.name for item in policies.policies),
            expected=case.expect.verdict.value,
            actual=actual,
            why=secrets.without(why),
            message=secrets.without(messages[0]) if messages else "",
            met=tuple(met),
        )


def _unusable(policies: PolicySet, name: str) -> str:
    """Why no case can run with these policies; empty: they can."""
    if policies.policies:
        return ""
    if name:
        return f"there is no sound policy `{name}` in these files; {did_you_mean(name, sorted(policies.names))}"
    return "there is no sound policy in these files"


def _actual(evaluation: Evaluation, wanted: Expected) -> str:
    """The verdict that is expected, where some validation gives it; else the gravest."""
    verdicts = [item.verdict for item in evaluation.results]
    order = [Verdict(wanted)] if wanted is not Expected.ALLOW else []
    for verdict in (*order, Verdict.DENY, Verdict.ERROR, Verdict.NOT_EVALUATED):
        if verdict in verdicts:
            return verdict.value
    return Verdict.ALLOW.value


def _user(case: CaseUser | None) -> User | None:
    return None if case is None else User(name=case.name, groups=case.groups, uid=case.uid, extra=case.extra)


def _words(actual: str) -> str:
    return "not evaluated" if actual == _NOT_EVALUATED else actual


def _why_not_met(evaluation: Evaluation) -> str:
    reasons = dict.fromkeys(item.why for item in evaluation.not_matched)
    return "no policy applies to this request" + (f" ({', '.join(reasons)})" if reasons else "")


def _failed(test: TestFile, index: int, result: CaseResult) -> Diagnostic:
    why = cut_inside(" ".join(result.why.split()), _LONGEST)
    message = f"case `{shorten(result.name)}`: {why}"
    place = test.document.file.locate(f"/spec/cases/{index}/expect")
    return diagnose(codes.FAILED_POLICY_TEST, message, place, subject=result.policy)


def _uncovered(policies: PolicySet, cases: Sequence[CaseResult]) -> Iterator[Diagnostic]:
    """Policies without a case that passes them, or without one that they refuse."""
    for policy in policies.policies:
        if not policy.validations:
            continue
        mine = [item for item in cases if item.passed and policy.name in item.met]
        lacking = [word for word, verdict in (("passes", "allow"), ("is denied", "deny")) if not _has(mine, verdict)]
        if lacking:
            message = f"ValidatingAdmissionPolicy/{shorten(policy.name)}: no case {' and none '.join(lacking)}"
            yield diagnose(codes.UNTESTED_POLICY, message, policy.placed.locate(), subject=shorten(policy.name))


def _has(cases: Sequence[CaseResult], verdict: str) -> bool:
    return any(item.expected == verdict for item in cases)
