"""New nodes with other GPUs than the profile says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.gpu.catalog.gpus import instance_types
from poolsmith.gpu.nodes.machine_gpus import GpuClaim, accelerator_claims, accelerator_names, gpu_claims

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.beside.neighbour_view import NeighbourPool, NeighbourView
    from poolsmith.kubernetes.repository.node_templates import NodeTemplate

RULE = RuleInfo.of("PSM804")
_MODEL = pattern(r"[A-Z]{1,2}\d{1,4}[A-Z]?")


def check(view: NeighbourView) -> Iterator[Finding[Location]]:
    for template, pool in view.pairs:
        product = view.catalog.gpus.find(pool.plan.profile.spec.gpu.product)
        known = product.product.split()[0].upper() if product is not None else ""
        for claim in gpu_claims(template, instance_types()):
            yield from _counts(template, pool, claim)
            if known and _MODEL.fullmatch(known) and all(map(_MODEL.fullmatch, claim.models)):
                yield from _models(template, pool, claim, known)
        yield from _other_accelerators(template, pool)


def _counts(template: NodeTemplate, pool: NeighbourPool, claim: GpuClaim) -> Iterator[Finding[Location]]:
    wanted = pool.plan.profile.spec.gpu.count
    others = sorted(claim.counts - {wanted})
    if others:
        only = wanted not in claim.counts
        numbers = " or ".join(map(str, others))
        yield Finding(
            message=f"{template.title} {'makes' if only else 'may make'} nodes with {numbers} GPUs "
            f"({claim.said}); pool `{pool.name}` has {wanted} on a node",
            place=template.at(claim.pointer),
            related=(pool.place("/spec/gpu/count", "the profile"),),
            severity=None if only else Severity.WARNING,
        )


def _models(template: NodeTemplate, pool: NeighbourPool, claim: GpuClaim, known: str) -> Iterator[Finding[Location]]:
    others = sorted(claim.models - {known})
    if others:
        only = known not in claim.models
        yield Finding(
            message=f"{template.title} {'makes' if only else 'may make'} nodes with the GPU {' or '.join(others)} "
            f"({claim.said}); pool `{pool.name}` has {known}",
            place=template.at(claim.pointer),
            related=(pool.place("/spec/gpu/product", "the profile"),),
            severity=None if only else Severity.WARNING,
        )


def _other_accelerators(template: NodeTemplate, pool: NeighbourPool) -> Iterator[Finding[Location]]:
    """By the cloud's own names; of names that it does not have in the catalog nothing is said."""
    wanted, known = pool.plan.accelerator, accelerator_names()
    for told in accelerator_claims(template):
        if wanted is not None and told.value in known and told.value != wanted:
            yield Finding(
                message=f"{template.title} makes nodes with the accelerator {told.value}; pool `{pool.name}` has "
                f"{wanted}",
                place=template.at(told.pointer),
                related=(pool.place("/spec/gpu/product", "the profile"),),
            )
