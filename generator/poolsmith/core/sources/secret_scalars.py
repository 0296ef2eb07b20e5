"""The secrets of one file: their texts, and its lines as they may be shown.

Where the file is YAML, its nodes tell; a text that is none, or that stands inside of a value, is looked at line by
line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.masking import (
    MASK,
    NO_SECRETS,
    PULL_SECRETS,
    KnownSecrets,
    assigned_parts,
    is_flag,
    is_misspelt_secret_name,
    is_object_name,
    is_placeholder,
    is_secret,
    is_secret_name,
    masked_line,
    names_something_like_a_secret,
    shape_of,
    shaped_parts,
)
from poolsmith.core.diagnostics.message_text import printable
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources import yaml_nodes
from poolsmith.core.sources.scalars import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from poolsmith.core.sources.yaml_nodes import Node, ScalarNode

_WORTH = (
    r"passw|passphrase|pwd|secret|token|key(?!(?<=\{key): [a-z./-]*[,}\n])|cred|docker|auth"
    r"|licen[cs]e|nvapi-|gh[pousr]_|github_|glpat|ia[a-z0-9]{16}"
    r"|eyj|@|xox|hf_|dckr_|npm_|pypi-|hvs\.|bearer|basic|enc\[|\?[\w-]+=|&[\w-]+=|;[\w-]+="
)
"""What a text must have that holds a secret. The `{key: nvidia.com/gpu,` of a taint is none: that name alone is no
secret's, and no random text is without a digit."""
_WORTH_A_LOOK = pattern(_WORTH, re.IGNORECASE)
_SMALL_WORTH_A_LOOK = pattern(_WORTH)
"""For texts in small letters: each branch begins with one sign, by which places are found in an eighth of the time."""
_LONG = 400
"""Characters of a line that is looked at whatever it says: too long a line is not shown as a whole."""
_SHORTEST = 6
_SHORTEST_ALONE = 4
_HELD = ("data", "stringData")
_BLOCK = pattern(r"(?P<indent>\s*)(?:- )*[\"']?(?P<key>[\w./-]+)[\"']?:(?:\s+(?P<text>\S.*))?$")
_NAMED = pattern(r"\s*(?:- )?[\"']?name[\"']?:\s*[\"']?(?P<name>[\w.-]+)")
_SECRET_KIND = pattern(
    r"^[^\S\n]*+(?:- )?[\"']?kind[\"']?:\s*+[\"']?Secret[\"']?[^\S\n]*+(?:,[^\S\n]*+)?$", re.MULTILINE
)
_ON_A_LINE = pattern(
    r"[\"']?name[\"']?:\s{0,20}[\"']?(?P<name>[\w.-]{1,200}+)[\"']?\s{0,20}+,.{0,200}?[\"']?value[\"']?:\s{0,20}(?=\S)"
)
_QUOTED = pattern(r'[:\[,]\s{0,9}"([^"]{1,4000})"(?!\s*:)')
_WORD = pattern(r"[^\s{}\[\],:\"']{4,}")
_KEY_ENDS = "-----END"
_KEY_BEGINS = pattern(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY")


@record(kw_only=False)
class Secrets:
    """`texts` are those that no message may hold. `lines` are the lines, numbered from 1, that can't be shown as they
    are, with what is shown in their place."""

    texts: frozenset[str] = frozenset()
    lines: Mapping[int, str] | None = None
    known: KnownSecrets = NO_SECRETS

    def shown(self, number: int, line: str) -> str:
        """A line of the file without its secrets."""
        found = self.lines.get(number) if self.lines is not None else None
        return self.known.without(masked_line(line if found is None else found))


NONE = Secrets()


def secrets_of(text: str, documents: Iterable[Node | None], lines: Sequence[str]) -> Secrets:
    """Of a text that could be composed; `lines` are those of the text."""
    if not _is_worth_a_look(text):
        return NONE
    scalars = [node for document in documents if document is not None for node in _secret_scalars(document)]
    if not scalars:
        return NONE
    texts: set[str] = set()
    hidden: dict[int, str] = {}
    for node, inner in sorted(scalars, key=_place, reverse=True):
        if inner is None:
            texts.update(_pieces(node.value))
        else:
            texts.update(inner.texts)
        _hide(node, inner, lines, hidden)
    return Secrets(frozenset(texts), hidden, KnownSecrets(texts))


def secrets_held(data: Any) -> KnownSecrets:
    """Of a Secret, or of a list with some: all that they hold, however their file is written."""
    texts: set[str] = set()
    pending = [(data, False)]
    while pending:
        node, held = pending.pop()
        if isinstance(node, dict):
            keys = _HELD if node.get("kind") == "Secret" else ()
            pending += [(value, held or key in keys) for key, value in node.items()]
        elif isinstance(node, list):
            pending += [(value, held) for value in node]
        elif held and not is_placeholder(text := text_of(node)):
            texts.update(_pieces(text))
    return KnownSecrets(texts)


def secrets_of_text(text: str) -> Secrets:
    """Of a text that is no YAML, or not known to be: what its lines look like."""
    if not _is_worth_a_look(text):
        return NONE
    scan = _LineScan(_SECRET_KIND.search(text) is not None)
    is_told = _is_worth_a_look if names_something_like_a_secret(text) else _has_a_word
    for number, line in enumerate(text.split("\n"), 1):
        if scan.is_open or len(line) > _LONG or is_told(line):
            scan.take(number, line)
    return Secrets(frozenset(scan.texts), scan.hidden, KnownSecrets(scan.texts))


def _is_worth_a_look(text: str) -> bool:
    return _has_a_word(text) or names_something_like_a_secret(text)


def _has_a_word(text: str) -> bool:
    """In any case; only of ASCII `lower` tells all that an expression takes for the same letter."""
    found = _SMALL_WORTH_A_LOOK.search(text.lower()) if text.isascii() else _WORTH_A_LOOK.search(text)
    return found is not None


class _LineScan:
    """Looks at one line after the other. What is deeper than the key of a secret belongs to it."""

    def __init__(self, has_secret: bool) -> None:
        self.texts: set[str] = set()
        self.hidden: dict[int, str] = {}
        self._has_secret = has_secret
        self._within = -1
        self._in_key = False
        self._by_name = False
        self._pulls = -1

    @property
    def is_open(self) -> bool:
        """Whether the next line may belong to what the last ones began, whatever it says."""
        return self._has_secret or self._in_key or self._by_name or self._within >= 0 or self._pulls >= 0

    def take(self, number: int, line: str) -> None:
        indent = len(line) - len(line.lstrip(" "))
        if line.strip() and indent <= self._within:
            self._within = -1
        if self._in_key or self._within >= 0:
            self._in_key = self._in_key and _KEY_ENDS not in line
            self._keep(line)
            self.hidden[number] = f"{line[:indent]}{MASK}"
            return
        if self._pulls >= 0 and line.strip() and not line.lstrip().startswith("#"):
            if indent > self._pulls or (indent == self._pulls and line.lstrip().startswith("- ")):
                if not _are_object_names(line.strip().removeprefix("- ")):
                    self._keep(line.strip().removeprefix("- ").partition(":")[2] or line)
                    self.hidden[number] = f"{line[:indent]}{MASK}"
                return
            self._pulls = -1
        self._in_key = _KEY_BEGINS.search(line) is not None and _KEY_ENDS not in line
        shown = self._shown(line, indent)
        if shown != line:
            self.hidden[number] = shown

    def _shown(self, line: str, indent: int) -> str:
        key, name = _BLOCK.match(line), _NAMED.match(line)
        by_name = self._by_name
        self._by_name = is_secret_name(name["name"]) if name is not None else by_name and key is not None
        pair = _ON_A_LINE.search(line)
        if pair is not None and is_secret_name(pair["name"]):
            self._keep(line[pair.end() :].rstrip("}, "))
            return f"{line[: pair.end()]}{MASK}"
        if key is None:
            self.texts.update(_parts(shaped_parts(line)))
            return masked_line(line)
        value = (key["text"] or "").strip()
        bare = value.strip("\"'")
        is_block = value[:1] in ("|", ">")
        if key["key"] == PULL_SECRETS:
            self._pulls = indent
            if value and not value.startswith("#") and not _are_object_names(value):
                self._keep(value)
                return f"{line[: key.start('text')]}{MASK}"
        is_named = (
            is_secret_name(key["key"]) or is_misspelt_secret_name(key["key"]) or (by_name and key["key"] == "value")
        )
        if self._has_secret and key["key"] in _HELD:
            self._within = indent
            self.texts.update(_WORD.findall(value))
            return f"{line[: key.start('text')]}{MASK}" if value else line
        if is_named and is_block:
            self._within = indent
        elif value[:1] not in ("[", "{", "&", "*", "#", "") and (
            is_secret(key["key"], bare) or (is_named and bare[:1] != "/" and not is_placeholder(bare))
        ):
            self._within = indent
            self._keep(value)
            return f"{line[: key.start('text')]}{MASK}"
        self.texts.update(_parts(shaped_parts(line)))
        return masked_line(line)

    def _keep(self, text: str) -> None:
        self.texts.update(_pieces(text.strip().strip("\"'")))


def _are_object_names(written: str) -> bool:
    """Whether that is all that stands there: `[a, b]`, `[{name: a}]`, `name: a` or `a`."""
    inner = written.partition(" #")[0].strip()
    if inner.startswith("["):
        inner = inner[1:].removesuffix("]")
    items = [item.strip() for item in inner.split(",")] if inner.strip() else []
    return all(is_object_name(_object_name(item)) for item in items)


def _object_name(item: str) -> str:
    bare = item.removeprefix("{").removesuffix("}").strip()
    key, colon, name = bare.partition(":")
    return (name if colon and key.strip().strip("\"'") == "name" else bare).strip().strip("\"'")


def _place(found: tuple[ScalarNode, Secrets | None]) -> tuple[int, int]:
    mark = found[0].start_mark
    return mark.line, mark.column


def _secret_scalars(root: Node) -> Iterator[tuple[ScalarNode, Secrets | None]]:
    """Scalars that are secrets, and texts of several lines with the secrets in them."""
    pending: list[tuple[Node, str, bool]] = [(root, "", False)]
    seen: set[int] = set()
    while pending:
        node, name, held = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml_nodes.ScalarNode):
            yield from _scalar(node, name, held=held)
        elif isinstance(node, yaml_nodes.MappingNode):
            words = {key.value: value.value for key, value in node.value if _is_word(key) and _is_word(value)}
            named = words.get("name", "") if "value" in words else ""
            is_secret_object = words.get("kind") == "Secret"
            for key, value in node.value:
                word = key.value if _is_word(key) else ""
                if word == PULL_SECRETS:
                    yield from _no_object_names(value)
                    continue
                below = held or (is_secret_object and word in _HELD)
                pending.append((value, named if word == "value" and named else word, below))
        elif isinstance(node, yaml_nodes.SequenceNode):
            before = ""
            for item in node.value:
                pending.append((item, "token" if is_flag(before) else "", held))
                before = item.value if _is_word(item) else ""


def _no_object_names(node: Node) -> Iterator[tuple[ScalarNode, Secrets | None]]:
    """All scalars below `imagePullSecrets` that name no Secret."""
    items = node.value if isinstance(node, yaml_nodes.SequenceNode) else [node]
    for item in items:
        if isinstance(item, yaml_nodes.MappingNode):
            for key, value in item.value:
                if not (_is_word(key) and key.value == "name" and _is_word(value) and is_object_name(value.value)):
                    yield from _all_scalars(value, key)
        elif not (_is_word(item) and isinstance(node, yaml_nodes.SequenceNode) and is_object_name(item.value)):
            yield from _all_scalars(item, None)


def _all_scalars(node: Node, key: Node | None) -> Iterator[tuple[ScalarNode, Secrets | None]]:
    """A key without a value may be the secret."""
    pending, seen = [node], set()
    while pending:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, yaml_nodes.ScalarNode):
            if not is_placeholder(one.value):
                yield one, None
            elif not one.value and key is not None and isinstance(key, yaml_nodes.ScalarNode) and key.value != "name":
                yield key, None
        elif isinstance(one, yaml_nodes.MappingNode):
            pending += [part for pair in one.value for part in pair]
        elif isinstance(one, yaml_nodes.SequenceNode):
            pending += one.value


def _is_word(node: Node) -> bool:
    return isinstance(node, yaml_nodes.ScalarNode)


def _scalar(node: ScalarNode, name: str, *, held: bool) -> Iterator[tuple[ScalarNode, Secrets | None]]:
    text: str = node.value
    if (held and not is_placeholder(text)) or is_secret(name, text):
        yield node, None
    elif "\n" in text:
        inner = secrets_of_text(text)
        if inner.texts or inner.lines:
            yield node, inner
        elif shape_of(text):
            yield node, None
    elif parts := (*shaped_parts(text), *assigned_parts(text)):
        yield node, Secrets(frozenset(_parts(parts)))


def _parts(found: Iterable[str]) -> Iterator[str]:
    """What has the shape of a secret, and the password behind a name of a user."""
    for part in found:
        yield from _pieces(part)
        if part.find(":") > 0 and not part.startswith(("{", '"')):
            yield from _pieces(part.partition(":")[2])


def _pieces(text: str) -> Iterator[str]:
    """A secret, its lines, and how messages would write it."""
    if len(text) >= _SHORTEST_ALONE:
        yield text
        yield printable(text)
        yield " ".join(text.split())
    if '"' in text:
        yield from (word for word in _QUOTED.findall(text) if len(word) >= _SHORTEST)
    if "\n" in text:
        yield from (line.strip() for line in text.split("\n") if len(line.strip()) >= _SHORTEST)


def _hide(node: ScalarNode, inner: Secrets | None, lines: Sequence[str], hidden: dict[int, str]) -> None:
    start, end = node.start_mark, node.end_mark
    if start.line >= len(lines):
        return
    if inner is not None and not inner.lines:  # a shape inside of a line, which is masked by itself
        return
    first, is_block = start.line, node.style in ("|", ">")
    if inner is not None and is_block:
        for number, shown in (inner.lines or {}).items():
            if (at := first + number) < len(lines):
                line = lines[at]
                hidden[at + 1] = f"{line[: len(line) - len(line.lstrip(' '))]}{shown.lstrip(' ')}"
        return
    line = hidden.get(first + 1, lines[first])
    hidden[first + 1] = line[: start.column] + MASK + (line[end.column :] if end.line == first else "")
    for at in range(first + 1, min(end.line + 1, len(lines))):
        line = lines[at]
        indent = len(line) - len(line.lstrip(" "))
        if at < end.line or end.column > indent:
            hidden[at + 1] = f"{line[:indent]}{MASK}{line[end.column :] if at == end.line else ''}"
