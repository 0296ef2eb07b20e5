"""Nodes that no NVIDIADriver selects, and NVIDIADriver objects that select no node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import MOST_OF_ONE_RULE, Finding
from poolsmith.guard.rules.setup.driver_setup import driver_setup, shown_selector
from poolsmith.guard.rules.setup.setup_view import FEW, named, places, verb

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.driver_setup import DriverSetup
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupView

RULE = RuleInfo.of("PSM262")
NEEDS = ("nodes", "release")
_MOST_COMPARED = 1_000


def check(view: SetupView) -> Iterator[Finding[Location]]:
    setup = driver_setup(view)
    if not setup.uses_objects:
        return
    yield from _uncovered(setup)
    yield from _idle(setup)


def _uncovered(setup: DriverSetup) -> Iterator[Finding[Location]]:
    wanting: dict[bool, list[SetupNode]] = {}
    for index in setup.serving.unserved:
        node = setup.nodes[index]
        if setup.takes_driver(node) and setup.brings_own(node) is None:
            wanting.setdefault(node.driver is not None, []).append(node)
    for is_sure, nodes in sorted(wanting.items(), reverse=True):
        objects = listed([item.name for item in setup.objects], FEW) or "there is none"
        yield Finding(
            message=f"no NVIDIADriver ({objects}) selects {named(nodes)}, so that no driver is installed there",
            place=nodes[0].location,
            help="add an NVIDIADriver for them; or label them `nvidia.com/gpu.deploy.driver: pre-installed` when their "
            "image holds the driver",
            related=places(nodes[1:], "/metadata/name", "neither"),
            severity=None if is_sure else Severity.WARNING,
        )


def _idle(setup: DriverSetup) -> Iterator[Finding[Location]]:
    if not setup.nodes:
        return
    word, count = setup.nodes[0].word, len(setup.nodes)
    idle = (setup.objects[index] for index in setup.serving.idle(len(setup.objects)))
    for number, item in enumerate(item for item in idle if not item.is_default):
        nearest = _nearest(setup, item.selector) if number < MOST_OF_ONE_RULE else None
        yield Finding(
            message=f"{item.shown} selects {shown_selector(item.selector)}, and none of the {count:,} "
            f"{word}{verb(setup.nodes, '', 's')} has these labels",
            place=item.at("/spec/nodeSelector"),
            help=f"the nearest, {word} `{nearest[0].name}`, {nearest[1]}" if nearest is not None else None,
            severity=None if setup.nodes[0].is_pool else Severity.WARNING,
        )


def _nearest(setup: DriverSetup, selector: Mapping[str, str]) -> tuple[SetupNode, str] | None:
    """The node that lacks least, and what it lacks."""
    best: tuple[int, SetupNode, str] | None = None
    wanted = sorted(selector.items())
    for node in setup.nodes[:_MOST_COMPARED]:
        wrong = [(key, value) for key, value in wanted if node.labels.get(key) != value]
        if wrong and (best is None or len(wrong) < best[0]):
            key, value = wrong[0]
            has = f"has `{key}: {node.labels[key]}`" if key in node.labels else f"has no label `{key}`"
            best = (len(wrong), node, f"{has}, not `{value}`" if key in node.labels else has)
    return None if best is None else best[1:]
