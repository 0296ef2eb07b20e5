"""Values that no installation reads: in files of their own and in ConfigMaps, with the release that stands near them.

Scripts and READMEs are searched for `helm` commands: they say whose values a file has, and of which version.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern as compiled_later
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import join
from poolsmith.core.sources.shell_text import ShellText
from poolsmith.core.sources.yaml_reader import read_if_yaml
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.gpu.catalog.stack_objects import CHART_OF, CHARTS, OPERATOR
from poolsmith.gpu.catalog.stack_words import may_be_of_stack
from poolsmith.gpu.values.neighbour_files import is_of_neighbour, neighbour_blocks
from poolsmith.gpu.values.release_tier import NEWEST
from poolsmith.gpu.values.values_places import FoundValues, is_release, values_file
from poolsmith.kubernetes.repository.chart_folders import chart_at
from poolsmith.kubernetes.repository.delivered import ChartInstallation, Unknown, ValuesLayer, beyond
from poolsmith.kubernetes.repository.flux_releases import last
from poolsmith.kubernetes.repository.helm_commands import helm_commands
from poolsmith.kubernetes.repository.manifest_files import (
    CheckedDocument,
    PlacedDocument,
    folders_above,
    has_marks,
    is_encrypted,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.repository.helm_commands import HelmCommand
    from poolsmith.kubernetes.repository.model import RepositoryModel


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
_ARCHIVE = compiled_later(rf"(?P<chart>{'|'.join(map(re.escape, _NAMES))})-(?P<version>v?\d+\.\d+\.\d+)\.tgz")
_TAG = compiled_later(r"(?<![\d.])v?\d+\.\d+\.\d+(?![\d-]|\.\d)")
_TEXTS = (".gotmpl", ".sh", ".md", ".mk", ".just", ".txt", ".bash", ".env")
_TEXT_NAMES = frozenset(("Makefile", "justfile", "Justfile", "Taskfile.yml", "Taskfile.yaml", "Dockerfile"))
_MOST_TEXT = 1 << 18


class Surroundings:
    """What the files around values say of them: found once for all values of a repository."""

    def __init__(self, model: RepositoryModel) -> None:
        self.model = model
        self._commands: dict[str, defaultdict[str, list[HelmCommand]]] = {}
        self._versions: dict[tuple[str, str], set[str]] = {}

    @cached_property
    def claimed(self) -> frozenset[str]:
        """Files that installations read."""
        return frozenset(layer.source.path for item in self.model.all_installations for layer in item.layers)

    @cached_property
    def _pins(self) -> defaultdict[tuple[str, str], set[str]]:
        """Releases that installations and files of applications name, by chart and folder."""
        found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for item in self.model.all_installations:
            if item.version:
                found[CHART_OF.get(item.chart, item.chart), posixpath.dirname(item.document.path)].add(item.version)
        for document in self.model.loose.documents:
            if any(name in document.text for name in _NAMES):
                for chart, version in _said(document.data):
                    found[CHART_OF.get(chart, chart), posixpath.dirname(document.path)].add(version)
        return found

    def pinned_near(self, path: str, chart: str = OPERATOR_CHART) -> str | None:
        """The release in the name of a file; else the only one of a chart that something in its folder names, or in
        those above it."""
        if (named := _TAG.search(posixpath.basename(path))) is not None and is_release(chart, named[0]):
            return named[0]
        for folder in (*folders_above(path), *([] if path.startswith("/") else [""])):
            if versions := self._named_in(folder, chart):
                return next(iter(versions)) if len(versions) == 1 else None
            if folder in self.model.left_out:
                return None
        return None

    def _named_in(self, folder: str, chart: str) -> set[str]:
        place = chart, folder
        if place not in self._versions:
            self._versions[place] = (
                self._pins.get(place)
                or set(_of_archives(folder, self.model, chart))
                or set(_of_commands(folder, self.model, chart))
            )
        return self._versions[place]

    def commands_with(self, path: str) -> list[HelmCommand]:
        """The `helm` commands in READMEs and scripts of a values file's folder that name it."""
        folder, name = posixpath.split(path)
        if folder not in self._commands:
            found = self._commands[folder] = defaultdict(list)
            for text, _ in _texts_in(folder, self.model):
                for command in helm_commands(ShellText(text))[0] if "helm" in text else ():
                    for word in command.of("values"):
                        found[posixpath.basename(word.text)].append(command)
        return self._commands[folder].get(name, [])


_CHART_KEYS = ("chart", "chartName", "chartname", "chart_name")
_VERSION_KEYS = ("version", "targetRevision", "chartVersion", "chart_version")


def _said(data: Any) -> Iterator[tuple[str, str]]:
    """Charts of the stack with their versions, as any tool has them beside each other in a mapping."""
    pending = [data]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending += node
        elif isinstance(node, dict):
            pending += node.values()
            chart = last(next((str(node[key]) for key in _CHART_KEYS if node.get(key)), ""))
            version = next((node[key] for key in _VERSION_KEYS if node.get(key)), None)
            if chart in _NAMES and isinstance(version, str) and not has_marks(version):
                yield chart, version


def plain_files(around: Surroundings, release: str | None, named: frozenset[str]) -> Iterator[FoundValues]:
    """Of the operator's chart. `release` is for all of them; without it each goes by what stands in its folder, or in
    the nearest one above."""
    from poolsmith.gpu.catalog.value_paths import value_paths  # on demand

    model, newest = around.model, value_paths().tags[-1]
    for document in chain(_unclaimed(around), _in_config_maps(around)):
        is_expected = release is not None
        is_named = (is_expected and document.path in named) or _chart_told(document, around) == OPERATOR_CHART
        if not is_named and (_has_neighbour(document) or is_of_neighbour(document)):
            continue
        loosely = values_file(document, release or newest, is_named=is_named, is_expected=is_expected)
        if loosely is None or _is_of_chart(document.path, model, is_expected=is_expected):
            continue
        near = release or around.pinned_near(document.path)
        found = values_file(
            document, near or newest, is_named=is_named, is_expected=is_expected, is_told=near is not None
        )
        if found is not None and not _is_published(found.values):
            told = near or (NEWEST[0] if _is_newest(document.path, around) else None)
            own = FoundValues(installation=found.installation, release=told, is_file=True)
            yield _with_settings(own, around)


_MANY, _FEW = 40, 4


def _is_published(values: dict[str, Any]) -> bool:
    """Whether a file is what some release was published with, kept to look things up: nobody installs it."""
    from poolsmith.gpu.catalog.value_paths import value_paths  # on demand

    if sum(map(len, (item for item in values.values() if isinstance(item, dict)))) < _MANY:
        return False
    table = value_paths()
    known = (table.release(tag) for tag in table.tags)
    return any(len(beyond(values, item.defaults)) <= _FEW for item in known if item is not None and item.defaults)


def neighbour_files(around: Surroundings) -> Iterator[FoundValues]:
    """Of the charts beside the operator's, each by the release of its chart that something near it names."""
    for document in _unclaimed(around):
        blocks = tuple(neighbour_blocks(document)) or tuple(_commanded(document, around))
        if not blocks or _is_of_chart(document.path, around.model, is_expected=False):
            continue
        for chart, pointer, values in blocks:
            near = around.pinned_near(document.path, chart)
            layer = ValuesLayer(values, document.source, pointer)
            item = ChartInstallation(chart=chart, document=document, pointer=pointer, version=near, layers=(layer,))
            yield FoundValues(installation=item, release=near, is_file=True)


def _commanded(document: CheckedDocument, around: Surroundings) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The whole file, where it is told to be of a chart beside the operator's."""
    chart = _chart_told(document, around)
    if chart is not None and chart != OPERATOR_CHART:
        yield chart, "", document.data


def _chart_told(document: CheckedDocument, around: Surroundings) -> str | None:
    """The one chart of the stack that `helm` in a README or script beside a file of values gives it to."""
    if "value" not in posixpath.basename(document.path) or not isinstance(document.data, dict):
        return None
    named = {last(item.chart.text) for item in around.commands_with(document.path)} & {*_NAMES}
    charts = {CHART_OF.get(name, name) for name in named}
    return charts.pop() if len(charts) == 1 and "kind" not in document.data else None


def _with_settings(found: FoundValues, around: Surroundings) -> FoundValues:
    """With what the command that gives the file sets besides, which nobody reads here."""
    path = found.installation.document.path
    if not any(flag.startswith("set") for command in around.commands_with(path) for flag, _ in command.flags):
        return found
    unknown = Unknown(found.installation.document.source.locate(""), "what `--set` of the command beside it says")
    return replace(found, installation=replace(found.installation, unknown=(unknown,)))


def _is_newest(path: str, around: Surroundings) -> bool:
    """Whether `helm` installs the chart with this file, and takes whatever is newest on the day."""
    home, tail = posixpath.dirname(path), "/".join(path.split("/")[-2:])
    above = [home, *folders_above(home), *([] if path.startswith("/") or not home else [""])]
    for folder in above[:_MOST_ABOVE]:
        for command in around.commands_with(posixpath.join(folder, posixpath.basename(path))):
            is_it = folder == home or any(word.text.endswith(tail) for word in command.of("values"))
            place, _, name = command.chart.text.rpartition("/")
            if is_it and "nvidia" in place and name in OPERATOR:  # a mirror may lack the newest
                return command.last("version") is None
    return False


_MOST_ABOVE = 4


def _unclaimed(around: Surroundings) -> Iterator[CheckedDocument]:
    """Documents that may be values, and that no installation reads."""
    for document in around.model.loose.documents:
        if document.path not in around.claimed and not document.is_object and not is_encrypted(document.data):
            yield document


def _in_config_maps(around: Surroundings) -> Iterator[CheckedDocument]:
    """Texts of ConfigMaps that may be values, and that no installation reads."""
    for document in around.model.documents:
        if document.kind != "ConfigMap" or document.path in around.claimed:
            continue
        for key, text in mapping(document.data.get("data")).items():
            if isinstance(text, str) and "values" in str(key) and may_be_of_stack(text.encode()):
                for data in read_if_yaml(text, [])[:1]:
                    places = InnerText(document.source, join("/data", key), text, data)
                    yield PlacedDocument(document.path, document.index, data, document.text, places=places)


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


def _of_archives(folder: str, model: RepositoryModel, chart: str) -> Iterator[str]:
    """The versions of a chart whose archives stand in a folder, or in its `charts/`, as `helm pull` writes them."""
    for home in (folder, posixpath.join(folder, "charts")):
        for path in model.files.files_in(home):
            match = _ARCHIVE.fullmatch(posixpath.basename(path))
            if match is not None and CHART_OF.get(match["chart"], match["chart"]) == chart:
                yield match["version"]


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
