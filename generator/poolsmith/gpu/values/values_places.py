"""Helm values of the charts of the stack in a repository: of installations, and of files that hold nothing else."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.pointer import join
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.gpu.catalog.stack_objects import CHART_NAMES, CHART_OF, CHARTS, OPERATOR
from poolsmith.gpu.catalog.stack_words import OWN_KEYS, telling_keys
from poolsmith.gpu.values.release_tier import JudgedBy, Tier, is_any, is_floating, is_of_vendor, judged_by
from poolsmith.kubernetes.repository.delivered import ChartInstallation, ValuesLayer, below
from poolsmith.kubernetes.repository.manifest_files import LATER
from poolsmith.kubernetes.repository.model import StackCharts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.catalog.value_paths import ReleaseValues, ValueNode, ValuePaths
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

    @property
    def table(self) -> ValuePaths | None:
        """What each release of the chart reads; None of a chart that nobody has recorded."""
        from poolsmith.gpu.catalog.value_paths import value_paths  # on demand

        chart = OPERATOR_CHART if self.is_of_operator else CHART_OF.get(self.installation.chart)
        return None if chart is None else value_paths(chart)

    @cached_property
    def judged_by(self) -> JudgedBy:
        """Which releases judge it. `fallback` is asked where the version is none that is known."""
        table, said = self.table, self.release or ""
        if table is None:
            return JudgedBy(tier=Tier.UNKNOWN, tags=(), said=said)
        floats = is_any(said) if self.is_file else is_floating(self.installation)
        own = judged_by(said, table.tags, floats=floats, is_vendors=is_of_vendor(self.installation.repository))
        if own.tier is Tier.PINNED or self.fallback is None:
            return own
        given = judged_by(self.fallback, table.tags, floats=False)
        return given if given.tier is Tier.PINNED else own

    def known(self) -> ReleaseValues | None:
        """What the release reads; None where it is unknown, so that all of them are asked."""
        table = self.table
        return None if table is None else table.release(self.judged_by.one or "")

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


def stack_charts() -> StackCharts:
    """The charts of the stack, with the values of the operator's releases."""
    return StackCharts(CHART_NAMES, is_release, _published)


def is_release(chart: str, version: str | None) -> bool:
    """Of a chart that nobody recorded any version may be one."""
    from poolsmith.gpu.catalog.value_paths import value_paths  # on demand

    own = OPERATOR_CHART if chart in OPERATOR else CHART_OF.get(chart)
    if own is None:
        return True
    return judged_by(version or "", value_paths(own).tags, floats=False).tier is Tier.PINNED


def _published(chart: str, version: str | None) -> Mapping[str, Any] | None:
    from poolsmith.gpu.catalog.value_paths import value_paths  # on demand

    known = value_paths().release(version or "") if chart in OPERATOR else None
    return None if known is None else known.defaults


def values_of(installations: Iterable[ChartInstallation], fallback: str | None) -> Iterator[FoundValues]:
    """Those of the gpu-operator chart; `fallback` is the release of those that name none that is recorded."""
    for item in installations:
        if item.chart in OPERATOR:
            inner = _without_wrapper(item)
            yield FoundValues(installation=inner, release=inner.version, fallback=fallback)


def _without_wrapper(item: ChartInstallation) -> ChartInstallation:
    """A chart of one's own around the operator's may have its name; then all values stand below that name."""
    top = [key for key in item.values if key != "global"]
    if is_of_vendor(item.repository) or top != [OPERATOR_CHART]:
        return item
    layers = tuple(part for layer in item.layers if (part := below(layer, OPERATOR_CHART)) is not None)
    return replace(item, layers=layers, version=None, version_pointer="")


def values_of_neighbours(installations: Iterable[ChartInstallation]) -> Iterator[FoundValues]:
    """Those of the charts of the stack beside the operator's."""
    for item in installations:
        if item.chart in CHARTS and item.chart not in OPERATOR:
            yield FoundValues(installation=item, release=item.version)


def values_file(
    document: CheckedDocument, release: str, *, is_named: bool, is_expected: bool = False, is_told: bool = True
) -> FoundValues | None:
    """A file that nobody installs, as values. One that was found in a folder has to look like values of the chart; less
    so where they are expected, because somebody said for which release they are, and more where nothing near it does
    (`is_told`)."""
    from poolsmith.gpu.catalog.value_paths import value_paths  # on demand

    data = document.data
    if not isinstance(data, dict) or "apiVersion" in data or "kind" in data:
        return None
    known = value_paths().release(release)
    inner = data.get(OPERATOR_CHART)
    if known is not None and isinstance(inner, dict) and OPERATOR_CHART not in known.root.children:
        if is_told or _is_surely_values(inner, known, ""):
            own = inner if is_told else {key: value for key, value in inner.items() if key != _SWITCH}
            return _file(document, own, f"/{OPERATOR_CHART}", release)
        return None
    if is_named or (known is not None and _looks(data, known, document.path, is_expected=is_expected, is_told=is_told)):
        return _file(document, data, "", release)
    return None


_SWITCH = "enabled"
"""By which charts around the operator's like to install it."""


def _file(document: CheckedDocument, values: dict[str, Any], pointer: str, release: str | None) -> FoundValues:
    layer = ValuesLayer(values, document.source, pointer)
    item = ChartInstallation(chart=OPERATOR_CHART, document=document, pointer=pointer, version=None, layers=(layer,))
    return FoundValues(installation=item, release=release, is_file=True)


_TELLING = telling_keys()
_SURE = 2


_COMMON = frozenset(("driver", "operator", "validator", "daemonsets", "cdi", "nfd", "mig"))
"""Telling keys that charts of others may have too: they say nothing by themselves."""


def _looks(data: dict[str, Any], known: ReleaseValues, path: str, *, is_expected: bool, is_told: bool) -> bool:
    """Two keys that few other charts have, or one in a file or folder that has the chart's name, or one that no other
    chart has with something below it that this one reads."""
    if is_expected:
        return not known.root.children.keys().isdisjoint(data)
    if not is_told:
        return _is_surely_values(data, known, path)
    telling = len(_TELLING & data.keys() & known.root.children.keys())
    return telling >= _SURE or _has_own(data, known) or (telling > 0 and _has_its_name(path))


def _is_surely_values(data: dict[str, Any], known: ReleaseValues, path: str) -> bool:
    """As above, where all releases will be asked: one of two keys is none that other charts have."""
    blocks = {key for key in _TELLING & data.keys() if _is_block(data[key], known.root.children.get(key))}
    is_sure = len(blocks) >= _SURE and bool(blocks - _COMMON)
    is_called_so = _has_its_name(path) and "value" in path.rpartition("/")[2]
    telling = blocks or (is_called_so and any(isinstance(data[key], dict) for key in _TELLING & data.keys()))
    return is_sure or _has_own(data, known) or (bool(telling) and _has_its_name(path))


def _has_its_name(path: str) -> bool:
    return OPERATOR_CHART in path or "gpu_operator" in path


def _has_own(data: dict[str, Any], known: ReleaseValues) -> bool:
    return any(_is_block(data[key], known.root.children.get(key)) for key in OWN_KEYS & data.keys())


def _is_block(value: Any, node: ValueNode | None) -> bool:
    return node is not None and isinstance(value, dict) and not node.children.keys().isdisjoint(value)


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
