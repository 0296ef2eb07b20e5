"""Values files that nobody installs by name, and the release that what stands near them says they are for."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from poolsmith.gpu.values.places import CHART, FoundValues, values_file
from poolsmith.kubernetes.repository.chart_folders import CHART_FILE, chart_at
from poolsmith.kubernetes.repository.gpu_stack import CHARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.repository.model import RepositoryModel

_COMMAND = re.compile(r"gpu-operator[^\n]*?(?:\\\n[^\n]*?){0,12}--version[ =]+[\"']?(?P<version>v?\d+\.\d+\.\d+)\b")
_HELMFILE = re.compile(
    r"^[ \t]*(?:- )?chart:[ \t]*[\"']?[\w./-]*\bgpu-operator[\"']?[ \t]*\n(?:[ \t]+[^\n]*\n){0,4}?"
    r"[ \t]+version:[ \t]*[\"']?(?P<version>v?\d+\.\d+\.\d+)\b",
    re.MULTILINE,
)
"""A release in a helmfile that is a template."""
_TEXTS = (".gotmpl", ".sh", ".md", ".mk", ".just", ".txt", ".bash", ".env")
_TEXT_NAMES = frozenset(("Makefile", "justfile", "Justfile", "Taskfile.yml", "Taskfile.yaml", "Dockerfile"))
_MOST_TEXT = 1 << 18


def plain_files(model: RepositoryModel, release: str | None, named: frozenset[str]) -> Iterator[FoundValues]:
    """`release` is for all of them; without it each goes by what stands in its folder, or in the nearest one above."""
    from poolsmith.gpu.catalog.value_paths import value_paths  # on demand

    claimed = {layer.source.path for item in model.all_installations for layer in item.layers}
    newest = value_paths().tags[-1]
    for document in model.loose.documents:
        if document.path in claimed or document.is_object:
            continue
        is_named = document.path in named and release is not None
        found = values_file(document, release or newest, is_named=is_named, is_expected=release is not None)
        if found is None or _is_of_vendored_chart(document.path, model):
            continue
        yield FoundValues(
            installation=found.installation, release=release or pinned_near(document.path, model), is_file=True
        )


def _is_of_vendored_chart(path: str, model: RepositoryModel) -> bool:
    """A copy of the chart itself has its defaults in values.yaml: those are the vendor's, not the user's."""
    folder = posixpath.dirname(path)
    if posixpath.basename(path) != "values.yaml" or not model.files.is_file(posixpath.join(folder, CHART_FILE)):
        return False
    chart = chart_at(folder, model.files)
    return chart is not None and chart.name in CHARTS


def pinned_near(path: str, model: RepositoryModel) -> str | None:
    """The only release that installations and commands in the folder of a file name, else in those above it."""
    pins: dict[str, set[str]] = {}
    for item in model.all_installations:
        if item.chart == CHART and item.version:
            pins.setdefault(posixpath.dirname(item.document.path), set()).add(item.version)
    folder = posixpath.dirname(path)
    while True:
        versions = pins.get(folder) or set(_of_commands(folder, model))
        if versions:
            return next(iter(versions)) if len(versions) == 1 else None
        if not folder:
            return None
        folder = posixpath.dirname(folder)


def _of_commands(folder: str, model: RepositoryModel) -> Iterator[str]:
    """What `helm install` in scripts and READMEs of a folder says."""
    for path in model.files.files_in(folder):
        name = posixpath.basename(path)
        if name in _TEXT_NAMES or name.endswith(_TEXTS):
            text = model.files.text(path) or ""
            if "gpu-operator" in text and len(text) <= _MOST_TEXT:
                pattern = _HELMFILE if name.endswith(".gotmpl") else _COMMAND
                yield from (match["version"] for match in pattern.finditer(text))
