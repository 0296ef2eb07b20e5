"""One value of a YAML text changed, or one item of a list added, and every other byte kept: comments, quotes, order.

What was edited is read again: where anything but that one value would differ, such as behind an anchor, the edit is
refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import mapped, parent, reach, split
from poolsmith.core.sources.yaml_library import MappingNode, ScalarNode, SequenceNode
from poolsmith.core.sources.yaml_nodes import compose, mapping_key
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yaml import Mark
    from yaml.nodes import Node

_PLAIN = pattern(r"[A-Za-z][A-Za-z0-9._-]*|\d+\.\d+\.\d[A-Za-z0-9._-]*")
"""Values that YAML takes for text without quotes."""


class EditError(Exception):
    """Why a text can't be edited, in a sentence without its subject."""


def with_value(text: str, pointer: str, value: str) -> str:
    """The text with another scalar at `pointer`, in the quotes that are there. Raises EditError."""
    node = _node(text, pointer)
    if not isinstance(node, ScalarNode):
        raise EditError("has no plain value there")
    start, end = _offset(text, node.start_mark), _offset(text, node.end_mark)
    written = text[start:end].rstrip()
    if "\n" in written or written[:1] in ("|", ">", "&", "*", "!"):
        raise EditError("has no value on one line there")
    quote = written[:1] if written[:1] in ("'", '"') else ""
    new = f"{quote}{value}{quote}" if quote else _as_text(value)
    return _checked(text, text[:start] + new + text[start + len(written) :], pointer, value)


def with_key_after(text: str, pointer: str, key: str, value: str) -> str:
    """The text with one more `key: value` behind the scalar at `pointer`, in the same mapping. Raises EditError."""
    above, node = _node(text, parent(pointer)), _node(text, pointer)
    if not isinstance(above, MappingNode) or not isinstance(node, ScalarNode):
        raise EditError("has no plain value there")
    end = _offset(text, node.end_mark)
    entry = f"{key}: {_as_text(value)}"
    if above.flow_style:
        new = f"{text[:end].rstrip()}, {entry}{text[end:]}"
    else:
        line_end = text.find("\n", end)
        line_end = len(text) if line_end < 0 else line_end
        ending = "\r\n" if text[:line_end].endswith("\r") or (line_end == len(text) and "\r\n" in text) else "\n"
        indent = " " * _entry(above, split(pointer)[-1])[0].start_mark.column
        head = text[:line_end].removesuffix("\r")
        new = f"{head}{ending}{indent}{entry}{text[len(head) :]}"
    return _checked(text, new, f"{parent(pointer)}/{key}", value)


def with_first_key(text: str, pointer: str, key: str, value: str) -> str:
    """The text with one more `key: value` at the start of the mapping at `pointer`. Raises EditError."""
    return _with_first(text, pointer, key, _as_text(value), value)


def with_first_mapping(text: str, pointer: str, key: str, value: Mapping[str, str]) -> str:
    """The same with a mapping of texts, written on one line. Raises EditError."""
    return _with_first(text, pointer, key, _flow(value), dict(value))


def with_item(text: str, pointer: str, item: Mapping[str, str]) -> str:
    """The text with one more item, a mapping of texts, at the end of the list at `pointer`; without that list, with one
    at the start of the mapping that it belongs to. Raises EditError."""
    above, key = parent(pointer), split(pointer)[-1]
    node = _node(text, above)
    if not isinstance(node, MappingNode):
        raise EditError("has no mapping there")
    entry = _flow(item)
    if not any(isinstance(one, ScalarNode) and mapping_key(one) == key for one, _ in node.value):
        return _with_first(text, above, key, f"[{entry}]", [dict(item)])
    found = _entry(node, key)[1]
    if not isinstance(found, SequenceNode) or not found.value:
        raise EditError("has no list with an item there")
    end = _offset(text, found.value[-1].end_mark)
    if found.flow_style:
        new = f"{text[:end].rstrip()}, {entry}{text[end:]}"
    else:
        head, ending = text[:end].rstrip(), _line_ending(text)
        indent = " " * found.start_mark.column
        rest = text[len(head) :]
        comment, newline, below = rest.partition("\n")
        new = f"{head}{comment.rstrip()}{ending}{indent}- {entry}{ending if newline else ''}{below}"
    there, _ = reach(read_documents(text)[0], pointer)
    return _checked(text, new, pointer, [*there, dict(item)])


def _flow(item: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{name}: {_as_text(value)}' for name, value in item.items())}}}"


def _with_first(text: str, pointer: str, key: str, written: str, value: Any) -> str:
    above = _node(text, pointer)
    if not isinstance(above, MappingNode) or not above.value:
        raise EditError("has no mapping with an entry there")
    if above.flow_style:
        start = _offset(text, above.start_mark) + 1
        new = f"{text[:start]}{key}: {written}, {text[start:].lstrip(' ')}"
    else:
        start = _offset(text, above.value[0][0].start_mark)
        indent = " " * above.value[0][0].start_mark.column
        new = f"{text[:start]}{key}: {written}{_line_ending(text)}{indent}{text[start:]}"
    return _checked(text, new, f"{pointer}/{key}", value)


def _line_ending(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def without_key(text: str, pointer: str) -> str:
    """The text without the entry at `pointer`, its line or its part of a line. Raises EditError."""
    above = _node(text, parent(pointer))
    if not isinstance(above, MappingNode):
        raise EditError("has no mapping there")
    key, node = _entry(above, split(pointer)[-1])
    start, end = _offset(text, key.start_mark), _offset(text, _last(node).end_mark)
    if not above.flow_style:
        line_end = text.find("\n", end)
        new = text[: text.rfind("\n", 0, start) + 1] + ("" if line_end < 0 else text[line_end + 1 :])
    elif behind := re.match(r"\s*,\s*", text[end:]):
        new = text[:start] + text[end + behind.end() :]
    else:
        before = text[:start].rstrip()
        new = (before[:-1].rstrip() if before.endswith(",") else text[:start]) + text[end:]
    return _checked(text, new, pointer, None)


def _last(node: Node) -> Node:
    """A block ends where the next thing begins; what it holds last ends where it is written."""
    if isinstance(node, (MappingNode, SequenceNode)) and not node.flow_style and node.value:
        last = node.value[-1]
        return _last(last[1] if isinstance(last, tuple) else last)
    return node


def _as_text(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else f'"{value}"'


def _node(text: str, pointer: str) -> Node:
    """Raises EditError."""
    try:
        documents = list(compose(text))
    except YamlProblem:
        raise EditError("can't be read") from None
    if len(documents) != 1:
        raise EditError("is not one document")
    node = documents[0]
    for step in split(pointer):
        if not isinstance(node, MappingNode):
            raise EditError("has no mapping there")
        node = _entry(node, step)[1]
    return node


def _entry(mapping: MappingNode, step: str) -> tuple[Node, Node]:
    """The key and the value that stand in the mapping itself. Raises EditError."""
    for key, value in mapping.value:
        if isinstance(key, ScalarNode) and mapping_key(key) == step:
            return key, value
    raise EditError(f"has no `{step}` of its own there")


def _offset(text: str, mark: Mark) -> int:
    """By line and column: lines of YAML end at more characters than `\\n`."""
    start = 0
    for _ in range(mark.line):
        found = _LINE_END.search(text, start)
        if found is None:  # what ends with the text ends on a line of its own
            return len(text)
        start = found.end()
    return start + int(mark.column)


_LINE_END = pattern("\r\n|[\r\n\x85\u2028\u2029]")


def _checked(old: str, new: str, pointer: str, value: Any) -> str:
    """The new text, if it says the same but for that one value; None: that it is gone. Raises EditError."""
    try:
        (before,), (after,) = read_documents(old), read_documents(new)
    except (YamlProblem, ValueError):
        raise EditError("would no longer be YAML") from None
    mapping, found = reach(before, parent(pointer))
    key = split(pointer)[-1]
    if not found or not isinstance(mapping, dict):
        raise EditError("has no mapping there")
    _put(mapping, key, value)
    if before != after or mapped(before, type) != mapped(after, type):  # `==` does not tell 1 from true
        raise EditError("says that value in a way that more depends on, such as an anchor")
    return new


def _put(mapping: dict[str, Any], key: str, value: Any) -> None:
    if value is None:
        mapping.pop(key, None)
    else:
        mapping[key] = value
