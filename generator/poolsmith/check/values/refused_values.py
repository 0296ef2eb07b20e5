"""Combinations that the chart itself refuses."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.catalog import store
from poolsmith.catalog.versions import version_key
from poolsmith.diagnostics import RuleInfo
from poolsmith.model.value_finding import ValueFinding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.check.values.document import ValuesDocument

RULE = RuleInfo(
    code="PSM326",
    name="refused-values",
    applies_to="values",
    what="Helm values, put on the chart's defaults, combine what the chart refuses to render.",
    why="The render fails, in the GitOps engine and not in the pull request, and the release stays as it was.",
    fix="change one of the values",
    bad="cdi:\n  enabled: false\n  nriPluginEnabled: true\n",
    good="cdi:\n  enabled: true\n  nriPluginEnabled: true\n",
    references=("templates/validations.yaml of the chart at its tag",),
)


def check(document: ValuesDocument) -> Iterator[ValueFinding]:
    if document.partial or document.release.line_defaults is None:
        return
    key = version_key(document.release.tag)
    for refusal in _refusals():
        if "withoutApi" in refusal or key < version_key(refusal["since"]):
            continue
        if "before" in refusal and key >= version_key(refusal["before"]):
            continue
        terms = [[_term(word) for word in term.split("|")] for term in refusal["if"]]
        if not all(any(_holds(path, wanted, document) for path, wanted in term) for term in terms):
            continue
        own = [path for term in terms for path, _ in term if document.has(path)]
        if own:
            yield ValueFinding(rule=RULE, path=own[0], message=f"the chart refuses this: {refusal['message']}")


@cache
def _refusals() -> tuple[dict[str, Any], ...]:
    return tuple(store.read_yaml("projection/overlay.yaml")["refusals"])


def _term(word: str) -> tuple[tuple[str, ...], bool]:
    return tuple(word.removeprefix("!").split(".")), not word.startswith("!")


def _holds(path: tuple[str, ...], wanted: bool, document: ValuesDocument) -> bool:
    value: Any = document.effective(path)
    return bool(value) is wanted
