"""Secrets that stand in values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.diagnostics import RuleInfo
from poolsmith.diagnostics.finding import Finding
from poolsmith.sources.pointer import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo(
    code="PSM429",
    name="secret-in-values",
    applies_to="values",
    what="Helm values contain what looks like a secret: an API key, a private key, a licence token, registry "
    "credentials, a password in an address or in a variable, or a Secret among `extraObjects`. poolsmith never "
    "prints it.",
    why="Values are committed, rendered into custom resources, and shown by every tool on the way. Whoever may read "
    "the repository or the ClusterPolicy has the secret.",
    fix="put it into a Secret outside the values, and refer to that: `imagePullSecrets`, `secretEnv`, "
    "`licensingConfig.secretName`, `valueFrom`; then revoke the one that was committed",
    bad="toolkit:\n  env:\n    - {name: NGC_API_KEY, value: nvapi-...}\n",
    good="driver: {secretEnv: proxy-credentials}\n",
    symptom="secret scanners stop the push",
    references=("NVIDIA/cloud-native-docs, install-gpu-operator-vgpu", "Kubernetes, secrets"),
)
_MOST_TEXT = 1 << 16
_DEEPEST = 60
_SHAPES = (
    ("nvapi-", re.compile(r"nvapi-[A-Za-z0-9_-]{20,}"), "an NGC API key"),
    ("PRIVATE KEY", re.compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY"), "a private key"),
    ("eyJ", re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"), "a signed token"),
    ("gh", re.compile(r"\bgh[pousr]_[A-Za-z0-9]{30,}"), "a GitHub token"),
    ("IA", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), "an AWS access key"),
    ("eyJhdXRo", re.compile(r"\beyJhdXRo[A-Za-z0-9+/]{10,}"), "registry credentials"),
    ('"auth', re.compile(r'"auths?"\s*:\s*[{"][^$<]'), "registry credentials"),
    ("://", re.compile(r"[A-Za-z]://[^/\s:@$<{]{1,200}:[^/\s@$<{*]{1,200}@"), "a password in an address"),
)
"""What a text must hold to be worth a closer look, how it then looks, and what it is."""
_NAMES = re.compile(
    r"(?:^|[_.-])(?:password|passwd|passphrase|secret|token|api_?key|private_?key|access_?key|credentials?)$",
    re.IGNORECASE,
)
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PLACEHOLDER = re.compile(
    r"^(?:\s*|<.*>|\$\{.*\}|\$\(.*\)|\{\{.*|\*+|x{3,}|ENC\[.*|vault:.*|ref\+.*|true|false|\d{1,6})$", re.DOTALL
)


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    pending: list[tuple[tuple[str | int, ...], Any]] = [((), document.values)]
    while pending:
        path, node = pending.pop()
        if len(path) > _DEEPEST:
            continue
        if isinstance(node, dict):
            if path[:1] == ("extraObjects",) and node.get("kind") == "Secret":
                yield from _secret_object(path, node)
                continue
            if (named := _named(node)) is not None:
                yield _told((*path, "value"), named)
                continue
            pending.extend(((*path, str(key)), value) for key, value in reversed(node.items()))
        elif isinstance(node, list):
            pending.extend(((*path, index), value) for index, value in reversed(list(enumerate(node))))
        elif isinstance(node, str) and (what := _what(path, node)):
            yield _told(path, what)


def _secret_object(path: tuple[str | int, ...], node: dict[str, Any]) -> Iterator[Finding[ValuePlace]]:
    for field in ("data", "stringData"):
        entries = node.get(field)
        if isinstance(entries, dict) and any(
            isinstance(text, str) and not _is_empty(text) for text in entries.values()
        ):
            yield _told((*path, field), "a Secret with its content")


def _named(node: dict[str, Any]) -> str | None:
    """A variable whose name says that its value is a secret."""
    name, value = node.get("name"), node.get("value")
    if not isinstance(name, str) or not isinstance(value, str):
        return None
    what = _shape_of(value) or ("a value for a variable of that name" if _is_secret_name(name) else None)
    return None if what is None or _is_empty(value) else what


def _what(path: tuple[str | int, ...], text: str) -> str:
    key = path[-1] if path else ""
    what = _shape_of(text)
    if not what and isinstance(key, str) and _is_secret_name(key):
        what = "a text under a key of that name"
    return "" if not what or _is_empty(text) else what


def _shape_of(text: str) -> str:
    head = text[:_MOST_TEXT]
    return next((what for hint, pattern, what in _SHAPES if hint in head and pattern.search(head)), "")


def _is_secret_name(name: str) -> bool:
    return len(name) < 200 and _NAMES.search(_WORDS.sub("_", name)) is not None  # noqa: PLR2004 - no name is longer


def _is_empty(text: str) -> bool:
    """Nothing, or what stands for something that is filled in elsewhere."""
    return _PLACEHOLDER.match(text[:_MOST_TEXT]) is not None


def _told(path: tuple[str | int, ...], what: str) -> Finding[ValuePlace]:
    return Finding(
        place=path,
        message=f"`{dotted(path)}` holds what looks like {what}",
        help="name a Secret that is made elsewhere, and revoke this one",
    )
