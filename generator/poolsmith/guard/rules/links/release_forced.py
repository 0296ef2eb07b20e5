"""Upgrades of the stack by force, which helm-controller can't do where it applies server-side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts.versions import at_least
from poolsmith.core.sources.pod_template import word
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.stack_objects import CHARTS
from poolsmith.kubernetes.repository.engine_versions import FLUX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView

RULE = RuleInfo.of("PSM768")
_SERVER_SIDE = "2.8"
"""The Flux that applies new releases server-side."""
_PATHS = (("upgrade", "force"), ("rollback", "force"))


def check(view: LinkView) -> Iterator[Finding[Location]]:
    if not at_least(view.engines.get(FLUX, _SERVER_SIDE), _SERVER_SIDE):
        return
    for item in view.of_kind("HelmRelease"):
        chart = word(value_at(item.spec, ("chart", "spec", "chart"))).rpartition("/")[2]
        for path in _PATHS:
            if chart in CHARTS and value_at(item.spec, path) is True and not _is_client_side(item.spec.get(path[0])):
                yield Finding(
                    message=f"{item.name} has `{'.'.join(path)}`: helm-controller 1.5.0 to 1.5.3 (Flux 2.8) fails with "
                    "it where a release is applied server-side, and later ones pass it over",
                    place=item.place(f"/spec/{'/'.join(path)}"),
                    help="leave it out, or write `serverSideApply: disabled` beside it",
                )


def _is_client_side(action: object) -> bool:
    return isinstance(action, dict) and action.get("serverSideApply") in (False, "disabled")
