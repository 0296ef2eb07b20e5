"""Helm values of the gpu-operator chart, wherever they stand: in profiles, releases, Applications, files.

The rules and their table are imported when the first values are judged. For a values file that no installation names,
the release is the one that files near it name.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from dataclasses import field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, Severity, UsageError, diagnose
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.diagnostics.codes.schema import REFUSED_BY_DEFINITION, VALUES_DO_NOT_RENDER, mend_of_rendering
from poolsmith.core.diagnostics.diagnostic import Span
from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.core.diagnostics.rule_engine import Finding, Found
from poolsmith.core.facts.versions import version_key
from poolsmith.core.pattern import pattern as compiled_later
from poolsmith.core.record import record
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.pointer import join, overlap, value_at
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.gpu.catalog.schema_versions import operator_releases
from poolsmith.gpu.catalog.stack_objects import CHART_OF, CHARTS
from poolsmith.gpu.values.neighbour_files import is_of_neighbour, neighbour_blocks
from poolsmith.gpu.values.release_tier import Tier, said_alike
from poolsmith.gpu.values.values_file import not_a_mapping
from poolsmith.gpu.values.values_places import FoundValues, place_in, values_file
from poolsmith.kubernetes.repository.chart_folders import chart_at
from poolsmith.kubernetes.repository.declared_charts import declared_charts
from poolsmith.kubernetes.repository.delivered import ChartInstallation, Unknown, ValuesLayer
from poolsmith.kubernetes.repository.manifest_files import folders_above

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.repository.model import RepositoryModel


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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
        if not item.values and by.tier is Tier.PINNED:
            result.diagnostics.extend(_of_number(item))
        if not item.has_values and (item.is_of_operator or item.known() is None):
            result.diagnostics.extend(_of_defaults(item))
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
_OF_TIER = {Tier.PINNED: "pinned", Tier.FLOATING: "floating: the newest known", Tier.UNKNOWN: "none named"}


def _judge_by_all(item: FoundValues, render: Render | None, apply: Apply | None) -> Iterator[Diagnostic]:
    """What all releases say alike, in the words of the newest; and what not all of them read."""
    from poolsmith.gpu.values.some_releases import values_of_some  # on demand

    paths = item.table
    assert paths is not None, "what no table has is judged by no release"

    def judge(tag: str) -> Iterable[Found[ValuePlace]]:
        known = paths.release(tag)
        assert known is not None, "each tag of the table is one"
        found = _findings(item, known, ValuesResult(), None, render, apply)
        return found if tag == tags[0] else chain.from_iterable(_also_below(one, item.values) for one in found)

    tags = item.judged_by.tags
    newest = paths.release(tags[0])
    assert newest is not None, "each tag of the table is one"
    for found in said_alike(judge, tags, _alike):
        yield _diagnostic(found._replace(finding=_of_all(found.finding, newest)), item)
    yield from (_diagnostic(found, item) for found in values_of_some(item.values, paths))


_UNREAD = frozenset(("PSM301", "PSM320", "PSM322"))


def _alike(found: Found[ValuePlace]) -> tuple[str, ValuePlace]:
    """What two releases say alike: that neither reads a value, whatever the others do. What is a mistake in one and
    worth a note in the other is not alike: the message of one would be wrong of the other."""
    told = f"{found.rule.code} {found.severity}"
    return "unread" if found.rule.code in _UNREAD else told, found.finding.place


def _also_below(found: Found[ValuePlace], values: dict[str, Any]) -> Iterator[Found[ValuePlace]]:
    """A release that does not read a mapping reads nothing that stands in it."""
    yield found
    pending = [found.finding.place] if found.rule.code in _UNREAD else []
    while pending:
        place = pending.pop()
        value = value_at(values, place)  # type: ignore[arg-type]  # a step of a list leads nowhere
        for key in value if isinstance(value, dict) else ():
            pending.append((*place, key))
            yield found._replace(finding=replace(found.finding, place=pending[-1]))


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


_NAMES = (OPERATOR_CHART, *CHART_OF)
_CHART = rf"(?<!-n )(?<!namespace[ =])(?P<chart>{'|'.join(_NAMES)})(?![\w-])"
_REST = rf"(?:(?!{_CHART.replace('?P<chart>', '?:')})[^\n])*?"
_COMMAND = compiled_later(rf"{_CHART}{_REST}(?:\\\n{_REST}){{0,12}}--version[ =]+[\"']?(?P<version>v?\d+\.\d+\.\d+)\b")
_HELMFILE = compiled_later(
    rf"^[ \t]*(?:- )?chart:[ \t]*[\"']?(?:[\w.-]+/)*{_CHART}[\"']?[ \t]*\n(?:[ \t]+[^\n]*\n){{0,4}}?"
    r"[ \t]+version:[ \t]*[\"']?(?P<version>v?\d+\.\d+\.\d+)\b",
    re.MULTILINE,
)
"""A release in a helmfile that is a template."""
_COMMANDS = compiled_later(r"[\n;|&]")
Commands = dict[str, defaultdict[str, list[list[str]]]]
"""By folder, and by the last part of each of its words: the words of `helm` commands in scripts and READMEs."""
_TEXTS = (".gotmpl", ".sh", ".md", ".mk", ".just", ".txt", ".bash", ".env")
_TEXT_NAMES = frozenset(("Makefile", "justfile", "Justfile", "Taskfile.yml", "Taskfile.yaml", "Dockerfile"))
_MOST_TEXT = 1 << 18


def plain_files(model: RepositoryModel, release: str | None, named: frozenset[str]) -> Iterator[FoundValues]:
    """Of the operator's chart. `release` is for all of them; without it each goes by what stands in its folder, or in
    the nearest one above."""
    from poolsmith.gpu.catalog.value_paths import value_paths  # on demand

    newest, commands = value_paths().tags[-1], Commands()
    for document in _unclaimed(model):
        is_named, is_expected = document.path in named and release is not None, release is not None
        if not is_named and (_has_neighbour(document) or is_of_neighbour(document)):
            continue
        loosely = values_file(document, release or newest, is_named=is_named, is_expected=is_expected)
        if loosely is None or _is_of_chart(document.path, model, is_expected=is_expected):
            continue
        near = release or pinned_near(document.path, model)
        found = values_file(
            document, near or newest, is_named=is_named, is_expected=is_expected, is_told=near is not None
        )
        if found is not None:
            own = FoundValues(installation=found.installation, release=near, is_file=True)
            yield _with_settings(own, model, commands)


def neighbour_files(model: RepositoryModel) -> Iterator[FoundValues]:
    """Of the charts beside the operator's, each by the release of its chart that something near it names."""
    commands = Commands()
    for document in _unclaimed(model):
        blocks = tuple(neighbour_blocks(document)) or tuple(_commanded(document, model, commands))
        if not blocks or _is_of_chart(document.path, model, is_expected=False):
            continue
        for chart, pointer, values in blocks:
            near = pinned_near(document.path, model, chart)
            layer = ValuesLayer(values, document.source, pointer)
            item = ChartInstallation(chart=chart, document=document, pointer=pointer, version=near, layers=(layer,))
            yield FoundValues(installation=item, release=near, is_file=True)


def _commanded(
    document: CheckedDocument, model: RepositoryModel, known: Commands
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The whole file, where `helm` in a script beside it gives it to a chart beside the operator's."""
    if "value" in posixpath.basename(document.path) and isinstance(document.data, dict) and "kind" not in document.data:
        for words in _commands_with(document.path, model, known):
            named = {posixpath.basename(word) for word in words if "/" in word} & {*_NAMES}
            charts = {CHART_OF.get(name, name) for name in named}
            if len(charts) == 1 and charts != {OPERATOR_CHART}:
                yield charts.pop(), "", document.data
                return


def _with_settings(found: FoundValues, model: RepositoryModel, known: Commands) -> FoundValues:
    """With what the command that gives the file sets besides, which nobody reads here."""
    path = found.installation.document.path
    if not any(word.startswith("--set") for words in _commands_with(path, model, known) for word in words):
        return found
    unknown = Unknown(found.installation.document.source.locate(""), "what `--set` of the command beside it says")
    return replace(found, installation=replace(found.installation, unknown=(unknown,)))


def _commands_with(path: str, model: RepositoryModel, known: Commands) -> list[list[str]]:
    """The words of each `helm` command in the folder of a values file that names it."""
    folder, name = posixpath.split(path)
    if folder not in known:
        found = known[folder] = defaultdict(list)
        for text, _ in _texts_in(folder, model):
            for line in _COMMANDS.split(text.replace("\\\n", " ")) if "helm" in text else ():
                words = [word.strip("\"'") for word in line.split()]
                for last in {posixpath.basename(word.rpartition("=")[2]) for word in words if "helm" in words}:
                    found[last].append(words)
    return known[folder].get(name, [])


def _unclaimed(model: RepositoryModel) -> Iterator[CheckedDocument]:
    """Documents that may be values, and that no installation reads."""
    claimed = {layer.source.path for item in model.all_installations for layer in item.layers}
    for document in model.loose.documents:
        if document.path not in claimed and not document.is_object:
            yield document


def _has_neighbour(document: CheckedDocument) -> bool:
    """Whether the whole file is of a chart beside the operator's."""
    return any(not pointer for _, pointer, _ in neighbour_blocks(document))


def _is_of_chart(path: str, model: RepositoryModel, *, is_expected: bool) -> bool:
    """The values.yaml of a chart has its own defaults: of a copy of the operator's those of the vendor. What it gives
    to a dependency is read with that."""
    if posixpath.basename(path) != "values.yaml":
        return False
    chart = chart_at(posixpath.dirname(path), model.files)
    return chart is not None and (chart.name in CHARTS or not is_expected)


def pinned_near(path: str, model: RepositoryModel, chart: str = OPERATOR_CHART) -> str | None:
    """The only release of a chart that something in the folder of a file names, else in those above it."""
    pins: dict[str, set[str]] = {}
    for item in model.all_installations:
        if CHART_OF.get(item.chart, item.chart) == chart and item.version:
            pins.setdefault(posixpath.dirname(item.document.path), set()).add(item.version)
    for folder in (*folders_above(path), *([] if path.startswith("/") else [""])):
        versions = pins.get(folder) or set(_of_commands(folder, model, chart))
        if versions:
            return next(iter(versions)) if len(versions) == 1 else None
        if folder in model.left_out:
            return None
    return None


def _of_commands(folder: str, model: RepositoryModel, chart: str) -> Iterator[str]:
    """What `helm install` in scripts and READMEs of a folder says."""
    for text, pattern in _texts_in(folder, model):
        if any(chart == CHART_OF.get(word, word) and word in text for word in _NAMES):
            found = pattern.finditer(text)
            yield from (match["version"] for match in found if CHART_OF.get(match["chart"], match["chart"]) == chart)


def _texts_in(folder: str, model: RepositoryModel) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Scripts and READMEs of a folder, each with how a version is said in it."""
    for path in model.files.files_in(folder):
        name = posixpath.basename(path)
        if name in _TEXT_NAMES or name.endswith(_TEXTS):
            text = model.files.text(path) or ""
            if len(text) <= _MOST_TEXT:
                yield text, _HELMFILE if name.endswith(".gotmpl") else _COMMAND
