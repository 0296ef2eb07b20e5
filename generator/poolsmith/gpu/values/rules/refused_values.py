"""Combinations that the chart itself refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.gpu.catalog.projections import chart_refusals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM326")


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    if not document.release.is_of_operator:
        yield from _of_chart(document) if not document.partial else ()
        return
    if document.partial or document.release.line_defaults is None:
        return
    for refusal in chart_refusals(document.release.tag):
        if refusal.without_api or not all(
            any(bool(document.effective(path)) is wanted for path, wanted in term) for term in refusal.conditions
        ):
            continue
        own = [path for term in refusal.conditions for path, _ in term if document.has(path)]
        if own:
            yield Finding(place=own[0], message=f"the chart refuses this: {refusal.message}")


def _of_chart(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    """What a chart beside the operator's refuses, after those of its defaults that count."""
    for item in store.table("values/stack_refusals.yaml").get(document.release.paths.chart, ()):
        wanted = {tuple(path.split(".")): is_set for path, is_set in item["if"].items()}
        defaults = {tuple(path.split(".")): value for path, value in item.get("defaults", {}).items()}
        if all(bool(_effective(document, path, defaults)) is is_set for path, is_set in wanted.items()):
            place = next((path for path in wanted if document.has(path)), ())
            message = f"the chart {document.release.told} refuses this: {item['says']}"
            yield Finding(place=place, message=message, help=item["do"])
    configs = document.get(_CONFIGS) if document.release.paths.chart == _PLUGIN else None
    if isinstance(configs, dict) and len(configs) > 1 and _NAMED not in configs and not _has_default(document):
        message = (
            f"the chart {document.release.told} refuses this: `config.map` has several configurations and no default"
        )
        yield Finding(place=_CONFIGS, message=message, help="write `config.default` with the name of one of them")


def _effective(document: ValuesDocument, path: tuple[str, ...], defaults: dict[tuple[str, ...], Any]) -> Any:
    return document.get(path) if document.has(path) else defaults.get(path)


def _has_default(document: ValuesDocument) -> bool:
    return bool(document.get(("config", "default"))) or document.has(("config", "fallbackStrategies"))


_PLUGIN = "nvidia-device-plugin"
_CONFIGS = ("config", "map")
_NAMED = "default"
"""The configuration that the chart takes where nobody names one (`fallbackStrategies: [named, single]`)."""
