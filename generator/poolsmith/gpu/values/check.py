"""Helm values of the gpu-operator chart, wherever they stand: in profiles, releases, Applications, files.

The rules and their table are imported when the first values are judged.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, Severity, UsageError, diagnose
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.diagnostics.codes.schema import REFUSED_BY_DEFINITION, VALUES_DO_NOT_RENDER
from poolsmith.core.diagnostics.finding import Finding
from poolsmith.core.diagnostics.outcome import Outcome, Skipped
from poolsmith.core.diagnostics.rule_engine import Found
from poolsmith.core.diagnostics.span import Span
from poolsmith.core.diagnostics.suggest import did_you_mean
from poolsmith.core.record import record
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.nested import overlap
from poolsmith.core.sources.pointer import join
from poolsmith.gpu.values.places import CHART, place_in
from poolsmith.gpu.values.values_file import not_a_mapping
from poolsmith.kubernetes.repository.declared_charts import declared_charts
from poolsmith.kubernetes.schema.schemas import operator_releases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from poolsmith.gpu.catalog.value_paths import ReleaseValues
    from poolsmith.gpu.values.document import ValuePlace
    from poolsmith.gpu.values.places import FoundValues
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree

    Render = Callable[[str, dict[str, Any]], Iterable[tuple[str, str]]]
    Apply = Callable[[str, dict[str, Any]], Iterable[Finding[ValuePlace]]]

_SECOND = 2
UNKNOWN_RELEASE = "values: release unknown"


def known_release(release: str | None) -> str | None:
    """The tag that `--release` means. Raises UsageError for one that the table does not have."""
    if release is None:
        return None
    from poolsmith.gpu.catalog.value_paths import value_paths  # on demand

    found = value_paths().release(release)
    if found is None:
        tags = tuple(reversed(value_paths().tags))
        raise UsageError(f"`{release}` is no gpu-operator release; {did_you_mean(release, tags)}")
    return found.tag


def release_with_schemas(release: str | None) -> str | None:
    """Schemas are known of fewer releases than values are."""
    if release is None:
        return None
    return release if release in operator_releases() else None


@record(frozen=False, kw_only=False)
class ValuesResult:
    """What the values rules said of a tree."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    documents: int = 0
    releases: set[str] = field(default_factory=set)
    not_evaluated: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    paths: set[tuple[str, int]] = field(default_factory=set)

    def added_to(self, outcome: Outcome) -> Outcome:
        """The counts; diagnostics are the caller's."""
        if not self.documents and not self.skipped:
            return outcome
        facts = (f"Helm values were checked against {', '.join(sorted(self.releases))}",) if self.documents else ()
        return replace(
            outcome,
            checked={**outcome.checked, "values documents": self.documents},
            skipped=(*outcome.skipped, *self.skipped),
            not_evaluated=outcome.not_evaluated + self.not_evaluated,
            facts=(*outcome.facts, *facts),
        )


def judge_values_of(
    found: Iterable[FoundValues],
    render: Render | None = None,
    apply: Apply | None = None,
) -> ValuesResult:
    """All values of the chart in a repository.

    `render` tells what a release's chart does not render: value paths with dots, and why. `apply` tells which of the
    values the API server would refuse in what is rendered.
    """
    result = ValuesResult()
    shown: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    files: Counter[str] = Counter()
    for item in found:
        if not item.has_values:
            continue
        known = item.known()
        document = item.document
        if known is None:
            reason = f"`{item.release[:40]}` is no recorded one" if item.release else "nothing says it"
            place = item.locate(()).span
            result.skipped.append(Skipped(str(place), f"{UNKNOWN_RELEASE}, {reason}"))
            result.not_evaluated += 1
            result.paths.add((document.path, document.index))
            continue
        if item.is_file and files[document.path] >= _SECOND:
            result.paths.add((document.path, document.index))
            continue
        result.documents += 1
        result.releases.add(known.tag)
        result.paths.add((document.path, document.index))
        files[document.path] += item.is_file
        if item.is_file and files[document.path] == _SECOND:
            result.diagnostics.append(_several_documents(document))
        _judge(item, known, result, shown[document.path], render, apply)
    return result


def _several_documents(second: CheckedDocument) -> Diagnostic:
    return diagnose(
        reading.SEVERAL_DOCUMENTS,
        "Helm reads the first document of a values file only, and nothing from here on",
        second.source.locate(join("", *list(second.data)[:1])),
        help="merge it into the first, or move it into a file of its own and give both to Helm",
    )


def not_mappings(tree: CheckedTree, named: frozenset[str]) -> Iterator[tuple[Diagnostic, tuple[str, int]]]:
    """Files that were named as values, and that Helm could not read as such: each is told once."""
    told: set[str] = set()
    for document in tree.documents:
        if document.path in named and not isinstance(document.data, dict) and document.path not in told:
            told.add(document.path)
            yield not_a_mapping(document.data, document.source.locate("/0")), (document.path, document.index)


def broken_texts(tree: CheckedTree) -> Iterator[Diagnostic]:
    """Values of the chart that stand in a text of an object, and can't be read there."""
    from poolsmith.gpu.values.rules.embedded_yaml import RULE, problem_of, told  # on demand

    for document in tree.objects:
        for chart in declared_charts(document, tree):
            text = chart.values
            if chart.name != CHART or not isinstance(text, str) or "{{" in text:
                continue
            problem = problem_of(text)
            if problem is None:
                continue
            place = document.source.locate(chart.pointer)
            inner = InnerText(document.source, chart.pointer, text, None)
            where = inner.outer_position(problem.position) if problem.position is not None else None
            if where is not None:
                span = Span(path=place.span.path, start=where, end=where)
                place = replace(place, span=span, source_line=document.source.line(where.line))
            yield Found(RULE, told(problem, ("values",))).at(place, document.name)


def _judge(
    found: FoundValues,
    known: ReleaseValues,
    result: ValuesResult,
    shown: Counter[tuple[str, str]],
    render: Render | None,
    apply: Apply | None,
) -> None:
    from poolsmith.gpu.values.judge import judge_values  # on demand

    values = found.values
    judged = judge_values(values, known, partial=found.partial, shown=shown)
    result.not_evaluated += judged.not_evaluated
    items = [*judged.findings, *(_not_rendered(values, known.tag, judged.findings, render) if render else ())]
    if apply is not None:
        told = [item.finding.place for item in items if item.severity is Severity.ERROR]
        refused = [item for item in apply(known.tag, values) if not any(overlap(item.place, other) for other in told)]
        items.extend(Found(REFUSED_BY_DEFINITION, item) for item in refused)
    result.diagnostics.extend(_diagnostic(item, found) for item in items)


def _diagnostic(item: Found[ValuePlace], found: FoundValues) -> Diagnostic:
    place = item.finding.place
    line = found.line_of_text(place)
    if line is not None:
        item = item._replace(finding=replace(item.finding, message=f"{item.finding.message} (line {line} of the text)"))
    return item.at(found.locate(place), found.document.name)


def _not_rendered(
    values: dict[str, Any], release: str, findings: Iterable[Found[ValuePlace]], render: Render
) -> Iterator[Found[ValuePlace]]:
    """What the chart stops at, as far as the document has it and no rule has named it as an error."""
    told = [item.finding.place for item in findings if item.severity is Severity.ERROR]
    for path, message in render(release, values):
        place = place_in(values, path)
        if place and not any(overlap(place, other) for other in told):
            yield Found(VALUES_DO_NOT_RENDER, Finding(place=place, message=message))
