"""A toolkit that looks for containerd where the nodes do not have it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.gpu.catalog.container_runtimes import CONTAINERD
from poolsmith.gpu.catalog.platforms import distributions, owners, sockets_of
from poolsmith.guard.rules.setup.node_drivers import toolkit_nodes
from poolsmith.guard.rules.setup.setup_view import named, places, verb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupView

RULE = RuleInfo.of("PSM285")
NEEDS = ("nodes", "values", "release")
ENV = "toolkit.env"
STANDARD = "/run/containerd/containerd.sock"
SOCKET = "CONTAINERD_SOCKET"
_PATHS = (SOCKET, "CONTAINERD_CONFIG", "RUNTIME_CONFIG")
_BY_VERSION = ((pattern(r"-k3s\d", re.ASCII), frozenset(("k3s", "rke2"))),)
"""What the containerd of a distribution calls itself. Source: k3s-io/k3s and rancher/rke2, versions of containerd"""


def check(view: SetupView) -> Iterator[Finding[Location]]:
    if view.is_generated or view.flag("cdi.nriPluginEnabled") is True:
        return
    assert view.values is not None, "NEEDS says so"
    env = environment(view.value(ENV))
    if env is None or (view.values.partial and not view.is_set(ENV)):
        return
    by_kind: dict[frozenset[str], list[SetupNode]] = {}
    for node in toolkit_nodes(view):
        if node.runtime == CONTAINERD and (names := _distributions(node, view)):
            by_kind.setdefault(names, []).append(node)
    for names, nodes in by_kind.items():
        yield from _of(names, nodes, env, view)


def _of(
    names: frozenset[str], nodes: list[SetupNode], env: dict[str, str], view: SetupView
) -> Iterator[Finding[Location]]:
    sockets = sorted({path for name in names for path in sockets_of(name)})
    if not sockets:
        return
    kind = listed(sorted(names))
    related = places(nodes, "/spec/runtime/name", "these nodes")
    if SOCKET not in env:
        if STANDARD not in sockets:
            yield Finding(
                message=f"{named(nodes)} {verb(nodes, 'has', 'have')} the containerd of {kind}, and no variable of "
                f"`{ENV}` names its socket; the toolkit looks for it at {STANDARD}",
                place=view.value_location(ENV),
                related=related,
                help=f"add `CONTAINERD_SOCKET`, {listed(sockets)}",
            )
        return
    for name in _PATHS:
        found = owners(env[name]) if env.get(name) else frozenset()
        if found and not found & names:
            yield Finding(
                message=f"`{name}` is a path of {listed(sorted(found))}; {named(nodes)} "
                f"{verb(nodes, 'has', 'have')} the "
                f"containerd of {kind}",
                place=view.value_location(ENV),
                related=related,
                help=f"write the path of {kind}" + (f", {listed(sockets)}" if name == SOCKET else ""),
            )
            return


def _distributions(node: SetupNode, view: SetupView) -> frozenset[str]:
    """Of which distribution its containerd may be; none where nobody says."""
    if view.distribution is not None:
        return frozenset((view.distribution,)) if view.distribution in distributions() else frozenset()
    return next((names for version, names in _BY_VERSION if version.search(node.runtime_version)), frozenset())


def environment(value: Any) -> dict[str, str] | None:
    """By name; a value that comes from elsewhere is empty. None where it is no list."""
    if value is None:
        return {}
    if not isinstance(value, list):
        return None
    found = {}
    for entry in value:
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            text = entry.get("value")
            found[entry["name"]] = text if isinstance(text, str) else ""
    return found
