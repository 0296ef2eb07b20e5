"""What a file is that no delivery engine applies as it stands: a template, something encrypted, another language."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any

_MARKS = ("{{", "{%", "<%", "[[", "((", "${", "%{")
_CONTROL = re.compile(
    r"\{\{-?\s*(?:if|range|with|end|else|define|template|include|block)\b|\{%|^[ \t]*%\{", re.MULTILINE
)
_LINE = re.compile(r"^[ \t]*(?:\{\{.*?\}\}|\{%.*?%\}|<%.*?%>|\$\{[^{}\n]*\}|%\{[^{}\n]*\})[ \t\r]*$", re.MULTILINE)
_INLINE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|<%.*?%>|\(\(.*?\)\)|\[\[.*?\]\]|[$%]\{[^{}\n]*\}")
_GIT_CRYPT = b"\0GITCRYPT\0"
_VAULT = (
    b"$ANSIBLE_VAULT;",
    b"-----BEGIN AGE ENCRYPTED FILE-----",
    b"-----BEGIN PGP MESSAGE-----",
    b"age-encryption.org/",
)
_SOPS_FIELDS = frozenset(("mac", "lastmodified", "version"))


LATER = "\u27eflater\u27ef"
"""Stands for what a template fills in."""


class Form(StrEnum):
    """Why a file is not judged. The words go into the summary, after a number of files."""

    CHART_TEMPLATE = "templates of Helm charts"
    TEMPLATE = "templates that another tool fills in"
    ENCRYPTED = "encrypted"
    JSONNET = "Jsonnet"
    CUE = "CUE"


OTHER_LANGUAGES = {".jsonnet": Form.JSONNET, ".libsonnet": Form.JSONNET, ".cue": Form.CUE}
"""By the end of a file's name."""


def form_of_bytes(content: bytes) -> Form | None:
    """ENCRYPTED, or None where the bytes are for somebody to read."""
    return Form.ENCRYPTED if content.startswith((_GIT_CRYPT, *_VAULT)) else None


def has_marks(text: str) -> bool:
    """Whether some template language may have left its marks."""
    return any(mark in text for mark in _MARKS)


def without_marks(text: str) -> str:
    """The text with LATER where a template fills something in; lines keep their numbers."""
    return _INLINE.sub(LATER, _LINE.sub("", text))


def has_control(text: str) -> bool:
    """Whether marks of a template decide which lines there are."""
    return _CONTROL.search(text) is not None


def is_encrypted(data: Any) -> bool:
    """A document of SOPS: its values are ciphers, its other fields are as they will be."""
    sops = data.get("sops") if isinstance(data, dict) else None
    return isinstance(sops, dict) and not _SOPS_FIELDS.isdisjoint(sops)
