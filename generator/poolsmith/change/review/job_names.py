"""Under which names the jobs of a workflow report, expressions included.

Source: the documentation of GitHub on `jobs.<job_id>.name`, on matrices (a job of one is called by its values in
parentheses, unless its name says them) and on reusable workflows (their jobs stand behind a slash).
"""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.scalars import text_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from poolsmith.core.sources.yaml_reader import YamlValue

_BEGIN, _END = "${{", "}}"
_OF_MATRIX = pattern(r"matrix\.([A-Za-z_][\w-]*)", re.ASCII)
_TEXT = pattern(r"'([^']*)'")
_MOST = 256
_ANY = None
_Values = tuple[str | None, ...]


@record(kw_only=False)
class JobName:
    """Texts in lower case, and between any two of them something that nobody can tell before the job runs."""

    parts: tuple[str, ...]

    @property
    def is_certain(self) -> bool:
        return len(self.parts) == 1

    def could_be(self, name: str) -> bool:
        first, *rest = self.parts
        if not rest:
            return name == first
        last = rest.pop()
        if len(name) < len(first) + len(last) or not (name.startswith(first) and name.endswith(last)):
            return False
        at, end = len(first), len(name) - len(last)
        for part in rest:
            found = name.find(part, at, end)
            if found < 0:
                return False
            at = found + len(part)
        return True


def job_names(body: Mapping[str, Any] | None) -> frozenset[JobName]:
    """Of a workflow."""
    found: set[JobName] = set()
    for key, job in mapping(mapping(body).get("jobs")).items():
        found.update(_names(str(key), mapping(job)))
    return frozenset(found)


def taken_by(names: Collection[JobName], taken: Collection[str]) -> frozenset[str]:
    """Those of some names under which one of the jobs reports, or could."""
    return frozenset(name for name in taken if any(job.could_be(name) for job in names))


def _names(key: str, job: Mapping[str, Any]) -> Iterator[JobName]:
    name = job.get("name")
    matrix = mapping(job.get("strategy")).get("matrix")
    shown = [key] if name is None or isinstance(name, dict | list) else [key, text_of(name)]
    for text in shown:
        for parts in _evaluated(text.casefold(), matrix):
            yield JobName(parts)
            if matrix is not None:
                yield JobName((*parts[:-1], f"{parts[-1]} (", ")"))
            if "uses" in job:
                yield JobName((*parts[:-1], f"{parts[-1]} / ", ""))


def _evaluated(text: str, matrix: YamlValue) -> Iterator[tuple[str, ...]]:
    """All texts that it may become: nothing but parts that are certain stand between what nobody can tell."""
    literals, expressions = _split(text)
    choices = [_values(expression, matrix) for expression in expressions]
    size = 1
    for values in choices:
        size *= len(values)
    if size > _MOST:
        choices = [(_ANY,) for _ in choices]
    for chosen in product(*choices):
        parts = [literals[0]]
        for value, literal in zip(chosen, literals[1:], strict=True):
            if value is None:
                parts.append(literal)
            else:
                parts[-1] += value + literal
        yield tuple(parts)


def _split(text: str) -> tuple[list[str], list[str]]:
    """The texts around expressions, and the expressions."""
    literals, expressions, at = [], [], 0
    while (start := text.find(_BEGIN, at)) >= 0 and (end := text.find(_END, start)) >= 0:
        literals.append(text[at:start])
        expressions.append(text[start + len(_BEGIN) : end].strip())
        at = end + len(_END)
    return [*literals, text[at:]], expressions


def _values(expression: str, matrix: YamlValue) -> _Values:
    if (text := _TEXT.fullmatch(expression)) is not None:
        return (text[1],)
    named = _OF_MATRIX.fullmatch(expression)
    if named is None or not isinstance(matrix, dict):
        return (_ANY,)
    rows = {str(key).casefold(): value for key, value in matrix.items()}
    listed, included = rows.get(named[1], []), rows.get("include", [])
    if (
        not isinstance(listed, list)
        or not isinstance(included, list)
        or not all(isinstance(item, dict) for item in included)
    ):
        return (_ANY,)
    more = [value for item in included for key, value in item.items() if str(key).casefold() == named[1]]
    found = [*listed, *more]
    if any(isinstance(item, dict | list) or _BEGIN in text_of(item) for item in found):
        return (_ANY,)
    return tuple(dict.fromkeys(("", *(text_of(item).casefold() for item in found))))
