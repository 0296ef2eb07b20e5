"""Helm values of the gpu-operator chart, wherever they stand: in profiles, releases, Applications, files.

The rules and their table are imported when the first values are judged. For a values file that no installation names,
the release is the one that files near it name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, Severity, UsageError, diagnose
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.diagnostics.codes.schema import REFUSED_BY_DEFINITION, VALUES_DO_NOT_RENDER, mend_of_rendering
from poolsmith.core.diagnostics.diagnostic import Span
from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.core.diagnostics.rule_engine import Finding, Found
from poolsmith.core.facts.versions import version_key
from poolsmith.core.record import record
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.pointer import join, overlap, value_at
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.gpu.catalog.schema_versions import operator_releases
from poolsmith.gpu.values.release_tier import Tier, said_alike
from poolsmith.gpu.values.values_file import not_a_mapping
from poolsmith.gpu.values.values_places import FoundValues, place_in
from poolsmith.kubernetes.repository.declared_charts import declared_charts

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.gpu.catalog.value_paths import ReleaseValues
    from poolsmith.gpu.values.document import ValuePlace
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree

    Render = Callable[[ReleaseValues, dict[str, Any]], Iterable[tuple[str, str]]]
    Apply = Callable[[str, dict[str, Any]], Iterable[Finding[ValuePlace]]]

_SECOND = 2
_LEFT_IMAGES = "PSM520"


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
    judged_by: set[tuple[Tier, str]] = field(default_factory=set)
    not_evaluated: int = 0
    unjudged: list[FoundValues] = field(default_factory=list)
    paths: set[tuple[str, int]] = field(default_factory=set)

    def added_to(self, outcome: Outcome) -> Outcome:
        """The counts; diagnostics are the caller's."""
        if not self.documents and not self.unjudged:
            return outcome
        facts = (f"Helm values were checked against {self._tiers()}",) if self.documents else ()
        return replace(
            outcome,
            checked={**outcome.checked, "values documents": self.documents},
            not_evaluated=outcome.not_evaluated + self.not_evaluated + len(self.unjudged),
            facts=(*outcome.facts, *facts),
        )

    def _tiers(self) -> str:
        """`v26.3.1 (pinned), v26.7.0 (floating: the newest known), all known releases (none is told)`."""
        order = sorted(self.judged_by, key=lambda item: (list(Tier).index(item[0]), version_key(item[1])))
        return ", ".join(f"{tag} ({_OF_TIER[tier]})" for tier, tag in order)


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
    files: defaultdict[str, list[int]] = defaultdict(list)
    for item in found:
        by, document = item.judged_by, item.document
        is_bare = not item.has_values and (item.is_of_operator or item.known() is None)
        of_defaults = tuple(_of_defaults(item)) if is_bare else ()
        result.diagnostics.extend(of_defaults)
        if not item.values and by.tier is Tier.PINNED and not of_defaults:
            result.diagnostics.extend(_of_number(item))
        if is_bare:
            continue
        if not by.tags:
            result.unjudged.append(item)
            result.paths.add((document.path, document.index))
            if by.is_older:
                result.diagnostics.extend(_of_number(item))
            continue
        others = [index for index in files[document.path] if index != document.index]
        if item.is_file and len(others) >= _SECOND:
            result.paths.add((document.path, document.index))
            continue
        result.documents += 1
        result.judged_by.add((by.tier, known.told if (known := item.known()) is not None else ALL_RELEASES))
        result.paths.add((document.path, document.index))
        if item.is_file and document.index not in files[document.path]:
            files[document.path].append(document.index)
            if len(files[document.path]) == _SECOND:
                result.diagnostics.append(_several_documents(document))
        asked = (render, apply if item.is_of_operator else None)
        if known is not None:
            _judge(item, known, result, shown[document.path], *asked)
        else:
            result.diagnostics.extend(_judge_by_all(item, *asked))
    return result


def _of_number(item: FoundValues) -> Iterator[Diagnostic]:
    """What the number of a release tells, where its values are not judged."""
    from poolsmith.gpu.values.rules.vulnerable_toolkit import of_number  # on demand

    if item.is_of_operator and (found := of_number(item.judged_by.said, item.values)) is not None:
        yield _diagnostic(found, item)


def _of_defaults(item: FoundValues) -> Iterator[Diagnostic]:
    """What a release tells that is installed as it comes, by its own toolkit."""
    from poolsmith.gpu.values.rules.vulnerable_toolkit import of_release  # on demand

    known = item.known()
    if item.is_of_operator and not item.partial and known is not None and not item.installation.unknown:
        place = item.document.source.locate(item.installation.version_pointer or item.installation.pointer)
        yield from (replace(_diagnostic(found, item), primary=place) for found in of_release(known.tag))


ALL_RELEASES = "all known releases"
_OF_TIER = {Tier.PINNED: "pinned", Tier.FLOATING: "floating: the newest known", Tier.UNKNOWN: "none of them is named"}


def _judge_by_all(item: FoundValues, render: Render | None, apply: Apply | None) -> Iterator[Diagnostic]:
    """What all releases say alike, in the words of the newest; and what not all of them read."""
    from poolsmith.gpu.values.some_releases import values_of_some  # on demand

    paths = item.table
    assert paths is not None, "what no table has is judged by no release"

    def found_by(release: ReleaseValues) -> list[Found[ValuePlace]]:
        return _findings(item, release, ValuesResult(), None, render, apply)

    def judge(tag: str) -> Iterable[Found[ValuePlace]]:
        known = paths.release(tag)
        assert known is not None, "each tag of the table is one"
        if known is newest:
            return first
        own = [other for one in found_by(known) for other in _also_below(one, item.values)]
        unread = {one.finding.place for one in own if one.rule.code in _UNREAD}
        return [*own, *(one for one in first if _is_wrong_too(one, known, unread))]

    tags = item.judged_by.tags
    newest = paths.release(tags[0])
    assert newest is not None, "each tag of the table is one"
    first = found_by(newest)
    for found in said_alike(judge, tags, _alike):
        yield _diagnostic(found._replace(finding=_of_all(found.finding, newest)), item)
    yield from (_diagnostic(found, item) for found in values_of_some(item.values, paths))


_UNREAD = frozenset(("PSM301", "PSM320", "PSM322"))
_OF_DEFINITIONS = frozenset(("PSM323", REFUSED_BY_DEFINITION.code))
_OF_ANY_RELEASE = "PSM427"
"""Of a version that the values say themselves."""


def _is_wrong_too(found: Found[ValuePlace], release: ReleaseValues, unread: Container[ValuePlace]) -> bool:
    """Whether a release that says something else of a value, or whose definitions nobody knows, makes it no better."""
    if found.rule.code == _OF_ANY_RELEASE and found.finding.place:
        return True
    is_known = not release.is_of_operator or release.tag in operator_releases()
    is_unread = found.severity is Severity.ERROR and found.finding.place in unread
    return is_unread or (not is_known and found.rule.code in _OF_DEFINITIONS)


def _alike(found: Found[ValuePlace]) -> tuple[str, ValuePlace]:
    """What two releases say alike: that neither reads a value, whatever the others do. What is a mistake in one and
    worth a note in the other is not alike: the message of one would be wrong of the other."""
    told = f"{found.rule.code} {found.severity}"
    return "unread" if found.rule.code in _UNREAD else told, found.finding.place


def _also_below(found: Found[ValuePlace], values: dict[str, Any]) -> Iterator[Found[ValuePlace]]:
    """A release that does not read a mapping reads nothing that stands in it."""
    from poolsmith.gpu.values.rules import value_type  # on demand

    yield found
    pending = [found.finding.place] if found.rule.code in _UNREAD else []
    while pending:
        place = pending.pop()
        at_place = found._replace(finding=replace(found.finding, place=place, severity=None))
        yield found._replace(finding=replace(found.finding, place=place))
        yield at_place._replace(rule=value_type.RULE)  # nor is it right there, if those that read it refuse its type
        value = value_at(values, place)  # type: ignore[arg-type]  # a step of a list leads nowhere
        pending += [(*place, key) for key in (value if isinstance(value, dict) else ())]


def _of_all(finding: Finding[ValuePlace], newest: ReleaseValues) -> Finding[ValuePlace]:
    """A finding of the newest release, said of all."""
    chart = f"of {newest.tag}" if newest.is_of_operator else newest.told
    every = "" if newest.is_of_operator else f" {newest.paths.chart}"
    message = finding.message.replace(f"the chart {chart} does not read", f"no known release of the chart{every} reads")
    help_text = None if finding.help is None else finding.help.replace("this release", newest.tag)
    message = message.replace(newest.told, f"every known release{f' of{every}' if every else ''}")
    return replace(finding, message=message.replace(newest.tag, "every known release"), help=help_text)


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
            if chart.name != OPERATOR_CHART or not isinstance(text, str) or "{{" in text:
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
    items = _findings(found, known, result, shown, render, apply)
    result.diagnostics.extend(_diagnostic(item, found) for item in items)


def _findings(
    found: FoundValues,
    known: ReleaseValues,
    result: ValuesResult,
    shown: Counter[tuple[str, str]] | None,
    render: Render | None,
    apply: Apply | None,
) -> list[Found[ValuePlace]]:
    from poolsmith.gpu.values.judge import judge_values  # on demand

    values = found.values
    judged = judge_values(values, known, partial=found.partial, shown=shown)
    result.not_evaluated += judged.not_evaluated
    items = [*judged.findings, *(_not_rendered(values, known, judged.findings, render) if render else ())]
    if apply is not None:
        told = [item.finding.place for item in items if item.severity is Severity.ERROR]
        refused = [item for item in apply(known.tag, values) if not any(overlap(item.place, other) for other in told)]
        items.extend(Found(REFUSED_BY_DEFINITION, item) for item in refused)
    return [_of_all_values(item) for item in items] if found.is_file else items


def _of_all_values(item: Found[ValuePlace]) -> Found[ValuePlace]:
    """Which images are left where they were, only all values of an installation say; nobody says what else is put on
    those of a file that stands alone."""
    if item.rule.code != _LEFT_IMAGES:
        return item
    return Found(item.rule, replace(item.finding, severity=Severity.NOTE))


def _diagnostic(item: Found[ValuePlace], found: FoundValues) -> Diagnostic:
    place = item.finding.place
    line = found.line_of_text(place)
    if line is not None:
        item = item._replace(finding=replace(item.finding, message=f"{item.finding.message} (line {line} of the text)"))
    return item.at(found.locate(place), found.document.name)


def _not_rendered(
    values: dict[str, Any], release: ReleaseValues, findings: Iterable[Found[ValuePlace]], render: Render
) -> Iterator[Found[ValuePlace]]:
    """What the chart refuses in the document and no rule has reported as an error."""
    told = [item.finding.place for item in findings if item.severity is Severity.ERROR]
    for path, message in render(release, values):
        place = place_in(values, path)
        if place and not any(overlap(place, other) for other in told):
            yield Found(VALUES_DO_NOT_RENDER, Finding(place=place, message=message, help=mend_of_rendering(message)))
