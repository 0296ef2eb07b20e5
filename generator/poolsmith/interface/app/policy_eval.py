"""Use case: anyone's policies on anyone's objects, each as one request to the API server."""

from __future__ import annotations

import os
from dataclasses import field, replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, Severity, UsageError, diagnose, sorted_unique
from poolsmith.core.diagnostics.codes.schema import SCHEMA_VIOLATION
from poolsmith.core.diagnostics.codes.shape import MISSING_FIELD
from poolsmith.core.diagnostics.masking import KnownSecrets
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.facts.versions import minor_key
from poolsmith.core.record import record
from poolsmith.core.sources.input_tree import leads_out, read_text_file
from poolsmith.guard.policies.policy_files import TEST_ENDING, is_served
from poolsmith.kubernetes.admission.matching import unused_params
from poolsmith.kubernetes.admission.policy_expressions import absent_defaults
from poolsmith.kubernetes.admission.policy_reading import read_policies
from poolsmith.kubernetes.admission.request import (
    DEFAULT_NAMESPACE,
    EPHEMERAL,
    OPERATIONS,
    User,
    ephemeral_answers,
    ephemeral_requests,
    make_request,
)
from poolsmith.kubernetes.admission.resources import Resources
from poolsmith.kubernetes.admission.verdict import Decision, Evaluation, PolicyEvalResult, ValidationResult, Verdict
from poolsmith.kubernetes.admission_run.run import run_policies
from poolsmith.kubernetes.admission_run.static import static_findings
from poolsmith.kubernetes.cel import CelEnvironment, UnknownKubernetes
from poolsmith.kubernetes.objects_file import MAX_OBJECTS_BYTES, PlacedObject, nothing_in, placed_objects
from poolsmith.kubernetes.server.normalise import normalised

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from poolsmith.kubernetes.admission.policy import PolicySet
    from poolsmith.kubernetes.admission.request import AdmissionRequest
    from poolsmith.kubernetes.admission_run.run import PolicyRun

_FEW = 3
_YAML = (".yaml", ".yml")
DEFAULT_KUBERNETES = "1.34"
"""The version that evaluation was compared with."""


@record
class EvalFlags:
    """Files and flags. Without `operation` it follows from the objects: both is UPDATE, an old one alone is DELETE."""

    policies: Sequence[Path]
    objects: Sequence[Path] = ()
    old: Sequence[Path] = ()
    params: Sequence[Path] = ()
    namespaces: Sequence[Path] = ()
    operation: str | None = None
    kubernetes: str = DEFAULT_KUBERNETES
    user: str | None = None
    groups: Sequence[str] = ()
    uid: str = ""
    extra: Sequence[str] = ()
    """KEY=VALUE; a key may stand there several times."""
    subresource: str = ""
    plural: str = ""


def policy_eval(flags: EvalFlags) -> PolicyEvalResult:
    """Raises UsageError for flags that do not go together, or a Kubernetes version that is not known."""
    kubernetes = known_kubernetes(flags.kubernetes)
    _refuse_contradictions(flags)
    reading = _Files()
    written = reading.objects(flags.policies)
    params = reading.objects(flags.params)
    policies, problems = read_policies((*written, *params), kubernetes)
    reading.problems.extend(problems)
    if not policies.policies and not policies.broken and not reading.problems:
        raise UsageError("there is no ValidatingAdmissionPolicy in " + ", ".join(map(str, flags.policies)))
    resources = Resources(kubernetes, (item.body for item in policies.definitions))
    pairs = reading.pairs(flags)
    namespaces = {item.name: item.body for item in reading.objects(flags.namespaces)}
    requests = [_request(body, old, flags, resources, namespaces, reading.notes) for body, old in pairs]
    asked = len(requests)
    requests.extend(ephemeral_requests(requests))
    run = run_policies(policies, requests, resources)
    reading.problems.extend(_unreadable(pairs, kubernetes))
    reading.notes.extend(_defaulted(requests, run))
    found = static_findings(policies, run, kubernetes, told_unbound=False, stored=True)
    _note_implied(policies, reading.notes)
    reading.notes.extend(unused_params(params, policies, requests, resources))
    reading.notes.extend(_not_served(policies, kubernetes))
    decisions = [
        Decision(_shown(request), request.operation, _with_broken(evaluation, policies))
        for request, evaluation in zip(requests[:asked], run.evaluations, strict=False)
    ]
    for request, evaluation in ephemeral_answers(requests, asked, run.evaluations):
        reading.notes.append(
            f"{_shown(request)}: some policies are for pods/{EPHEMERAL} only, and were asked about that"
        )
        decisions.append(Decision(_shown(request), request.operation, evaluation))
    secrets = reading.secrets()
    return PolicyEvalResult(
        kubernetes=kubernetes,
        decisions=tuple(replace(item, evaluation=item.evaluation.without(secrets)) for item in decisions),
        diagnostics=sorted_unique((*reading.problems, *found)),
        notes=tuple(dict.fromkeys(reading.notes)),
        policies=len(policies.policies),
    )


def known_kubernetes(version: str) -> str:
    """The minor of a version. Raises UsageError."""
    try:
        return CelEnvironment.of(version).kubernetes
    except UnknownKubernetes as error:
        raise UsageError(str(error)) from None


def _refuse_contradictions(flags: EvalFlags) -> None:
    if not flags.objects and not flags.old:
        raise UsageError("name an object with --object, or what is deleted with --old")
    if flags.operation is not None and flags.operation not in OPERATIONS:
        raise UsageError(f"`{shorten(flags.operation)}` is no operation; there are {', '.join(OPERATIONS)}")
    for flag, given in (("--group", flags.groups), ("--uid", flags.uid), ("--extra", flags.extra)):
        if given and flags.user is None:
            raise UsageError(f"{flag} needs --user")


def _files_in(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    try:
        entries = sorted(path.iterdir())
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror or error}") from None
    for item in entries:
        if leads_out(item, (os.path.realpath(path),)):
            continue
        if item.suffix in _YAML and not item.name.startswith(".") and not item.name.endswith(TEST_ENDING):
            yield item


@record(frozen=False, kw_only=False)
class _Files:
    """Reads files once each, and keeps what is wrong with them."""

    problems: list[Diagnostic] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _known: dict[str, tuple[PlacedObject, ...]] = field(default_factory=dict)

    def objects(self, files: Iterable[Path]) -> list[PlacedObject]:
        """Of files, and of the YAML files in folders, tests left out."""
        return [item for file in files for path in _files_in(file) for item in self._of(path)]

    def secrets(self) -> KnownSecrets:
        """Those of all files."""
        places = {id(item.places): item.places for found in self._known.values() for item in found}
        return KnownSecrets(text for item in places.values() for text in item.secrets.texts)

    def _of(self, file: Path) -> tuple[PlacedObject, ...]:
        shown = file.as_posix()
        if shown not in self._known:
            text = read_text_file(file, shown, MAX_OBJECTS_BYTES)
            found = text if isinstance(text, Diagnostic) else placed_objects(shown, text)
            if isinstance(found, Diagnostic):
                self.problems.append(found)
                found = ()
            self._known[shown] = found
        return self._known[shown]

    def _sound(self, files: Iterable[Path]) -> list[PlacedObject]:
        """The objects of files that hold nothing else."""
        found = []
        for file in files:
            items = self._of(file)
            if not items and all(problem.primary.span.path != file.as_posix() for problem in self.problems):
                self.problems.append(nothing_in(file.as_posix(), ""))
            for item in items:
                lacking = [key for key, value in (("apiVersion", item.api_version), ("kind", item.kind)) if not value]
                for key in lacking:
                    message = f"the object lacks `{key}`"
                    self.problems.append(diagnose(MISSING_FIELD, message, item.locate(), help=f"add `{key}`"))
                found.extend([] if lacking else [item])
        return found

    def pairs(self, flags: EvalFlags) -> list[tuple[PlacedObject | None, PlacedObject | None]]:
        """Each object with its old one: the only one, or the one of the same kind, namespace and name."""
        objects, old = self._sound(flags.objects), self._sound(flags.old)
        if flags.operation == "DELETE":
            if objects and not old:
                self.notes.append("a DELETE has no new object: --object is taken for the one that is deleted")
                old = objects
            return [(None, item) for item in old]
        if not objects:
            return [(None, item) for item in old]
        if flags.operation == "CREATE" and old:
            self.notes.append("a CREATE has no old object: --old is not used")
            old = []
        if len(objects) == len(old) == 1:
            return [(objects[0], old[0])]
        by_identity = {_identity(item): item for item in old}
        return [(item, by_identity.get(_identity(item))) for item in objects]


def _identity(item: PlacedObject) -> tuple[str, str, str, str]:
    return item.group, item.kind, item.namespace, item.name


def _request(
    body: PlacedObject | None,
    old: PlacedObject | None,
    flags: EvalFlags,
    resources: Resources,
    namespaces: Mapping[str, Mapping[str, Any]],
    notes: list[str],
) -> AdmissionRequest:
    operation = flags.operation or _operation(body, old, resources)

    def namespace_of(name: str) -> Mapping[str, Any] | None:
        if name in namespaces or len(namespaces) != 1:
            return namespaces.get(name)
        other = next(iter(namespaces))
        notes.append(
            f"the object's namespace is `{shorten(name)}`; --namespace-object `{shorten(other)}` is taken for it"
        )
        return namespaces[other]

    request = make_request(
        None if body is None else body.body,
        resources,
        old=None if old is None else old.body,
        operation=operation,
        namespaces=namespace_of,
        user=_user(flags),
        subresource=flags.subresource,
        plural=flags.plural,
        default_namespace=next(iter(namespaces)) if len(namespaces) == 1 else DEFAULT_NAMESPACE,
    )
    resource = request.resource
    if resource.guessed:
        notes.append(
            f"{shorten(resource.kind)} of {shorten(resource.group)} is not known: its resource is taken to be "
            f"`{shorten(resource.plural)}`; its CustomResourceDefinition beside the policies would say"
        )
    return request


def _user(flags: EvalFlags) -> User | None:
    """Who sends the request; None where nobody is named. Raises UsageError for an `extra` without a key."""
    if flags.user is None:
        return None
    extra: dict[str, tuple[str, ...]] = {}
    for text in flags.extra:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise UsageError(f"--extra takes KEY=VALUE, not `{shorten(text)}`")
        extra[key] = (*extra.get(key, ()), value)
    return User(name=flags.user, groups=tuple(flags.groups), uid=flags.uid, extra=extra)


def _operation(body: PlacedObject | None, old: PlacedObject | None, resources: Resources) -> str:
    """What the objects say of themselves."""
    if body is None:
        return "DELETE"
    if old is not None:
        return "UPDATE"
    return "CONNECT" if resources.of(body.api_version, body.kind).is_connection else "CREATE"


def _unreadable(pairs: list[tuple[PlacedObject | None, PlacedObject | None]], kubernetes: str) -> Iterator[Diagnostic]:
    for item in (one for pair in pairs for one in pair if one is not None):
        why = normalised(item.body, kubernetes).reason
        if why is not None:
            message = f"{shorten(item.shown)}: the API server could not read this object: {why}"
            yield diagnose(
                SCHEMA_VIOLATION, message, item.locate(), subject=shorten(item.shown), severity=Severity.WARNING
            )


def _defaulted(requests: Sequence[AdmissionRequest], run: PolicyRun) -> Iterator[str]:
    """What the API server would fill in, and a policy reads."""
    for request, evaluation in zip(requests, run.evaluations, strict=True):
        for name in dict.fromkeys(item.policy for item in evaluation.results):
            fields = absent_defaults(run.reads.get(name, ()), request.object or {})
            if fields:
                shown = ", ".join(f"`{shorten(field)}`" for field in fields[:_FEW])
                yield (
                    f"`{shorten(name)}` depends on defaulting: it reads {shown}, which the API server fills in where "
                    f"an object leaves it out, as {_shown(request)} does"
                )


def _note_implied(policies: PolicySet, notes: list[str]) -> None:
    bound = {binding.policy for binding in policies.bindings}
    unbound = [policy.name for policy in policies.policies if policy.name not in bound]
    if unbound:
        names = ", ".join(f"`{shorten(name)}`" for name in unbound[:_FEW]) + (
            " and others" if len(unbound) > _FEW else ""
        )
        notes.append(f"{names}: no binding is given; evaluated as if bound with validationActions [Deny]")


def _not_served(policies: PolicySet, kubernetes: str) -> Iterator[str]:
    """Policies are evaluated by any version's rules; that the version does not have their kind is said."""
    versions = dict.fromkeys(policy.placed.api_version for policy in policies.policies)
    for version in versions:
        if not is_served(version, minor_key(kubernetes)):
            yield f"Kubernetes {kubernetes} does not serve policies of {shorten(version)} by default"


def _with_broken(evaluation: Evaluation, policies: PolicySet) -> Evaluation:
    """What can't be read as a policy is not evaluated on any request."""
    broken = tuple(
        ValidationResult(policy=item.name, binding=None, verdict=Verdict.NOT_EVALUATED, message=item.why)
        for item in policies.broken
    )
    return Evaluation(
        results=(*evaluation.results, *broken),
        not_matched=evaluation.not_matched,
        audit_annotations=evaluation.audit_annotations,
    )


def _shown(request: AdmissionRequest) -> str:
    """Kind/namespace/name."""
    parts = (request.resource.kind, request.namespace if not request.is_namespace else "", request.name)
    return "/".join(part for part in parts if part)
