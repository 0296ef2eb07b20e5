"""Taints of new nodes that differ from what a profile says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.fleet.profiles.node_pool import Taint
    from poolsmith.guard.rules.beside.neighbour_view import NeighbourPool, NeighbourView
    from poolsmith.kubernetes.repository.node_template_marks import TaintMark
    from poolsmith.kubernetes.repository.node_templates import NodeTemplate

RULE = RuleInfo.of("PSM802")
_PREFERRED = "PreferNoSchedule"
_READY = ("not-ready", "uninitialized", "unregistered")
"""Ends of keys by which other components keep pods off until they are ready; they remove their taints themselves."""


def check(view: NeighbourView) -> Iterator[Finding[Location]]:
    known = view.catalog.scheduling
    for template, pool in view.pairs:
        found = [*template.taints, *template.startup]
        wanted = [*pool.plan.taints, *pool.startup]
        if not template.is_partial:
            yield from _missing(template, pool, found)
        yield from _misplaced(template, pool)
        identities = {(taint.key, taint.effect.value): taint for taint in wanted}
        for mark in found:
            same = identities.get(mark.identity)
            if same is not None:
                yield from _different(template, pool, mark, same)
            elif not (
                mark.effect == _PREFERRED
                or mark in template.startup
                or mark.key in known.passing_taints
                or known.startup_taints.known_by_prefix(mark.key)
                or mark.key.endswith(_READY)
            ):
                yield _unknown(template, pool, mark)


def _missing(template: NodeTemplate, pool: NeighbourPool, found: Iterable[TaintMark]) -> Iterator[Finding[Location]]:
    there = {mark.identity for mark in found}
    for field, pointer, taints in (
        ("taints", template.taints_at, pool.plan.taints),
        ("startupTaints", template.startup_at or template.taints_at, pool.startup),
    ):
        for index, taint in enumerate(taints):
            if (taint.key, taint.effect.value) not in there:
                yield Finding(
                    message=f"{template.title} is for pool `{pool.name}`, and does not have its taint `{_text(taint)}`",
                    place=template.at(pointer),
                    help="add it, or remove it from the profile",
                    related=(pool.place(f"/spec/nodes/{field}/{index}", "the profile has it"),),
                )


def _misplaced(template: NodeTemplate, pool: NeighbourPool) -> Iterator[Finding[Location]]:
    """Of tools that keep the two apart."""
    if template.startup_at is None:
        return
    permanent = {(taint.key, taint.effect.value) for taint in pool.plan.taints}
    passing = {(taint.key, taint.effect.value) for taint in pool.startup}
    for marks, others, is_wrong, right in (
        (template.taints, template.startup, passing, "a startup taint, which something removes"),
        (template.startup, template.taints, permanent, "permanent"),
    ):
        there = {mark.identity for mark in others}
        for mark in marks:
            if mark.identity in is_wrong and mark.identity not in there:
                wrong = "permanent" if marks is template.taints else "a startup taint"
                yield Finding(
                    message=f"{template.title} says that the taint `{mark.key}` is {wrong}; in the profile of pool "
                    f"`{pool.name}` it is {right}",
                    place=template.at(mark.pointer),
                    help="move it to the other list, here or in the profile",
                    related=(pool.place("/spec/nodes", "the profile's taints"),),
                )


def _different(
    template: NodeTemplate, pool: NeighbourPool, mark: TaintMark, wanted: Taint
) -> Iterator[Finding[Location]]:
    if mark.value is not None and mark.value != wanted.value:
        yield Finding(
            message=f"{template.title} gives nodes of pool `{pool.name}` the taint `{mark.key}` with "
            f"{_value(mark.value)}; its profile has {_value(wanted.value)}, and what is generated goes by that",
            place=template.at(mark.pointer),
            help="write the same value in both",
            related=(pool.place("/spec/nodes", "the profile's taints"),),
        )


def _unknown(template: NodeTemplate, pool: NeighbourPool, mark: TaintMark) -> Finding[Location]:
    return Finding(
        message=f"{template.title} gives nodes of pool `{pool.name}` the taint `{mark.key}` with the effect "
        f"{mark.effect}, which its profile does not have: what is generated tolerates the profile's taints",
        place=template.at(mark.pointer),
        help="add it to `nodes.taints` of the profile (or `startupTaints`, if something removes it), or remove it here",
        related=(pool.place("/spec/nodes", "the pool"),),
    )


def _text(taint: Taint) -> str:
    return f"{taint.key}{'=' + taint.value if taint.value else ''}:{taint.effect.value}"


def _value(value: str) -> str:
    return f"the value `{value}`" if value else "no value"
