"""Configurations for a device plugin that its own chart installs: where the plugin stops, and what it passes over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import did_you_mean, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.record import record
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.pointer import join, value_at
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.kubernetes.repository.declared_charts import first_document, installed_charts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.kubernetes.repository.declared_charts import DeclaredChart
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree

RULE = RuleInfo.of("PSM541")
_CHART = "nvidia-device-plugin"
_LARGEST = 1 << 20
_TEMPLATED = ("{{", "${", "{%")


@record
class _Texts:
    """Configurations by their names, which are keys at a pointer of a source; `owner` is the object of it."""

    owner: str
    source: SourceFile
    below: str
    texts: dict[str, Any]

    def locate(self, name: str, steps: tuple[str, ...] = ()) -> Location:
        pointer = f"{self.below}{join('', name)}"
        if not steps:
            return self.source.locate(pointer)
        return InnerText(self.source, pointer, self.texts[name], None).locate(join("", *steps))


def check(tree: CheckedTree) -> Iterator[Finding[Location]]:
    for document in tree.objects:
        for chart in installed_charts(document, tree):
            if chart.name == _CHART:
                yield from _of_chart(document, chart, tree)


def _of_chart(document: CheckedDocument, chart: DeclaredChart, tree: CheckedTree) -> Iterator[Finding[Location]]:
    values, source, at = first_document(chart.values), document.source, chart.pointer
    if isinstance(chart.values, str):
        source, at = InnerText(source, at, chart.values, values), ""
    found = _own_texts(document, values, source, at) or _named_texts(values, tree)
    if found is None:
        return
    default = value_at(values, ("config", "default"))
    if isinstance(default, str) and default and default not in found.texts and not chart.partial:
        yield Finding(
            message=f"the default configuration `{shorten(default)}` is not in {found.owner}",
            place=source.locate(f"{at}/config/default"),
            help=did_you_mean(default, map(shorten, found.texts)),
            subject=document.name,
        )
    for name, text in found.texts.items():
        if isinstance(text, str) and len(text) <= _LARGEST and not any(mark in text for mark in _TEMPLATED):
            yield from _of_text(found, name, text, _plugin(chart), _strategy(chart, values))


def _own_texts(document: CheckedDocument, values: Any, source: SourceFile, at: str) -> _Texts | None:
    """Those of the values, which stand at a pointer of a source."""
    own = value_at(values, ("config", "map"))
    if not isinstance(own, dict) or not own:
        return None
    return _Texts(owner=document.name, source=source, below=f"{at}/config/map", texts=_named(own))


def _named_texts(values: Any, tree: CheckedTree) -> _Texts | None:
    """Those of the ConfigMap that the values name; None where nobody can tell which one it is."""
    name = value_at(values, ("config", "name"))
    there = tree.all_named("ConfigMap", name) if isinstance(name, str) else ()
    if len(there) != 1 or not name or not isinstance(data := there[0].data.get("data"), dict):
        return None
    return _Texts(owner=there[0].name, source=there[0].source, below="/data", texts=_named(data))


def _named(texts: dict[Any, Any]) -> dict[str, Any]:
    return {str(name): text for name, text in texts.items()}


def _plugin(chart: DeclaredChart) -> str:
    """The version of the plugin, which is the chart's; nothing of one that is not said is a version."""
    return f"v{(chart.version or '').removeprefix('v')}"


def _strategy(chart: DeclaredChart, values: Any) -> str | None:
    """The chart hands its value on as a variable; without one the text's own counts."""
    found = value_at(values, ("migStrategy",))
    return found if isinstance(found, str) else None if chart.partial else ""


def _of_text(found: _Texts, name: str, text: str, plugin: str, strategy: str | None) -> Iterator[Finding[Location]]:
    from poolsmith.gpu.values.device_plugin_config import config_mistakes, passed_over, start_mistakes  # on demand

    subject, shown = found.owner, f"configuration `{shorten(name)}`"
    try:
        documents = read_documents(text)
    except YamlProblem as problem:
        message = f"{shown} is no YAML: {problem.in_text}"
        yield Finding(message=message, place=found.locate(name), subject=subject)
        return
    config = documents[0] if documents else None
    for mistake in (*config_mistakes(config, plugin), *start_mistakes(config, plugin, strategy)):
        where = f" at `{mistake.path}`" if mistake.path else ""
        yield Finding(
            message=f"the device plugin stops at {shown}{where}: {mistake.message}",
            place=found.locate(name, steps_of(mistake.path)),
            help=mistake.help,
            subject=subject,
        )
    for path, advice in passed_over(config, plugin):
        yield Finding(
            message=f"{shown}: the device plugin does not read `{path}`",
            place=found.locate(name, steps_of(path)),
            help=advice,
            severity=Severity.WARNING,
            subject=subject,
        )


def steps_of(path: str) -> tuple[str, ...]:
    return tuple(path.replace("[", ".").replace("]", "").split(".")) if path else ()
