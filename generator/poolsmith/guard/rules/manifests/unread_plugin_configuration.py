"""A configuration for the device plugin, beside a DaemonSet of it that reads none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mappings, word, words
from poolsmith.core.sources.pointer import join, texts_in
from poolsmith.gpu.catalog.stack_objects import OPERATOR
from poolsmith.kubernetes.repository.declared_charts import declared_charts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree

RULE = RuleInfo.of("PSM542")
_IMAGE = pattern(r"(^|/)k8s-device-plugin(:|@|$)")
_VARIABLE, _FLAG = "CONFIG_FILE", "--config-file"
_SHARES = pattern(r"^[^\S\n]*+(timeSlicing|mps)\s*+:", re.MULTILINE)
_VERSION = pattern(r"^version\s*:\s*[\"']?v1\b", re.MULTILINE)
_RESOURCES = pattern(r"\breplicas\b\"?\s*:")


def check(tree: CheckedTree) -> Iterator[Finding[Location]]:
    maps = tree.of_kind("ConfigMap")
    plugins: dict[str, CheckedDocument] = {}
    for document in filter(_reads_nothing, tree.of_kind("DaemonSet") if maps else ()):
        plugins.setdefault(_folder(document), document)
    if not plugins or _is_installed_otherwise(tree):
        return
    beside = [item for item in maps if _folder(item) in plugins]
    sharing = [(item, key) for item in beside if (key := _sharing_key(item)) is not None]
    said = _Said(tree) if sharing else None
    for document, key in sharing:
        if said is not None and not said.elsewhere(document):
            plugin = plugins[_folder(document)]
            yield Finding(
                message=f"{document.name} shares GPUs, and {plugin.name} reads no configuration",
                place=document.source.locate(join("/data", key)),
                help="install the plugin's chart with `config.name`, or mount the ConfigMap and set CONFIG_FILE",
                related=(plugin.source.locate("/metadata/name", "the device plugin"),),
                subject=document.name,
            )


def _reads_nothing(document: CheckedDocument) -> bool:
    """Whether it is a DaemonSet of the plugin whose containers are told of no file."""
    containers = [item for _, item in document.containers if _IMAGE.search(word(item.get("image")))]
    return bool(containers) and not any(map(_is_told, containers))


def _is_told(container: Mapping[str, Any]) -> bool:
    variables = {word(item.get("name")) for item in mappings(container.get("env"))}
    said = (*words(container.get("command")), *words(container.get("args")))
    return _VARIABLE in variables or bool(container.get("envFrom")) or any(_FLAG in item for item in said)


def _is_installed_otherwise(tree: CheckedTree) -> bool:
    """Whether a chart installs what reads configurations."""
    charts = {chart.name for document in tree.objects for chart in declared_charts(document, tree)}
    return not charts.isdisjoint((*OPERATOR, "nvidia-device-plugin"))


def _sharing_key(document: CheckedDocument) -> str | None:
    data = document.data.get("data")
    for key, text in data.items() if isinstance(data, dict) else ():
        if isinstance(text, str) and all(form.search(text) for form in (_VERSION, _SHARES, _RESOURCES)):
            return str(key)
    return None


class _Said:
    """All texts of the objects of a tree, but for kustomizations, in one: each name is looked for once."""

    def __init__(self, tree: CheckedTree) -> None:
        parts: list[str] = []
        self._ranges: dict[int, tuple[int, int]] = {}
        length = 0
        for document in tree.objects:
            if document.kind != "Kustomization":
                text = "\0".join(texts_in(document.data))
                self._ranges[id(document)] = length, length + len(text)
                length += len(text) + 1
                parts.append(text)
        self._text = "\0".join(parts)

    def elsewhere(self, document: CheckedDocument) -> bool:
        """Whether any other object has its name in a text: it may be what reads it, or a patch that adds it."""
        name = document.metadata.get("name")
        start, end = self._ranges[id(document)]
        return not isinstance(name, str) or self._text.find(name, 0, start) >= 0 or self._text.find(name, end) >= 0


def _folder(document: CheckedDocument) -> str:
    return document.path.rpartition("/")[0]
