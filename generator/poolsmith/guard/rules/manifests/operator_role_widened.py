"""The operator's own roles hold what its chart gives them, and nothing else binds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.chart_workloads import Right, chart_versions, operator_rights
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART, OPERATOR_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree

RULE = RuleInfo.of("PSM425")
_LABELS = ("app.kubernetes.io/version", "helm.sh/chart")
_GROUP = "rbac.authorization.k8s.io/"
_SHOWN = 4
_MOST = 200


def check(tree: CheckedTree) -> Iterator[Finding[Location]]:
    for document in tree.objects:
        if not document.api_version.startswith(_GROUP):
            continue
        if document.kind in ("ClusterRole", "Role") and document.metadata.get("name") == OPERATOR_NAME:
            yield from _role(document)
        elif document.kind == "ClusterRoleBinding":
            yield from _binding(document)


def _role(document: CheckedDocument) -> Iterator[Finding[Location]]:
    release = _release(document.metadata)
    baseline = operator_rights(document.kind, release)
    rules = document.data.get("rules")
    of = f"the chart of {release}" if release else "the chart of any recorded release"
    for index, rule in enumerate(rules[:_MOST] if isinstance(rules, list) else ()):
        wider = [right for right in _rights(rule) if right not in baseline]
        if wider:
            shown = listed([shorten(_told(right)) for right in wider], _SHOWN)
            yield Finding(
                message=f"{document.name} has rights that {of} does not give: {shown}",
                place=document.source.locate(f"/rules/{index}"),
                help="take them out, or give them to the workload that needs them",
                subject=document.name,
            )


def _binding(document: CheckedDocument) -> Iterator[Finding[Location]]:
    reference, subjects = document.data.get("roleRef"), document.data.get("subjects")
    name = reference.get("name") if isinstance(reference, dict) else None
    if name == OPERATOR_NAME or not isinstance(name, str) or not isinstance(subjects, list):
        return
    for index, subject in enumerate(subjects[:_MOST]):
        if (
            isinstance(subject, dict)
            and subject.get("kind") == "ServiceAccount"
            and subject.get("name") == OPERATOR_NAME
        ):
            yield Finding(
                message=f"{document.name} gives the operator's service account the ClusterRole `{shorten(name)}`",
                place=document.source.locate(f"/subjects/{index}"),
                help="take the subject out: the chart binds what the operator needs",
                subject=document.name,
            )


def _release(metadata: dict[str, Any]) -> str | None:
    """The recorded release that the chart's labels tell."""
    labels = metadata.get("labels")
    words = [labels.get(key) for key in _LABELS] if isinstance(labels, dict) else []
    known = chart_versions(OPERATOR_CHART)
    return next(
        (tag for word in words if isinstance(word, str) and (tag := word.removeprefix(f"{OPERATOR_CHART}-")) in known),
        None,
    )


def _told(right: Right) -> str:
    """As kubectl names resources: `get deployments.apps`."""
    group, resource, verb = right
    return f"{verb} {resource}.{group}" if group else f"{verb} {resource}"


def _rights(rule: Any) -> Iterator[Right]:
    if not isinstance(rule, dict):
        return
    groups, resources, verbs = (_texts(rule.get(key)) for key in ("apiGroups", "resources", "verbs"))
    for group in groups:
        for resource in resources:
            yield from ((group, resource, verb) for verb in verbs)


def _texts(node: Any) -> list[str]:
    return [item for item in node[:_MOST] if isinstance(item, str)] if isinstance(node, list) else []
