"""Upgrades of the stack by force, which helm-controller can't do where it applies server-side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
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

RULE = RuleInfo(
    code="PSM768",
    name="release-forced",
    severity=Severity.NOTE,
    applies_to="manifest",
    what="A HelmRelease of the stack has `upgrade.force`, which does not go with server-side apply, the way in which "
    "newer versions of Flux apply new releases.",
    why="helm-controller 1.5.0 (Flux 2.8) to 1.5.3 fails each upgrade of such a release; from 1.5.4 on it passes the "
    "field over where the release is applied server-side.",
    fix="leave `force` out; what can't be changed is replaced by hand",
    bad="upgrade: {force: true}\n",
    good="upgrade: {crds: CreateReplace}\n",
    symptom="`invalid client update option(s): cannot use server-side apply and force replace together`",
    references=("fluxcd/helm-controller issue 1453; CHANGELOG.md of 1.5.0 and 1.5.4",),
)
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
