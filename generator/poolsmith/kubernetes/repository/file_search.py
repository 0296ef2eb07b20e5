"""Which files of a run have to be parsed at all: bytes are searched first, and most repositories end there.

A search can only say no. With one file that may be about what is looked for, all are read: what it is applied with, and
what it takes names and values from, may stand in any of them, without a word.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from poolsmith.core.pattern import bytes_pattern
from poolsmith.core.record import record
from poolsmith.kubernetes.repository.installed_charts import is_helmfile, is_project
from poolsmith.kubernetes.repository.manifest_files import HELM, INSTALLING, TERRAFORM, is_script, is_terraform
from poolsmith.kubernetes.repository.repository_files import RepositoryFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import Listed, RepositoryFiles

_TEXTS = ("", ".json", ".env", ".txt", ".patch", ".properties", ".tpl", ".tmpl", ".gotmpl")
"""Ends of the names of files that are no YAML, and whose texts may become a part of an object."""
OTHER_ENDINGS = (*TERRAFORM, ".gotmpl")
"""Ends of the names of files that install charts, and are no YAML."""
_INSTALLING = tuple(map(str.encode, INSTALLING))
_MOST_BYTES = 1 << 20
_OF_ENGINES = (b"../", b"kustomize.toolkit.fluxcd.io", b"argoproj.io")
"""Marks of what reads files that lie elsewhere in the repository."""
_DECLARING = (b"kind: Application", b"kind: HelmRelease")
"""Marks of a chart's template that installs other charts."""
_OBJECT, _SET = b'"apiVersion"', b"ApplicationSet"
_CONTENT = bytes_pattern(rb"^(?!---\s*$)[ \t]*[^\s#]", re.MULTILINE)
"""A line of a document that is not empty."""
_DEFINITION = "CustomResourceDefinition"


@record
class Search:
    """`found` are the files that a word stands in; of the `unread` ones nobody has to know more than that they are."""

    found: tuple[str, ...]
    unread: frozenset[str]


def searched(files: RepositoryFiles, listed: Listed, may_be: Callable[[bytes], bool]) -> Search | None:
    """None where all files have to be read. `may_be` says of bytes whether they may be about what is looked for."""
    hits: list[str] = []
    plain: list[str] = []
    for path in listed.yaml:
        content = files.content(path)
        if isinstance(content, RepositoryFile) or not _is_text(content):
            continue
        if not files.are_all_listed and any(mark in content for mark in _OF_ENGINES):
            return None
        is_template = files.chart_of_template(path) is not None
        if may_be(content) or may_be(path.encode(errors="replace")):
            if is_template and any(mark in content for mark in _DECLARING):
                return None
            if not is_template and not _has_definitions_alone(files, path):
                return None
            if not is_template:
                hits.append(path)
        elif not is_template and _CONTENT.search(content) is not None:
            plain.append(path)
    if any(map(is_project, (*listed.yaml, *listed.others))):
        return None
    if _are_taken_in(files, listed, may_be):
        return None
    return Search(found=tuple(hits), unread=frozenset(plain))


def _is_text(content: bytes) -> bool:
    if content.isascii():
        return True
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _are_taken_in(files: RepositoryFiles, listed: Listed, may_be: Callable[[bytes], bool]) -> bool:
    """Whether a file that is no YAML, and may be about it, brings a chart or a part of an object."""
    names: set[bytes] = set()
    has_words = has_releases = False
    for path in listed.others:
        end = posixpath.splitext(path)[1]
        has_commands, of_terraform = is_script(path), is_terraform(path)
        if not of_terraform and end not in _TEXTS and not has_commands:
            continue
        content = files.content(path)
        if isinstance(content, RepositoryFile) or len(content) > _MOST_BYTES:
            continue
        is_hit = may_be(content)
        has_releases |= of_terraform and any(mark in content for mark in _INSTALLING)
        has_words |= of_terraform and is_hit  # a variable's default may stand in a file of its own
        if not is_hit:
            continue
        if has_commands and HELM.encode() in content:
            return True
        if (has_releases and has_words) or (not of_terraform and (is_helmfile(path) or _OBJECT in content)):
            return True
        names.add(posixpath.basename(path).encode(errors="replace"))
    if has_releases and has_words:
        return True
    return bool(names) and any(_names_any(files.content(path), names) for path in listed.yaml)


def _names_any(content: bytes | RepositoryFile, names: set[bytes]) -> bool:
    """Whether a text names one of the files, or takes in files that it does not name."""
    return isinstance(content, bytes) and (_SET in content or any(name in content for name in names))


def _has_definitions_alone(files: RepositoryFiles, path: str) -> bool:
    """Whether a file defines kinds, and no more: in their descriptions stands any word."""
    file = files.file(path)
    return file.form is None and not file.problems and all(map(_is_definition, file.documents))


def _is_definition(document: CheckedDocument) -> bool:
    return document.kind == _DEFINITION and document.api_version.startswith("apiextensions.k8s.io/")
