"""YAML text to nodes, and from these to plain data, where a text is none that is read line by line.

The C parser composes nodes; scalars are resolved and mappings built here, because no YAML library reads scalars as
Kubernetes does. Marks are not kept: while all is well nobody asks for them, and when somebody does, the text is
composed once more (`yaml_places`).
"""

from __future__ import annotations

import base64
import operator
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.diagnostic import Position, position_in
from poolsmith.core.diagnostics.message_text import cut, one_line
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.scalars import NotJsonError, Scalar, key_text, resolve_plain
from poolsmith.core.sources.yaml_events import deserves_counting, first_excess
from poolsmith.core.sources.yaml_library import (
    ComposerError,
    CParser,
    MappingNode,
    MarkedYAMLError,
    Node,
    ReaderError,
    ScalarNode,
    SequenceNode,
    YAMLError,
    events_of,
)
from poolsmith.core.sources.yaml_lines import CONFLICT_MARKERS
from poolsmith.core.sources.yaml_problem import YamlProblem, YamlValue, most_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MAX_DEPTH = 100
MAX_ALIASED_NODES = 10_000
MAX_DUPLICATES = 50

PLAIN, QUOTED = "plain", "quoted"
_LONGEST_KEY = 60
_LONGEST_MESSAGE = 160
_CORE = "tag:yaml.org,2002:"
_STRING, _BINARY = _CORE + "str", _CORE + "binary"
_CONFLICT = pattern(r"^(?:<{7}|={7}|>{7}|\|{7})(?:[ \t].*)?\r?$", re.MULTILINE)
_TEXT_AFTER_MARKER = pattern(r"^---(?:[ \t]+(?=[^\s#])|(?=\S))(?P<text>.*)$", re.MULTILINE)

__all__ = ("MappingNode", "Node", "NodeParser", "ScalarNode", "SequenceNode")


class NodeParser(CParser):  # type: ignore[misc]  # the C class carries no types
    """libyaml's parser and composer; a node's tag only says whether its scalar was written plain."""

    def resolve(self, kind: type[Node], _value: object, implicit: tuple[bool, bool]) -> str:
        return PLAIN if kind is ScalarNode and implicit[0] else QUOTED

    # Tags do not depend on the path. Called for every node, so they are the cheapest built-ins that take as much.
    descend_resolver = staticmethod(operator.is_)
    ascend_resolver = staticmethod(bool)


def documents_of(nodes: Iterable[Node], duplicates: list[YamlProblem] | None = None) -> list[YamlValue]:
    """The data of documents that are composed; `duplicates` as `read_documents` has them. Raises YamlProblem."""
    return [_Builder(duplicates).build(node, 0) for node in nodes]


def compose(text: str) -> Iterator[Node]:
    """The root node of each document. Raises YamlProblem."""
    _refuse_what_is_not_yaml(text)
    composed = 0
    try:
        try:
            parser = NodeParser(text)
            while parser.check_node():
                yield parser.get_node()
                composed += 1
        except ComposerError as error:
            if "duplicate anchor" not in str(error.context):
                raise
            from poolsmith.core.sources.yaml_events import compose_with_redefined_anchors  # on demand

            yield from compose_with_redefined_anchors(NodeParser(text), composed)
    except MarkedYAMLError as error:
        raise _syntax_problem(text, error) from None
    except ReaderError as error:
        raise _character_problem(text, error) from None
    except UnicodeError:
        raise YamlProblem(reason="yaml-syntax", message="a surrogate is not a character") from None
    except RecursionError:
        raise _too_deep() from None


def _refuse_what_is_not_yaml(text: str) -> None:
    if any(marker in text for marker in CONFLICT_MARKERS) and (match := _CONFLICT.search(text)):
        raise YamlProblem(
            reason="merge-conflict-marker",
            message=f"merge-conflict marker `{match[0].strip()[:40]}`",
            position=position_in(text, match.start()),
        )
    if "---" in text and (match := _TEXT_AFTER_MARKER.search(text)):
        raise YamlProblem(
            reason="text-after-document-marker",
            message="text after `---` on the same line: Kubernetes throws it away silently",
            position=position_in(text, match.start("text")),
        )
    if deserves_counting(text):
        _refuse_too_much(text)


def _refuse_too_much(text: str) -> None:
    """Looks at the stream of events, before the composer keeps nodes and recurses."""
    most = most_nodes(text)
    try:
        excess = first_excess(events_of(NodeParser(text)), nodes=most, depth=MAX_DEPTH)
    except (YAMLError, UnicodeError):
        return  # the composer reports it with its place
    if excess is not None:
        position = _position_of_mark(excess.mark)
        raise _too_deep(position) if excess.is_depth else _too_many(most, position)


def _too_many(most: int, position: Position) -> YamlProblem:
    return YamlProblem(
        reason="input-limit",
        message=f"the file holds more than {most:,} keys and values",
        position=position,
        help="split it, or take out what does not belong there",
    )


def _too_deep(position: Position | None = None) -> YamlProblem:
    return YamlProblem(
        reason="input-limit",
        message=f"nested deeper than {MAX_DEPTH} levels",
        position=position,
        help=f"write it with at most {MAX_DEPTH} levels",
    )


class _Builder:
    """Builds one document, and counts what its aliases expand to."""

    __slots__ = ("aliased", "duplicates", "seen")

    def __init__(self, duplicates: list[YamlProblem] | None) -> None:
        self.duplicates = duplicates
        self.seen: set[int] = set()
        self.aliased = 0

    def build(self, node: Node | None, depth: int, *, inside_alias: bool = False) -> YamlValue:
        if node is None:
            return None
        if inside_alias:
            self._count_alias(node)
        if isinstance(node, ScalarNode):
            return scalar_value(node)
        if depth >= MAX_DEPTH:
            raise _too_deep(position_of(node))
        identity = id(node)
        if identity in self.seen:
            if not inside_alias:
                self._count_alias(node)
            inside_alias = True
        else:
            self.seen.add(identity)
        if isinstance(node, SequenceNode):
            return [self.build(item, depth + 1, inside_alias=inside_alias) for item in node.value]
        return self._mapping(node, depth, inside_alias=inside_alias)

    def _count_alias(self, node: Node) -> None:
        self.aliased += 1
        if self.aliased > MAX_ALIASED_NODES:
            raise YamlProblem(
                reason="input-limit",
                message=f"aliases expand to more than {MAX_ALIASED_NODES} nodes",
                position=position_of(node),
                help="write the values out instead of nesting anchors",
            )

    def _mapping(self, node: Node, depth: int, *, inside_alias: bool) -> dict[str, YamlValue]:
        result: dict[str, YamlValue] = {}
        merged: list[Node] = []
        merge_key: Node | None = None
        before: frozenset[str] = frozenset()
        for key_node, value_node in node.value:
            key = _quick_key(key_node)
            if key is None and is_merge_key(key_node):
                if merge_key is not None:
                    self._refuse(_duplicate_key, "<<", key_node, merge_key)
                    continue
                merge_key, before = key_node, frozenset(result)
                merged = merge_sources(value_node)
                continue
            if key is None:
                key = mapping_key(key_node)
            if key in result:
                self._refuse(_duplicate_key, key, key_node, node)
                continue
            if value_node.__class__ is ScalarNode and not inside_alias:
                result[key] = scalar_value(value_node)
            else:
                result[key] = self.build(value_node, depth + 1, inside_alias=inside_alias)
        for source in merged:
            for key, value in self.build(source, depth + 1, inside_alias=True).items():
                if key in before and merge_key is not None:
                    self._refuse(_merged_over, key, merge_key, node)
                result.setdefault(key, value)
        return result

    def _refuse(self, problem: Callable[[str, Node, Node], YamlProblem], key: str, second: Node, first: Node) -> None:
        """`first` is the key's own node, or the mapping that it stands in."""
        if self.duplicates is not None and len(self.duplicates) >= MAX_DUPLICATES:
            return
        found = problem(key, second, _key_node(first, key) if isinstance(first, MappingNode) else first)
        if self.duplicates is None:
            raise found
        if all(found.related != other.related for other in self.duplicates):  # each key once, however often it stands
            self.duplicates.append(found)


def is_merge_key(node: Node) -> bool:
    if not isinstance(node, ScalarNode) or node.value != "<<":
        return False
    return node.tag == _CORE + "merge" or (node.tag == PLAIN and not node.style)


def merge_sources(node: Node) -> list[Node]:
    """The mappings behind a `<<`, the one that wins first. Raises YamlProblem."""
    sources = node.value if isinstance(node, SequenceNode) else [node]
    for source in sources:
        if not isinstance(source, MappingNode):
            raise YamlProblem(
                reason="yaml-syntax",
                message="a merge key `<<` takes a mapping or a list of mappings",
                position=position_of(source),
            )
    return list(sources)


def _quick_key(node: Node) -> str | None:
    """The key of nearly every mapping: a plain scalar, seen before. None: look closer."""
    if node.__class__ is ScalarNode and node.tag == PLAIN and not node.style:
        return _plain_key(node.value)
    return None


@lru_cache(maxsize=4096)
def _plain_key(text: str) -> str | None:
    if text == "<<":
        return None
    try:
        value = resolve_plain(text)
    except NotJsonError:
        return None
    return None if value is None else key_text(value)


def mapping_key(node: Node) -> str:
    """A key as Kubernetes spells it in JSON. Raises YamlProblem for keys that JSON can't have."""
    value = scalar_value(node) if isinstance(node, ScalarNode) else None
    if value is None:
        raise YamlProblem(
            reason="not-json",
            message="a mapping key is null or a collection; Kubernetes refuses it",
            position=position_of(node),
            help="use a string as the key",
        )
    return key_text(value)


def scalar_value(node: ScalarNode) -> Scalar:
    tag: str = node.tag
    text: str = node.value
    if tag == PLAIN:
        if node.style:  # the tag `!` makes libyaml call quotes plain
            return text
    elif tag in (QUOTED, _STRING) or not tag.startswith(_CORE):
        return text  # unknown tags are ignored, and such a scalar is a string
    elif tag == _BINARY:
        return _decoded(node)
    try:
        return resolve_plain(text)
    except NotJsonError:
        raise YamlProblem(
            reason="not-json",
            message=f"`{text}` has no JSON form; Kubernetes refuses it",
            position=position_of(node),
            help=f'use a finite number, or quote it: "{text}"',
        ) from None


def position_of(node: Node) -> Position:
    return _position_of_mark(node.start_mark)


def _position_of_mark(mark: Any) -> Position:
    return Position(mark.line + 1, mark.column + 1)


def _decoded(node: ScalarNode) -> str:
    """What Kubernetes makes of `!!binary`: the bytes, as a string."""
    try:
        return base64.b64decode(node.value, validate=True).decode()
    except ValueError:
        raise YamlProblem(
            reason="not-json",
            message="a `!!binary` value is not base64 of UTF-8 text; Kubernetes refuses or garbles it",
            position=position_of(node),
        ) from None


def _key_node(mapping: Node, key: str) -> Node:
    own: list[Node] = [node for node, _ in mapping.value if not is_merge_key(node)]
    return next(node for node in own if mapping_key(node) == key)


def _duplicate_key(key: str, second: Node, first: Node) -> YamlProblem:
    where = position_of(first)
    return YamlProblem(
        reason="duplicate-key",
        message=(
            f"key `{cut(key, _LONGEST_KEY)}` appears twice in one mapping (first in line {where.line}); "
            "one of the two values would be lost silently"
        ),
        position=position_of(second),
        related=where,
    )


def _merged_over(key: str, merge_key: Node, first: Node) -> YamlProblem:
    """YAML says that the mapping's own key counts, Kubernetes that the later one does."""
    where = position_of(first)
    return YamlProblem(
        reason="duplicate-key",
        message=(
            f"the merge key `<<` brings `{cut(key, _LONGEST_KEY)}`, which is already above it (in line {where.line}); "
            "Kubernetes and other YAML readers use different values"
        ),
        position=position_of(merge_key),
        related=where,
        help="write the merge key first; what follows it overrides its keys",
    )


def _syntax_problem(text: str, error: MarkedYAMLError) -> YamlProblem:
    mark = error.problem_mark or error.context_mark
    position = _position_of_mark(mark) if mark else None
    message = one_line(error.problem or str(error), _LONGEST_MESSAGE)
    help_text = None
    if mark and _line_at(text, mark.line).lstrip(" ").startswith("\t"):
        message = "a tab indents this line; YAML allows only blanks there"
        help_text = "replace the tab by blanks"
    elif error.context:
        message = f"{one_line(error.context, _LONGEST_MESSAGE)}: {message}"
    return YamlProblem(reason="yaml-syntax", message=message, position=position, help=help_text)


def _character_problem(text: str, error: ReaderError) -> YamlProblem:
    """A control character; libyaml tells its offset in UTF-8 bytes."""
    before = text.encode()[: error.position].decode(errors="ignore")
    return YamlProblem(
        reason="yaml-syntax",
        message=f"the control character U+{error.character:04X} is not allowed in YAML",
        position=position_in(text, len(before)),
        help="remove it, or write it as an escape in double quotes",
    )


def _line_at(text: str, index: int) -> str:
    lines = text.split("\n", index + 1)
    return lines[index] if index < len(lines) else ""
