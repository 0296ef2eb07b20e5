"""Variables in values that Rancher's Fleet takes for a template of its own."""

from __future__ import annotations

from posixpath import basename
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import BRANCHES, join
from poolsmith.gpu.catalog.stack_objects import CHARTS
from poolsmith.kubernetes.repository.installed_charts import FLEET_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.delivered import ChartInstallation

RULE = RuleInfo.of("PSM945")
_VARIABLE = pattern(r"\$\{ *([A-Z_][A-Z0-9_]*) *\}")
"""No function of Go's templates or of sprig is written in capitals."""


def check(installations: tuple[ChartInstallation, ...]) -> Iterator[Finding[Location]]:
    for item in installations:
        said = mapping(mapping(item.document.data).get("helm"))
        if item.chart not in CHARTS or basename(item.document.path) != FLEET_FILE or said.get("disablePreProcess"):
            continue
        for layer in item.layers:
            for pointer, name in _variables(layer.values, layer.pointer):
                yield Finding(
                    message=f"Fleet takes `${{{shorten(name)}}}` for a template of its own, and has no such function",
                    place=layer.source.locate(pointer),
                    help="write `disablePreProcess: true` below `helm` of the fleet.yaml",
                    subject=item.document.name,
                )


def _variables(tree: Any, top: str) -> Iterator[tuple[str, str]]:
    pending = [(top, tree)]
    while pending:
        at, node = pending.pop()
        if isinstance(node, BRANCHES):
            below = node.items() if isinstance(node, dict) else enumerate(node)
            pending += [(join(at, key), value) for key, value in below]
        elif isinstance(node, str) and (found := _VARIABLE.search(node)):
            yield at, found[1]
