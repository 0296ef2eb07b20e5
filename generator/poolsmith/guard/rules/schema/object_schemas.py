"""Objects against the schemas of the versions in question, and what the report says about it.

The validator and its packs are imported when the first tree is judged.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, UsageError
from poolsmith.core.diagnostics.codes.schema import KIND_NOT_SERVED
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.outcome import Outcome, Skipped
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.gpu.catalog.schema_versions import operator_releases, schema_versions
from poolsmith.guard.rules.schema.schema_rules import judge_objects, unfold
from poolsmith.kubernetes.repository.manifest_files import CheckedTree
from poolsmith.kubernetes.schema.schemas import kubernetes_minors, newest_kubernetes, schemas_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.fleet.profiles.cluster import Cluster
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.guard.rules.schema.schema_rules import SchemaVerdict

_OF_OPERATOR = ("nvidia.com", "resource.nvidia.com")
_NUMBERS = pattern(r"\d+")
_MINOR = pattern(r"v?(1\.\d{1,3})(\.\d{1,3})?")


@record(kw_only=False)
class Against:
    """The versions that objects are judged against; None: the newest Kubernetes, no operator release."""

    kubernetes: str | None = None
    operator: str | None = None
    coco: str | None = None


@record
class SchemaResult:
    """What the schemas said of one tree. `half`: path and index of documents that are meant as objects."""

    diagnostics: tuple[Diagnostic, ...] = ()
    validated: int = 0
    skipped: tuple[tuple[str, str, int], ...] = ()
    not_evaluated: int = 0
    kubernetes: str = ""
    operator: str | None = None
    verdicts: tuple[SchemaVerdict, ...] = ()
    half: frozenset[tuple[str, int]] = frozenset()


def judge_schemas(tree: CheckedTree, against: Against, *, keep_verdicts: bool = False) -> SchemaResult:
    kubernetes = against.kubernetes or newest_kubernetes()
    versions = schema_versions(kubernetes=kubernetes, operator=against.operator, coco=against.coco)
    judged = judge_objects(tree, schemas_for(versions), keep_verdicts=keep_verdicts)
    diagnostics = list(judged.diagnostics)
    if against.operator is None:
        diagnostics += _wrong_in_all_releases(tree, against, kubernetes)
    return SchemaResult(
        diagnostics=tuple(diagnostics),
        validated=judged.validated,
        skipped=tuple((what, reason, count) for (what, reason), count in sorted(judged.skipped.items())),
        not_evaluated=judged.not_evaluated,
        kubernetes=kubernetes,
        operator=against.operator,
        verdicts=tuple(judged.verdicts),
        half=frozenset(judged.half),
    )


def _wrong_in_all_releases(tree: CheckedTree, against: Against, kubernetes: str) -> Iterator[Diagnostic]:
    """What no release takes of the operator's resources, where nobody says which release it is: in the words of the
    newest where they differ."""
    own = tuple(item for item in tree.objects if any(_is_of_operator(body) for _, body in unfold(item.data)))
    if not own:
        return
    found: list[dict[tuple[str, str], Diagnostic]] = []
    for release in operator_releases():
        versions = schema_versions(kubernetes=kubernetes, operator=release, coco=against.coco)
        judged = judge_objects(CheckedTree(own, tree.paths), schemas_for(versions))
        if any(item.code == KIND_NOT_SERVED.code for item in judged.diagnostics):
            continue  # the kind came later
        found.append({(str(item.primary.span), item.primary.pointer): item for item in judged.diagnostics})
    first, *others = found or [{}]
    for place in first:
        if all(place in other for other in others):
            told = [one[place] for one in found]
            alike = [item for item in told if item.code == told[-1].code]
            yield min(alike, key=lambda item: len(item.message))  # who asks for the least


def _is_of_operator(body: dict[str, Any]) -> bool:
    return str(body.get("apiVersion")).partition("/")[0] in _OF_OPERATOR


def of_version(against: Against, version: str | None) -> Against:
    """With the release that a chart's version means, where it has schemas."""
    tag = f"v{version.removeprefix('v')}" if version else None
    return replace(against, operator=tag) if tag in operator_releases() else against


def against_cluster(cluster: Cluster, catalog: Catalog) -> Against:
    """What a cluster's profile says."""
    stack = cluster.spec.stack
    return Against(
        kubernetes=minor_of(cluster.spec.kubernetes.version),
        operator=stack.release if stack.by_operator else None,
        coco=catalog.sandboxes.coco_operator["release"],
    )


def against_flags(kubernetes: str | None, release: str | None) -> Against:
    """What flags say. Raises UsageError for versions that no pack has."""
    minor = None if kubernetes is None else minor_of(kubernetes)
    if minor is not None and minor not in kubernetes_minors():
        known = kubernetes_minors()
        raise UsageError(f"there are schemas of Kubernetes {known[0]} to {known[-1]}, and none of {kubernetes}")
    if release is not None and release not in operator_releases():
        raise UsageError(f"`{release}` is no gpu-operator release with schemas; known: {listed(operator_releases())}")
    return Against(minor, release)


def minor_of(version: str) -> str:
    match = _MINOR.fullmatch(version)
    return match[1] if match else version


def with_schema_results(outcome: Outcome, results: Iterable[SchemaResult], *, as_details: bool = False) -> Outcome:
    """The counts, and the versions that stand behind them: a detail where the user chose them. Diagnostics are the
    caller's."""
    held = list(results)
    versions = _versions(held)
    skipped: Counter[tuple[str, str]] = Counter()
    for result in held:
        for what, reason, count in result.skipped:
            skipped[what, reason] += count
    return replace(
        outcome,
        checked={**outcome.checked, "validated objects": sum(result.validated for result in held)},
        skipped=(
            *outcome.skipped,
            *(Skipped(f"{count} x {what}", reason) for (what, reason), count in sorted(skipped.items())),
        ),
        not_evaluated=outcome.not_evaluated + sum(result.not_evaluated for result in held),
        facts=outcome.facts if as_details else (*outcome.facts, *versions),
        details=(*outcome.details, *versions) if as_details else outcome.details,
    )


def _versions(results: list[SchemaResult]) -> list[str]:
    used = [result for result in results if result.validated]
    if not used:
        return []
    minors = sorted({result.kubernetes for result in used}, key=_numbers)
    releases = sorted({result.operator for result in used if result.operator}, key=_numbers)
    operator = f"gpu-operator {', '.join(releases)}" if releases else "no gpu-operator release"
    return [f"objects were validated with the schemas of Kubernetes {', '.join(minors)} and {operator}"]


def _numbers(version: str) -> list[int]:
    return [int(part) for part in _NUMBERS.findall(version)]
