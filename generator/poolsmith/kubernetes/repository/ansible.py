"""Helm charts that tasks of Ansible install, as far as they say it in literals.

Source: docs.ansible.com, kubernetes.core.helm: `chart_version` (default: newest), `release_values` (alias `values`),
`values_files` before them, `set_values` on top.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import join
from poolsmith.kubernetes.repository.delivered import Unknown
from poolsmith.kubernetes.repository.flux_releases import last
from poolsmith.kubernetes.repository.installations import Installation, ValuesLayer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

_MODULES = ("kubernetes.core.helm", "community.kubernetes.helm", "community.general.helm", "helm")
_NESTED = ("tasks", "pre_tasks", "post_tasks", "handlers", "block", "rescue", "always")
_ELSEWHERE = ("values_files", "set_values", "loop", "with_items")
_MARKS = ("{{", "{%")
_MOST_DEPTH = 20


def ansible_charts(document: CheckedDocument, files: RepositoryFiles) -> Iterator[Installation]:
    """Those of a playbook or a list of tasks; nothing of any other document. Computed charts are left out."""
    if isinstance(document.data, list):
        for pointer, task in _tasks(document.data, "", 0):
            for module in _MODULES:
                if isinstance(arguments := task.get(module), dict):
                    found = _installation(document, task, arguments, join(pointer, module), files)
                    if found is not None:
                        yield found


def _tasks(listed: list[Any], pointer: str, depth: int) -> Iterator[tuple[str, dict[str, Any]]]:
    for index, item in enumerate(listed):
        if isinstance(item, dict):
            place = join(pointer, index)
            yield place, item
            for key in _NESTED:
                if isinstance(inner := item.get(key), list) and depth < _MOST_DEPTH:
                    yield from _tasks(inner, join(place, key), depth + 1)


def _installation(
    document: CheckedDocument, task: dict[str, Any], arguments: dict[str, Any], pointer: str, files: RepositoryFiles
) -> Installation | None:
    chart = _text(arguments.get("chart_ref"))
    if chart is None or _is_computed(chart) or arguments.get("release_state", arguments.get("state")) == "absent":
        return None
    version = arguments.get("chart_version")
    key = "values" if "values" in arguments else "release_values"
    values = arguments.get(key)
    layers = [ValuesLayer(values, document.source, join(pointer, key))] if isinstance(values, dict) else []
    unknown = [
        Unknown(document.source.locate(join(pointer, name)), f"values of `{name}`")
        for name in _ELSEWHERE
        if arguments.get(name) or (name in task and "item" in str(values))
    ]
    if values is not None and not isinstance(values, dict):
        unknown.append(Unknown(document.source.locate(join(pointer, key)), "values that Ansible computes"))
    repository = _text(arguments.get("chart_repo_url"))
    is_local = chart.startswith((".", "/")) or files.is_folder(
        posixpath.normpath(posixpath.join(posixpath.dirname(document.path), chart))
    )
    return Installation(
        chart=last(chart),
        document=document,
        pointer=join(pointer, key) if key in arguments else pointer,
        version=version if isinstance(version, str) and not _is_computed(version) else None,
        version_pointer=join(pointer, "chart_version"),
        is_locked=is_local or bool(arguments.get("chart_src")),
        repository=repository if repository is None or not _is_computed(repository) else None,
        namespace=_literal(arguments.get("release_namespace", arguments.get("namespace"))),
        release_name=_literal(arguments.get("release_name", arguments.get("name"))),
        layers=tuple(layers),
        unknown=tuple(unknown),
        in_other_clusters=bool(mapping(arguments).get("kubeconfig") or mapping(arguments).get("context")),
    )


def _is_computed(text: str) -> bool:
    return any(mark in text for mark in _MARKS)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _literal(value: Any) -> str | None:
    text = _text(value)
    return None if text is None or _is_computed(text) else text
