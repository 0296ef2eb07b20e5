"""Nodes of several container runtimes, of which the operator configures one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.container_runtimes import container_runtimes
from poolsmith.gpu.catalog.node_labels import DEPLOY_TOOLKIT
from poolsmith.guard.rules.setup.node_drivers import toolkit_nodes
from poolsmith.guard.rules.setup.setup_view import named, places, verb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupView

RULE = RuleInfo.of("PSM289")
NEEDS = ("nodes",)
_OPENSHIFT = "openshift"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    if view.is_generated or view.distribution == _OPENSHIFT:
        return
    by_runtime: dict[str, list[SetupNode]] = {}
    for node in toolkit_nodes(view):
        if node.runtime:
            by_runtime.setdefault(node.runtime, []).append(node)
    yield from _unknown(by_runtime)
    if len(by_runtime) < 2:  # noqa: PLR2004 - one alone is no mixture
        return
    preferred = container_runtimes().preferred.name
    taken = by_runtime.get(preferred)
    others = [nodes for name, nodes in sorted(by_runtime.items()) if name != preferred]
    if taken is None:
        first, second = others[0], others[1]
        yield Finding(
            message=f"{named(first)} {verb(first, 'runs', 'run')} {first[0].runtime}, {named(second)} "
            f"{second[0].runtime}; which of them the operator configures depends on the order of the nodes",
            place=second[0].place("/spec/runtime/name"),
            related=places(first, "/spec/runtime/name", f"{first[0].runtime} here"),
            help="give all GPU nodes of the cluster one runtime, or keep the toolkit off one kind of them",
        )
        return
    for nodes in others:
        yield Finding(
            message=f"{named(nodes)} {verb(nodes, 'runs', 'run')} {nodes[0].runtime}, {named(taken)} {preferred}; the "
            f"operator's toolkit configures {preferred} on all of them",
            place=nodes[0].place("/spec/runtime/name"),
            related=places(taken, "/spec/runtime/name", f"{preferred} here"),
            help=f"label these nodes `{DEPLOY_TOOLKIT}=false` before their GPUs are found, and give them a toolkit of "
            "their own",
        )


def _unknown(by_runtime: dict[str, list[SetupNode]]) -> Iterator[Finding[Location]]:
    """Takes them out: the operator counts other nodes alone.

    Source: NVIDIA/gpu-operator@v26.7.0:controllers/state_manager.go, getRuntimeString.
    """
    runtimes = container_runtimes()
    for name in sorted(by_runtime):
        if not runtimes.recognised(runtimes.to_status(name, "")):
            nodes = by_runtime.pop(name)
            yield Finding(
                message=f"{named(nodes)} {verb(nodes, 'runs', 'run')} {name}, which the operator does not know: its "
                f"toolkit configures {runtimes.preferred.name} there",
                place=nodes[0].place("/spec/runtime/name"),
                help=f"give these nodes {' or '.join(runtimes.by_operator)}, or label them `{DEPLOY_TOOLKIT}=false`",
            )
