"""Change one value in a file that a person keeps, and nothing else in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.sources import pointer as pointers
from poolsmith.sources.yaml_marks import Marks
from poolsmith.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.sources.yaml_writer import emit, quoted

if TYPE_CHECKING:
    from poolsmith.sources.yaml_reader import YamlValue


def replace_scalar(text: str, pointer: str, value: YamlValue) -> str:
    """`text` with the one-line scalar at `pointer` replaced; comments, quotes and layout elsewhere stay.

    Raises KeyError when `pointer` names no scalar, ValueError when old or new value needs several lines, or
    when other values hang on it (an anchor, an alias, a merge key).
    """
    node = Marks(text).scalar(pointer)
    if node is None:
        raise KeyError(pointer)
    written = emit(value).rstrip("\n")
    start, end = node.start_mark, node.end_mark
    several_lines = "\n" in written or start.line != end.line or node.style in ("|", ">")
    if isinstance(value, (dict, list)) or several_lines:
        raise ValueError(f"{pointer} is not a value of one line")
    before, after = text[: start.index], text[end.index :]
    if start.index == end.index and before and not before[-1].isspace():
        before += " "
    spellings = (written, quoted(value)) if isinstance(value, str) else (written,)
    for spelling in spellings:
        changed = before + spelling + after
        if _differs_only_at(pointer, value, text, changed):
            return changed
    raise ValueError(f"{pointer} can't be changed alone: other values hang on it")


def _differs_only_at(pointer: str, value: YamlValue, text: str, changed: str) -> bool:
    try:
        documents = read_documents(text)
        expected = _with(documents[0], pointers.split(pointer), value)
        return [expected, *documents[1:]] == read_documents(changed)
    except YamlProblem:
        return False


def _with(node: YamlValue, steps: tuple[str, ...], value: YamlValue) -> YamlValue:
    """A copy of `node` with another value at the end of `steps`."""
    if not steps:
        return value
    head, *rest = steps
    key = int(head) if isinstance(node, list) else head
    copy = node.copy()
    copy[key] = _with(node[key], tuple(rest), value)
    return copy
