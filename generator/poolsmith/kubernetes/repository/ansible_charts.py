"""Charts and objects that tasks of Ansible install, with what their variables stand for.

Source: docs.ansible.com, kubernetes.core.helm: `chart_version` (default: newest), `release_values` (alias `values`),
`values_files` before them, `set_values` on top; kubernetes.core.k8s: `resource_definition` (aliases `definition`,
`inline`), an object, a list of them or a text.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.pod_template import mapping, mappings, words
from poolsmith.core.sources.pointer import join
from poolsmith.core.sources.yaml_reader import read_if_yaml
from poolsmith.kubernetes.repository.ansible_variables import AnsibleVariables, is_computed
from poolsmith.kubernetes.repository.argo_applications import file_layer
from poolsmith.kubernetes.repository.chart_folders import resolved
from poolsmith.kubernetes.repository.delivered import (
    DEFINITIONS,
    HOOKS,
    ChartInstallation,
    Delivered,
    Layer,
    Unknown,
    ValuesLayer,
)
from poolsmith.kubernetes.repository.flux_releases import named
from poolsmith.kubernetes.repository.set_values import set_layer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

_MODULES = ("kubernetes.core.helm", "community.kubernetes.helm", "community.general.helm", "helm")
_OBJECT_MODULES = ("kubernetes.core.k8s", "community.kubernetes.k8s", "community.general.k8s", "k8s")
_DEFINITIONS = ("resource_definition", "definition", "inline")
_NESTED = ("tasks", "pre_tasks", "post_tasks", "handlers", "block", "rescue", "always")
_LOOPS = ("loop", "with_items")
_MOST_DEPTH = 20
_Tops = tuple[tuple[str, dict[str, Any]], ...]


def ansible_charts(document: CheckedDocument, files: RepositoryFiles) -> Iterator[ChartInstallation]:
    """Those of a playbook or a list of tasks, and those that variables hand to one; none that nobody knows."""
    if isinstance(document.data, dict):
        for pointer, handed in _handed_on(document.data, "", _MOST_DEPTH):
            yield from _Task(document, (("", document.data),), pointer, files).charts(handed)
    if isinstance(document.data, list):
        for tops in _tasks(document.data, "", ()):
            pointer, task = tops[-1]
            for module in _MODULES:
                if isinstance(arguments := task.get(module), dict):
                    yield from _Task(document, tops, join(pointer, module), files).charts(arguments)


def _handed_on(node: Any, pointer: str, depth: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Arguments of the module that stand among variables: they name a chart, and its version or values."""
    if isinstance(node, dict) and isinstance(node.get("chart_ref"), str) and node.keys() & _OF_A_CHART:
        yield pointer, node
    elif isinstance(node, (dict, list)) and depth:
        for key, item in node.items() if isinstance(node, dict) else enumerate(node):
            yield from _handed_on(item, join(pointer, str(key)), depth - 1)


_OF_A_CHART = {"chart_version", "release_values", "values", "set_values", "values_files"}


def ansible_objects(document: CheckedDocument, files: RepositoryFiles) -> Iterator[Delivered | Unknown]:
    """Those that tasks have in them; what only Ansible can fill in is unknown."""
    if isinstance(document.data, list):
        for tops in _tasks(document.data, "", ()):
            pointer, task = tops[-1]
            for module in _OBJECT_MODULES:
                if isinstance(arguments := task.get(module), dict) and arguments.get("state") != "absent":
                    run = _Task(document, tops, join(pointer, module), files)
                    for key in _DEFINITIONS:
                        yield from run.objects(key, arguments.get(key))


def _tasks(listed: list[Any], pointer: str, above: _Tops) -> Iterator[_Tops]:
    """Each task behind the play and the blocks that it stands in."""
    for index, item in enumerate(listed):
        if isinstance(item, dict):
            tops = (*above, (join(pointer, index), item))
            yield tops
            for key in _NESTED:
                if isinstance(inner := item.get(key), list) and len(tops) < _MOST_DEPTH:
                    yield from _tasks(inner, join(tops[-1][0], key), tops)


class _Task:
    def __init__(self, document: CheckedDocument, tops: _Tops, pointer: str, files: RepositoryFiles) -> None:
        self._document, self._pointer, self._files = document, pointer, files
        self._task = tops[-1][1]
        self._variables = AnsibleVariables(document, tops, files)
        self._layers: list[ValuesLayer] = []
        self._unknown: list[Unknown] = []

    def charts(self, arguments: dict[str, Any]) -> Iterator[ChartInstallation]:
        chart = self._text(arguments.get("chart_ref"))
        if chart is None or arguments.get("release_state", arguments.get("state")) == "absent":
            return
        for path in words(arguments.get("values_files")) or [""] * bool(arguments.get("values_files")):
            self._add_file(path)
        key = "values" if "values" in arguments else "release_values"
        self._add_values(key, arguments.get(key))
        self._add_set(arguments.get("set_values"))
        folder = posixpath.normpath(posixpath.join(posixpath.dirname(self._document.path), chart))
        is_local = chart.startswith((".", "/")) or self._files.is_folder(folder)
        name, archived = named(chart)
        found = ChartInstallation(
            chart=name,
            document=self._document,
            pointer=join(self._pointer, key) if key in arguments else self._pointer,
            version=archived or self._text(arguments.get("chart_version")),
            version_pointer=join(self._pointer, "chart_version"),
            is_locked=is_local or bool(arguments.get("chart_src")),
            repository=self._text(arguments.get("chart_repo_url")),
            namespace=self._text(arguments.get("release_namespace", arguments.get("namespace"))),
            release_name=self._text(arguments.get("release_name", arguments.get("name"))),
            layers=tuple(self._layers),
            unknown=tuple(self._unknown),
            leaves_out=tuple(
                (part, key, join(self._pointer, key)) for key, part in _LEAVES_OUT.items() if arguments.get(key) is True
            ),
            in_other_clusters=bool(mapping(arguments).get("kubeconfig") or mapping(arguments).get("context")),
        )
        if is_local:
            yield from resolved(found, folder, self._files)
        else:
            yield found

    def objects(self, key: str, definition: Any) -> Iterator[Delivered | Unknown]:
        document, pointer = self._document, join(self._pointer, key)
        for layer in self._written(pointer, definition):
            data = layer.data
            if isinstance(data, dict) and data.get("kind") and data.get("apiVersion"):
                is_partial = is_computed(str(data))
                if is_partial:
                    what = f"what Ansible writes into {data['kind']}"
                    yield Unknown(document.source.locate(pointer), what, is_here=True)
                yield Delivered(document.path, document.index, data, document.text, None, is_partial, layers=(layer,))

    def _written(self, pointer: str, definition: Any) -> Iterator[Layer]:
        """What a definition has, with its places: a text, a list, or one object."""
        known, source = self._variables.resolved(definition), self._document.source
        if isinstance(known, str) and isinstance(definition, str):
            for index, data in enumerate(read_if_yaml(known)):
                yield Layer(InnerText(source, pointer, definition, data, document=index), data, "")
        elif isinstance(known, list):
            yield from (Layer(source, data, join(pointer, index)) for index, data in enumerate(known))
        else:
            yield Layer(source, known, pointer)

    def _text(self, value: Any) -> str | None:
        told = self._variables.resolved(value)
        return told if isinstance(told, str) and told and not is_computed(told) else None

    def _told(self, key: str, what: str) -> None:
        self._unknown.append(Unknown(self._document.source.locate(join(self._pointer, key)), what, is_here=True))

    def _add_file(self, path: str) -> None:
        shown = self._variables.path_of(path) if path else None
        layer = file_layer(shown, self._files) if shown is not None else None
        if layer is None:
            self._told("values_files", "values of `values_files`")
        else:
            self._layers.append(layer)

    def _add_values(self, key: str, values: Any) -> None:
        if isinstance(values, dict):
            known = self._variables.resolved(values)
            self._layers.append(ValuesLayer(known, self._document.source, join(self._pointer, key)))
            if "item" in str(values) and any(self._task.get(loop) for loop in _LOOPS):
                self._told(key, "values of a loop")
            return
        if values is None:
            return
        text = values if isinstance(values, str) else ""
        variable, shown = self._variables.layer_of(text), self._variables.file_of(text)
        layer = file_layer(shown, self._files) if shown is not None else None
        if variable is not None:
            known = self._variables.resolved(variable.value)
            layer = ValuesLayer(known, variable.document.source, variable.pointer)
        if layer is None:
            self._told(key, "values that Ansible computes")
        else:
            self._layers.append(layer)

    def _add_set(self, entries: Any) -> None:
        """`value: driver.enabled=false`, as `--set` reads it."""
        if entries is not None and not isinstance(entries, list):
            self._told("set_values", "values of `set_values`")
        for index, entry in enumerate(mappings(entries)):
            path, sign, value = (self._text(entry.get("value")) or "").partition("=")
            place, kind = join(self._pointer, "set_values", index, "value"), entry.get("value_type", "raw")
            given = value if sign and kind in _PLAIN else None
            layer = set_layer(self._document.source, place, path, given, is_text=kind == "string")
            if layer is not None:
                self._layers.append(layer)
            else:
                self._told("set_values", "values of `set_values`")


_LEAVES_OUT = {"skip_crds": DEFINITIONS, "disable_hook": HOOKS}
_PLAIN = ("raw", "string")
