"""Texts inside the values that a component reads as YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import dotted
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM325")
_YAML = (("devicePlugin", "config", "data"), ("migManager", "config", "data"))
_PERHAPS_YAML = (("dcgmExporter", "config", "data"),)
"""Lists of metrics are comma-separated: there only a duplicate key is told."""
_LARGEST = 1 << 20


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    for path in (*_YAML, *_PERHAPS_YAML):
        data = document.get(path)
        for key, text in data.items() if isinstance(data, dict) else ():
            if not isinstance(text, str) or "{{" in text or len(text) > _LARGEST:
                continue
            problem = problem_of(text)
            if problem is not None and (path in _YAML or problem.reason == "duplicate-key"):
                yield told(problem, (*path, key))


def problem_of(text: str) -> YamlProblem | None:
    try:
        read_documents(text)
    except YamlProblem as problem:
        return problem
    return None


def told(problem: YamlProblem, path: tuple[str | int, ...]) -> Finding[ValuePlace]:
    line = f" (line {problem.position.line} of the text)" if problem.position else ""
    what = shorten(problem.message) if len(problem.message) > 300 else problem.message  # noqa: PLR2004 - one screen
    return Finding(place=path, message=f"the text of `{dotted(path)}`{line}: {what}", help=problem.help)
