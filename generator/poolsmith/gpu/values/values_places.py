"""Helm values of the charts of the stack in a repository: of installations, and of files that hold nothing else."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.pointer import join
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.gpu.catalog.stack_objects import CHART_OF, CHARTS, OPERATOR
from poolsmith.gpu.catalog.stack_words import telling_keys
from poolsmith.gpu.catalog.version_ranges import is_one_version, is_range
from poolsmith.kubernetes.repository.delivered import ChartInstallation, ValuesLayer
from poolsmith.kubernetes.repository.manifest_files import LATER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.catalog.value_paths import ReleaseValues
    from poolsmith.gpu.values.document import ValuePlace
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument


_FILLED_LATER = ("${", "{{", "{%", "<%", LATER)


@record(slots=False)
class FoundValues:
    """The values of one installation. `release` is the version to judge them by, as it is written; None: nobody says.
    `fallback` is the one to judge them by where that is none that is known.

    `is_file`: they stand in a file of their own, and nothing says who reads it.
    """

    installation: ChartInstallation
    release: str | None
    fallback: str | None = None
    is_file: bool = False

    @property
    def document(self) -> CheckedDocument:
        """Where the values stand, of several places the last one; else who installs the chart."""
        return self.installation.document

    @property
    def path(self) -> str:
        return self.document.path

    @property
    def namespace(self) -> str | None:
        return self.installation.namespace

    @property
    def has_values(self) -> bool:
        return bool(self.installation.layers)

    @cached_property
    def values(self) -> dict[str, Any]:
        """Merged, without what another tool fills in later."""
        return filled_in(self.installation.values)

    @cached_property
    def partial(self) -> bool:
        """Whether more values come from elsewhere, or later."""
        return self.installation.is_partial or self.values != self.installation.values

    def locate(self, place: ValuePlace, note: str | None = None) -> Location:
        return self.installation.locate(place, note)

    @property
    def is_of_operator(self) -> bool:
        return self.installation.chart in OPERATOR

    def known(self) -> ReleaseValues | None:
        """What the release reads."""
        from poolsmith.gpu.catalog.value_paths import value_paths  # on demand

        chart = OPERATOR_CHART if self.is_of_operator else CHART_OF.get(self.installation.chart)
        if chart is None:
            return None
        paths = value_paths(chart)
        return paths.release(self.release or "") or paths.release(self.fallback or "")

    def line_of_text(self, place: ValuePlace) -> int | None:
        """The line within the text that holds a value, where the place in the file does not tell it."""
        found = self.installation.decided(place)
        source = found[0].source if found is not None else None
        if found is None or not isinstance(source, InnerText):
            return None
        layer, steps, _ = found
        return source.line_of_text(join(layer.pointer, *steps))

    @property
    def files(self) -> frozenset[str]:
        """The files that the values stand in."""
        return frozenset(layer.source.path for layer in self.installation.layers)


def filled_in(values: dict[str, Any]) -> dict[str, Any]:
    """Without the values that a template or a substitution puts in: what they will be, nobody can say."""
    result: dict[str, Any] = {}
    for key, value in values.items():
        kept = _kept(value)
        if kept is not _LATER and not is_filled_later(key):
            result[key] = kept
    return result


_LATER: Any = object()


def _kept(value: Any) -> Any:
    if isinstance(value, dict):
        kept = filled_in(value)
        return kept if kept or not value else _LATER
    if isinstance(value, list):
        items = [_kept(item) for item in value]
        return _LATER if any(item is _LATER for item in items) else items
    return _LATER if isinstance(value, str) and is_filled_later(value) else value


def is_filled_later(text: str) -> bool:
    """Whether another tool fills a text in, or some of it. Texts of several lines may hold what looks like it."""
    return "\n" not in text and any(mark in text for mark in _FILLED_LATER)


def values_of(installations: Iterable[ChartInstallation], fallback: str | None) -> Iterator[FoundValues]:
    """Those of the gpu-operator chart; `fallback` is the release of those that name none that is recorded."""
    for item in installations:
        if item.chart in OPERATOR:
            yield FoundValues(installation=item, release=item.version, fallback=fallback)


def values_of_neighbours(installations: Iterable[ChartInstallation]) -> Iterator[FoundValues]:
    """Those of the charts of the stack beside the operator's. Without a version Helm takes the newest one."""
    for item in installations:
        if item.chart in CHARTS and item.chart not in OPERATOR:
            from poolsmith.gpu.catalog.value_paths import value_paths  # on demand

            floats = not item.version or (is_range(item.version) and not is_one_version(item.version))
            recorded = CHART_OF.get(item.chart)
            newest = value_paths(recorded).tags[-1] if floats and recorded is not None else None
            yield FoundValues(installation=item, release=item.version, fallback=newest)


def not_judged(found: FoundValues) -> str | None:
    """Why values of a chart of the stack are not judged; None where they are."""
    chart = found.installation.chart
    if found.known() is not None:
        return None
    if not found.is_of_operator and chart not in CHART_OF:
        return f"no release of the chart {chart} is recorded"
    return f"`{found.release[:40]}` is no recorded one" if found.release else "nothing says it"


def values_file(
    document: CheckedDocument, release: str, *, is_named: bool, is_expected: bool = False
) -> FoundValues | None:
    """A file that nobody installs, as values. One that was found in a folder has to look like values of the chart; less
    so where they are expected, because somebody said for which release they are."""
    from poolsmith.gpu.catalog.value_paths import value_paths  # on demand

    data = document.data
    if not isinstance(data, dict) or "apiVersion" in data or "kind" in data:
        return None
    known = value_paths().release(release)
    if known is not None and isinstance(data.get(OPERATOR_CHART), dict) and OPERATOR_CHART not in known.root.children:
        return _file(document, data[OPERATOR_CHART], f"/{OPERATOR_CHART}", release)
    if not is_named and (known is None or not _looks_like_values(data, known, document.path, is_expected=is_expected)):
        return None
    return _file(document, data, "", release)


def _file(document: CheckedDocument, values: dict[str, Any], pointer: str, release: str | None) -> FoundValues:
    layer = ValuesLayer(values, document.source, pointer)
    item = ChartInstallation(chart=OPERATOR_CHART, document=document, pointer=pointer, version=None, layers=(layer,))
    return FoundValues(installation=item, release=release, is_file=True)


_TELLING = telling_keys()
_SURE = 2


def _looks_like_values(data: dict[str, Any], known: ReleaseValues, path: str, *, is_expected: bool) -> bool:
    """Two keys that few other charts have, or one in a file or folder that has the chart's name."""
    if is_expected:
        return not known.root.children.keys().isdisjoint(data)
    telling = len(_TELLING & data.keys() & known.root.children.keys())
    return telling >= _SURE or (telling > 0 and (OPERATOR_CHART in path or "gpu_operator" in path))


def place_in(values: Any, path: str) -> tuple[str | int, ...]:
    """The steps to a value whose keys stand in `path` with dots between them; only those that the document has."""
    steps: list[str | int] = []
    node = values
    for word in path.split("."):
        if isinstance(node, dict) and word in node:
            steps.append(word)
            node = node[word]
        elif isinstance(node, list) and word.isdigit() and int(word) < len(node):
            steps.append(int(word))
            node = node[int(word)]
        else:
            break
    return tuple(steps)
