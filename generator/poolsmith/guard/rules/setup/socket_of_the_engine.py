"""The containerd of the distribution whose own engine delivers the operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.platforms import distributions, sockets_of
from poolsmith.guard.rules.setup import paths_of_another_distribution as with_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo.of("PSM586")
NEEDS = ("values",)


def check(view: SetupView) -> Iterator[Finding[Location]]:
    """Where nodes or profiles say the distribution, the rule over them speaks."""
    assert view.values is not None, "NEEDS says so"
    told = view.distribution
    names = view.engine_of if told is None else frozenset((told,)) & {*distributions()}
    sockets = sorted({path for name in names for path in sockets_of(name)})
    is_standard = not sockets or with_nodes.STANDARD in sockets
    if is_standard or (told and view.nodes is not None) or view.flag("cdi.nriPluginEnabled") is True:
        return
    env = with_nodes.environment(view.value(with_nodes.ENV))
    is_open = view.values.partial and not view.is_set(with_nodes.ENV)
    if env is None or is_open or view.flag("toolkit.enabled") is False or with_nodes.SOCKET in env:
        return
    who = "alone have the engine that installs this" if told is None else "is what the files beside it set up"
    yield Finding(
        message=f"{listed(sorted(names))} {who}, and no variable of "
        f"`{with_nodes.ENV}` names the socket of its containerd; the toolkit looks for it at {with_nodes.STANDARD}",
        place=view.value_location(with_nodes.ENV),
        help=f"add `CONTAINERD_SOCKET`, {listed(sockets)}, as the distribution's guide has it",
    )
