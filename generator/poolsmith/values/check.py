"""Helm values of the gpu-operator chart, wherever they stand: in profiles, releases, Applications, files.

The rules and their table are imported when the first values are judged.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from poolsmith.diagnostics import Diagnostic, Severity, UsageError, diagnose
from poolsmith.diagnostics.codes import reading
from poolsmith.diagnostics.codes.schema import REFUSED_BY_DEFINITION, VALUES_DO_NOT_RENDER
from poolsmith.diagnostics.finding import Finding
from poolsmith.diagnostics.outcome import Outcome, Skipped
from poolsmith.diagnostics.rule_engine import Found
from poolsmith.diagnostics.suggest import did_you_mean
from poolsmith.record import record
from poolsmith.schema.schemas import operator_releases
from poolsmith.sources.nested import overlap
from poolsmith.sources.pointer import join
from poolsmith.sources.source_file import SourceFile
from poolsmith.sources.yaml_reader import read_documents
from poolsmith.values.places import place_in, values_in
from poolsmith.values.values_file import not_a_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from poolsmith.catalog.value_paths import ReleaseValues
    from poolsmith.repository.manifest_files import CheckedDocument, CheckedTree
    from poolsmith.values.document import ValuePlace
    from poolsmith.values.places import FoundValues

    Render = Callable[[str, dict[str, Any]], Iterable[tuple[str, str]]]
    Apply = Callable[[str, dict[str, Any]], Iterable[Finding[ValuePlace]]]

_SECOND = 2
UNKNOWN_RELEASE = "values: release unknown"


def known_release(release: str | None) -> str | None:
    """The tag that `--release` means. Raises UsageError for one that the table does not have."""
    if release is None:
        return None
    from poolsmith.catalog.value_paths import value_paths  # on demand

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
    tree: CheckedTree,
    release: str | None,
    named: frozenset[str] = frozenset(),
    render: Render | None = None,
    apply: Apply | None = None,
) -> ValuesResult:
    """All values of the chart in a tree. `release` is for those that do not say theirs.

    `render` tells what a release's chart does not render: value paths with dots, and why. `apply` tells which of the
    values the API server would refuse in what is rendered.
    """
    result = ValuesResult()
    shown: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    files: Counter[str] = Counter()
    if release is not None:
        result.diagnostics.extend(_not_mappings(tree, named, result.paths))
    for found in values_in(tree, release, named):
        from poolsmith.catalog.value_paths import value_paths  # on demand

        known = value_paths().release(found.version or "")
        if known is None and release is not None:
            known = value_paths().release(release)
        if known is None:
            reason = f"`{found.version[:40]}` is no recorded one" if found.version else "nothing says it"
            result.skipped.append(Skipped(f"{found.document.path}{found.pointer}", f"{UNKNOWN_RELEASE}, {reason}"))
            continue
        if found.is_file and files[found.document.path] >= _SECOND:
            result.paths.add((found.document.path, found.document.index))
            continue
        result.documents += 1
        result.releases.add(known.tag)
        result.paths.add((found.document.path, found.document.index))
        files[found.document.path] += found.is_file
        if found.is_file and files[found.document.path] == _SECOND:
            result.diagnostics.append(_several_documents(found.document))
        _judge(found, known, result, shown[found.document.path], render, apply)
    return result


def _several_documents(second: CheckedDocument) -> Diagnostic:
    return diagnose(
        reading.SEVERAL_DOCUMENTS,
        "Helm reads the first document of a values file only, and nothing from here on",
        second.source.locate(join("", *list(second.data)[:1])),
        help="merge it into the first, or move it into a file of its own and give both to Helm",
    )


def _not_mappings(tree: CheckedTree, named: frozenset[str], paths: set[tuple[str, int]]) -> Iterator[Diagnostic]:
    """Files that were named as values, and that Helm could not read as such: each is told once."""
    told: set[str] = set()
    for document in tree.documents:
        if document.path in named and document.data is not None and not isinstance(document.data, dict):
            paths.add((document.path, document.index))
            if document.path in told:
                continue
            told.add(document.path)
            yield not_a_mapping(document.data, document.source.locate("/0"))


def _judge(
    found: FoundValues,
    known: ReleaseValues,
    result: ValuesResult,
    shown: Counter[tuple[str, str]],
    render: Render | None,
    apply: Apply | None,
) -> None:
    from poolsmith.values.judge import judge_values  # on demand

    values, inner = found.values, None
    if isinstance(values, str):
        values, inner = _parsed(found, result)
    if not isinstance(values, dict):
        return
    judged = judge_values(values, known, partial=found.partial, shown=shown)
    result.not_evaluated += judged.not_evaluated
    items = [*judged.findings, *(_not_rendered(values, known.tag, judged.findings, render) if render else ())]
    if apply is not None:
        told = [item.finding.place for item in items if item.severity is Severity.ERROR]
        refused = [item for item in apply(known.tag, values) if not any(overlap(item.place, other) for other in told)]
        items.extend(Found(REFUSED_BY_DEFINITION, item) for item in refused)
    result.diagnostics.extend(_diagnostic(item, found, inner) for item in items)


def _not_rendered(
    values: dict[str, Any], release: str, findings: Iterable[Found[ValuePlace]], render: Render
) -> Iterator[Found[ValuePlace]]:
    """What the chart stops at, as far as the document has it and no rule has named it as an error."""
    told = [item.finding.place for item in findings if item.severity is Severity.ERROR]
    for path, message in render(release, values):
        place = place_in(values, path)
        if place and not any(overlap(place, other) for other in told):
            yield Found(VALUES_DO_NOT_RENDER, Finding(place=place, message=message))


def _parsed(found: FoundValues, result: ValuesResult) -> tuple[Any, SourceFile | None]:
    """Values that stand in a text, and the way back to its lines."""
    from poolsmith.values.rules.embedded_yaml import RULE, problem_of, told  # on demand

    text: str = found.values
    if "{{" in text:
        result.skipped.append(Skipped(f"{found.document.path}{found.pointer}", "values: the text is a template"))
        return None, None
    problem = problem_of(text)
    if problem is not None:
        item = Found(RULE, told(problem, ("values",)))
        result.diagnostics.append(item.at(found.document.source.locate(found.pointer), found.document.name))
        return None, None
    documents = read_documents(text)
    values = documents[0] if documents else None
    return values, SourceFile("", text, values)


def _diagnostic(item: Found[ValuePlace], found: FoundValues, inner: SourceFile | None) -> Diagnostic:
    pointer = join(found.pointer, *item.finding.place)
    if inner is not None:
        start = inner.locate(join("", *item.finding.place)).span.start
        line = f" (line {start.line} of the text)" if start else ""
        item = item._replace(finding=replace(item.finding, message=item.finding.message + line))
        pointer = found.pointer
    return item.at(found.document.source.locate(pointer), found.document.name)
