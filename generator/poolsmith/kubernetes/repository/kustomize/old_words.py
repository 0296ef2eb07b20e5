"""`yes`, `off` and their like: booleans where Kubernetes reads YAML, texts where kustomize does.

Source: go.yaml.in/yaml v3, resolve.go, which kustomize reads with; what it prints has quotes around them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pointer import join
from poolsmith.kubernetes.repository.delivered import delivered

if TYPE_CHECKING:
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.kubernetes.repository.delivered import Delivered
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument

_WORDS = frozenset(
    word for plain in ("y", "n", "yes", "no", "on", "off") for word in (plain, plain.capitalize(), plain.upper())
)
_WRITTEN = re.compile(
    rf"(?:[:?-][ \t]+|[,\[{{][ \t]*|^[ \t]*)(?:{'|'.join(sorted(_WORDS))})[ \t]*(?:#|[,\]}}]|\r?$)", re.MULTILINE
)


def has_old_words(text: str) -> bool:
    """Whether there may be any."""
    return _WRITTEN.search(text) is not None


def as_texts(document: CheckedDocument) -> Delivered:
    """The document with these words as texts."""
    item = delivered(document)
    data = texts_of(document.data, document.source)
    return item if data is document.data else delivered(document, data)


def texts_of(data: Any, source: SourceFile) -> Any:
    """Data with these words as texts."""
    return _texts(data, "", source)


def _texts(node: Any, pointer: str, source: SourceFile) -> Any:
    if isinstance(node, bool):
        written = source.written(pointer)
        return written if written in _WORDS else node
    if isinstance(node, dict):
        put = {key: _texts(value, join(pointer, key), source) for key, value in node.items()}
        return put if any(put[key] is not value for key, value in node.items()) else node
    if isinstance(node, list):
        items = [_texts(value, join(pointer, at), source) for at, value in enumerate(node)]
        return items if any(new is not old for new, old in zip(items, node, strict=True)) else node
    return node
