"""Charts of deliverers that say name, version and values beside each other: `data/chart_forms.yaml` has their forms."""

from __future__ import annotations

import posixpath
from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.sources.pod_template import mapping, word, words
from poolsmith.core.sources.pointer import join, reached, value_at
from poolsmith.kubernetes.repository.argo_applications import file_layer
from poolsmith.kubernetes.repository.delivered import ChartInstallation, Unknown, ValuesLayer
from poolsmith.kubernetes.repository.flux_releases import add_text, named
from poolsmith.kubernetes.repository.set_values import set_layer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

MARK = "hart"
"""Each form has it in the names of its fields."""
_Form = dict[str, Any]


@cache
def _forms() -> Mapping[str, list[_Form]]:
    """By the group and kind of an object, or by the name of a file."""
    found: dict[str, list[_Form]] = {}
    for form in store.table("chart_forms.yaml")["forms"]:
        for name in [form["file"]] if "file" in form else [f"{form['group']}/{kind}" for kind in form["kinds"]]:
            found.setdefault(name, []).append(form)
    return found


def charts_of_forms(document: CheckedDocument, files: RepositoryFiles) -> Iterator[ChartInstallation]:
    group = document.api_version.partition("/")[0]
    for form in _forms().get(f"{group}/{document.kind}") or _forms().get(posixpath.basename(document.path), []):
        for at in words(form["at"]) or [form["at"]]:
            for pointer, entry in reached(document.data, at.split(".")):
                if _is_installed(entry, form):
                    yield _Entry(document, form, pointer, entry, files).chart()


def _is_installed(entry: Any, form: _Form) -> bool:
    if not isinstance(entry, dict) or not word(value_at(entry, form["chart"].split("."))):
        return False
    only, unless = form.get("only", {}), form.get("unless", {})
    return all(entry.get(key) == said for key, said in only.items()) and not any(
        entry.get(key) == said for key, said in unless.items()
    )


class _Entry:
    def __init__(
        self, document: CheckedDocument, form: _Form, pointer: str, entry: dict[str, Any], files: RepositoryFiles
    ) -> None:
        self._document, self._form, self._top = document, form, pointer
        self._entry, self._files = entry, files
        self._layers: list[ValuesLayer] = []
        self._unknown: list[Unknown] = []

    def chart(self) -> ChartInstallation:
        self._add_files()
        self._add_values()
        for field in self._form.get("open", ()):
            if self._said(field):
                self._lack(field, f"values from `{field}`")
        name, archived = named(self._word("chart"))
        return ChartInstallation(
            chart=name,
            document=self._document,
            pointer=self._at(self._form.get("values", "")) if self._value("values") is not None else self._top,
            version=archived or self._word("version") or None,
            version_pointer=self._at(self._form["version"]),
            repository=self._word("repository") or None,
            namespace=self._word("namespace") or None,
            release_name=self._word("release") or word(self._document.metadata.get("name")) or None,
            layers=tuple(self._layers),
            unknown=tuple(self._unknown),
            in_other_clusters=bool(self._form.get("elsewhere")),
        )

    def _said(self, path: str) -> Any:
        return value_at(self._entry, path.split("."))

    def _value(self, key: str) -> Any:
        return self._said(self._form[key]) if key in self._form else None

    def _word(self, key: str) -> str:
        return word(self._value(key))

    def _at(self, path: str) -> str:
        return join(self._top, *path.split(".")) if path else self._top

    def _lack(self, path: str, what: str) -> None:
        self._unknown.append(Unknown(self._document.source.locate(self._at(path)), what, is_here=True))

    def _add_files(self) -> None:
        folder = posixpath.dirname(self._document.path)
        beside = (posixpath.join(folder, name) for name in self._form.get("beside", ()))
        self._layers += filter(None, (file_layer(path, self._files) for path in beside))
        for path in words(self._value("files")):
            layer = file_layer(posixpath.normpath(posixpath.join(folder, path)), self._files)
            if layer is None:
                self._lack(self._form["files"], f"the values file `{path}` is not among the files")
            else:
                self._layers.append(layer)

    def _add_values(self) -> None:
        values, source, place = self._value("values"), self._document.source, self._at(self._form.get("values", ""))
        if isinstance(values, dict):
            self._layers.append(ValuesLayer(values, source, place))
        elif isinstance(values, str) and "{{" in values:
            self._lack(self._form["values"], "values of a template")
        else:
            add_text(source, place, values or None, self._layers, self._unknown)
        for path, value in mapping(self._value("set")).items():
            layer = set_layer(source, join(self._at(self._form["set"]), path), path, value, escapes_commas=True)
            if layer is None:
                self._lack(self._form["set"], "a value of `set`")
            else:
                self._layers.append(layer)
