"""Nodes whose container runtime is too old for how the operator hands out devices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts.versions import is_older
from poolsmith.core.pattern import pattern
from poolsmith.guard.rules.setup.node_drivers import toolkit_nodes
from poolsmith.guard.rules.setup.setup_view import named, places, verb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.catalog.container_runtimes import RuntimeEntry
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupView

RULE = RuleInfo.of("PSM297")
NEEDS = ("nodes", "values", "release")
_CDI, _NRI = "cdi.enabled", "cdi.nriPluginEnabled"
_VERSION = pattern(r"v?(\d+(?:\.\d+){0,2})", re.ASCII)


def check(view: SetupView) -> Iterator[Finding[Location]]:
    if view.is_generated:
        return
    by_version: dict[tuple[str, str], list[SetupNode]] = {}
    for node in toolkit_nodes(view):
        found = _VERSION.match(node.runtime_version)
        if found is not None:
            by_version.setdefault((node.runtime, found[1]), []).append(node)
    for (name, version), nodes in by_version.items():
        entry = view.catalog.runtimes.by_name.get(name)
        lacking = None if entry is None else _lacking(view, entry, version)
        if lacking is not None:
            path, what, advice = lacking
            yield Finding(
                message=f"{named(nodes)} {verb(nodes, 'runs', 'run')} {name} {version}, and `{path}` needs {what}",
                place=nodes[0].place("/spec/runtime/version"),
                help=advice,
                related=(
                    view.value_location(path, "asked for here"),
                    *places(nodes[1:], "/spec/runtime/version", name),
                ),
            )


def _lacking(view: SetupView, entry: RuntimeEntry, version: str) -> tuple[str, str, str] | None:
    """The value that the version does not go with, what it needs, and a way out."""
    if view.flag(_NRI) and not entry.has_nri(version):
        needs = f"{entry.name} {entry.nri_ranges}" if entry.nri else view.catalog.runtimes.with_nri
        return _NRI, needs, f"upgrade these nodes, or write `{_NRI}: false`"
    if view.flag(_CDI) and is_older(version, entry.cdi_minimum):
        return _CDI, f"{entry.name} {entry.cdi_minimum}", f"upgrade these nodes, or write `{_CDI}: false`"
    return None
