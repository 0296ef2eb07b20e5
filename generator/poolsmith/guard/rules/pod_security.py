"""Pods and workloads against the Pod Security Standards: anyone's manifests, and what profiles produce."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, UsageError, diagnose
from poolsmith.core.diagnostics.codes.privilege import POD_SECURITY
from poolsmith.core.diagnostics.message_text import did_you_mean, shorten
from poolsmith.core.diagnostics.outcome import Skipped
from poolsmith.core.facts.versions import line_of
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import WORKLOAD_KINDS, mapping, pod_template_of, pod_template_pointer, word
from poolsmith.guard.rules.schema.schema_rules import MOST_PER_FILE, MOST_PER_OBJECT, Places, patch_files, unfold
from poolsmith.kubernetes.pod_security.engine import PodSecurityViolation, judge_pod
from poolsmith.kubernetes.pod_security.standard import LATEST, NEWEST, Level, minor_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.guard.ledger.ledger_view import PrivilegeView
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree

_ENFORCE = "pod-security.kubernetes.io/enforce"
_ENFORCE_VERSION = "pod-security.kubernetes.io/enforce-version"
_FEW = 3
_OF_KUBERNETES = "kube-system"
"""Kubernetes makes it without labels, and components of the cluster itself run there: where an API server has a level
for namespaces without labels, this one is exempt from it.
Source: Kubernetes, "Apply Pod Security Standards at the Cluster Level"; Rancher, "Sample PodSecurityConfiguration"."""


@record(kw_only=False)
class PodSecurityStandard:
    """A level at a version (latest, or a minor of Kubernetes such as 1.34)."""

    level: Level
    version: str = LATEST

    def __str__(self) -> str:
        return f"{self.level} {LATEST if self.version == LATEST else f'1.{minor_of(self.version)}'}"


@record(kw_only=False)
class PodSecurityResult:
    """`judged` counts pods and templates of pods; `skipped` says what of them was not, and why."""

    diagnostics: tuple[Diagnostic, ...] = ()
    judged: int = 0
    skipped: tuple[Skipped, ...] = ()

    @property
    def not_evaluated(self) -> int:
        return len(self.skipped)


@record(frozen=False, kw_only=False)
class _Account:
    diagnostics: list[Diagnostic] = field(default_factory=list)
    judged: int = 0
    skipped: Counter[tuple[str, str]] = field(default_factory=Counter)
    reported: Counter[str] = field(default_factory=Counter)

    def skip(self, what: str, reason: str) -> None:
        self.skipped[what, reason] += 1

    def result(self) -> PodSecurityResult:
        skipped = (
            Skipped(f"Pod Security of {what}" + (f" ({count} objects)" if count > 1 else ""), reason)
            for (what, reason), count in sorted(self.skipped.items())
        )
        return PodSecurityResult(tuple(self.diagnostics), self.judged, tuple(skipped))


def parse_pod_security(text: str) -> PodSecurityStandard:
    """What `--pod-security LEVEL[:VERSION]` means. Raises UsageError."""
    level, colon, version = text.partition(":")
    levels = [str(item) for item in Level]
    if level not in levels:
        raise UsageError(f"`{shorten(level)}` is no level of the Pod Security Standards; {did_you_mean(level, levels)}")
    if not colon:
        return PodSecurityStandard(Level(level))
    try:
        minor_of(version)
    except ValueError:
        raise UsageError(
            f"`{shorten(version)}` is no version of the Pod Security Standards: write 1.0 to 1.{NEWEST}, or {LATEST}"
        ) from None
    return PodSecurityStandard(Level(level), version)


def judge_pod_security(tree: CheckedTree, level: str, version: str = LATEST) -> PodSecurityResult:
    """Each pod and each template of a workload in anyone's manifests, lists unfolded; each finding at its field.

    Raises ValueError for a level or a version that can't be (`parse_pod_security` tells better).
    """
    standard = PodSecurityStandard(Level(level), version)
    account, places, patches = _Account(), Places(), patch_files(tree)
    for document in tree.objects:
        for base, body in _objects(document.data):
            pointer = pod_template_pointer(body)
            if pointer is None:
                if _has_pod_template(body):
                    account.skip(
                        f"kind {shorten(word(body.get('kind')))}", "how it makes pods of its template is not known"
                    )
                continue
            name = _name(body)
            template = pod_template_of(body) or {}
            if document.path in patches:
                account.skip("patches", "they are parts of objects: check the output of `kustomize build`")
            elif template.get("spec") is None:
                account.skip(name, "it has no pod spec")
            else:
                account.judged += 1
                violations = judge_pod(template.get("metadata"), template["spec"], standard.level, standard.version)
                _report(account, standard, document, places, (name, base + pointer), violations)
    return account.result()


def judge_predicted_pod_security(prediction: Prediction, view: PrivilegeView) -> PodSecurityResult:
    """Each workload that a cluster's profiles produce, by the level that its namespace enforces.

    The versions are those that the namespaces name, else the cluster's. Findings stand at the line of a profile that
    brings the workload about. A workload of a namespace whose level nobody knows is counted, not judged.
    """
    account = _Account()
    enforced = enforced_standards(prediction.plan, prediction.installation.objects)
    for item in prediction.installation.made:
        template = pod_template_of(item.body)
        if template is None:
            continue
        namespace = word(mapping(item.body.get("metadata")).get("namespace"))
        standard = enforced.get(namespace)
        if standard is None:
            account.skip(f"workloads in namespace {namespace or 'default'}", "the level of the namespace is not known")
            continue
        account.judged += 1
        found = judge_pod(template.get("metadata"), template.get("spec"), standard.level, standard.version)
        if not found:
            continue
        line = view.line_of(item.key, prediction.origins.of_workload(item.key))
        for told in _by_check(found):
            account.diagnostics.append(
                diagnose(
                    POD_SECURITY,
                    f"{item.workload} breaks {standard}, which namespace {namespace} enforces: {told}",
                    view.locate(line),
                    help=f"let namespace `{namespace}` enforce a level that allows it",
                    subject=view.cluster,
                )
            )
    return account.result()


def _by_check(violations: tuple[PodSecurityViolation, ...]) -> Iterator[str]:
    """What each check found, in one sentence."""
    details: dict[tuple[str, str], list[str]] = {}
    for found in violations:
        details.setdefault((found.check, found.reason), []).append(found.detail)
    for (check, reason), told in details.items():
        rest = len(told) - _FEW
        yield f"{reason}: {'; '.join(told[:_FEW])}" + (f"; and {rest} more" if rest > 0 else "") + f" ({check})"


def enforced_standards(plan: ClusterPlan, objects: tuple[Mapping[str, Any], ...]) -> dict[str, PodSecurityStandard]:
    """What namespaces enforce, by their names: those of the plan, of pinned sources, and those among the objects."""
    own = _readable(line_of(plan.cluster.spec.kubernetes.version), LATEST)
    found: dict[str, PodSecurityStandard] = {}
    for body in objects:
        if body.get("kind") == "Namespace":
            metadata = mapping(body.get("metadata"))
            labels = mapping(metadata.get("labels"))
            level, pinned = word(labels.get(_ENFORCE)), word(labels.get(_ENFORCE_VERSION))
            if level in tuple(Level):
                version = own if pinned == LATEST else _readable(pinned, own)
                found[word(metadata.get("name"))] = PodSecurityStandard(Level(level), version)
    found.setdefault(_OF_KUBERNETES, PodSecurityStandard(Level.PRIVILEGED, own))
    levels = [(unit.namespace, unit.source.level) for unit in plan.units if unit.source is not None]
    levels += [(namespace.name, namespace.level) for namespace in plan.namespaces]
    found.update((name, PodSecurityStandard(Level(level), own)) for name, level in levels)
    return found


def _readable(version: str, otherwise: str) -> str:
    """What nobody can read counts as latest in the API server, which is the cluster's own version."""
    try:
        minor_of(version)
    except ValueError:
        return otherwise
    return version


def _objects(data: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects that a document stands for, each with its pointer; lists of any kind are unfolded."""
    kind = word(data.get("kind"))
    of_kind = kind.removesuffix("List")
    if kind != of_kind and of_kind in WORKLOAD_KINDS and isinstance(data.get("items"), list):
        for index, item in enumerate(data["items"]):
            yield f"/items/{index}", {**mapping(item), "kind": of_kind}
        return
    for base, body in unfold(data):
        if base:
            yield from ((base + below, inner) for below, inner in _objects(body))
        else:
            yield base, body


def _has_pod_template(body: Mapping[str, Any]) -> bool:
    """Whether another kind of object looks like a workload: a Rollout, a service of Knative."""
    spec = mapping(mapping(mapping(body.get("spec")).get("template")).get("spec"))
    return isinstance(spec.get("containers"), list)


def _report(
    account: _Account,
    standard: PodSecurityStandard,
    document: CheckedDocument,
    places: Places,
    where: tuple[str, str],
    violations: tuple[PodSecurityViolation, ...],
) -> None:
    name, base = where
    limit = max(0, min(MOST_PER_OBJECT, MOST_PER_FILE - account.reported[document.path]))
    for found in violations[:limit]:
        account.reported[document.path] += 1
        account.diagnostics.append(
            diagnose(
                POD_SECURITY,
                f"{name} breaks {standard}: {found.message} ({found.check})",
                places.of(document).locate(document.index, base + found.pointer),
                help=found.help,
                subject=name,
            )
        )
    if (rest := len(violations) - limit) > 0:
        message = f"{name} breaks {standard}: {rest} more fields are not allowed"
        location = places.of(document).locate(document.index, base)
        account.diagnostics.append(diagnose(POD_SECURITY, message, location, subject=name))


def _name(body: Mapping[str, Any]) -> str:
    """Kind/name, as CheckedDocument says it."""
    metadata = mapping(body.get("metadata"))
    name = word(metadata.get("name")) or word(metadata.get("generateName"))
    return f"{body['kind']}/{name}" if name else str(body["kind"])
