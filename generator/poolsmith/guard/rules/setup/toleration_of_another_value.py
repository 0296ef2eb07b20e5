"""Tolerations with the key of a taint, and a value that the taint has not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.guard.rules.setup.setup_view import named
from poolsmith.guard.rules.setup.taint_gaps import taint_gaps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo(
    code="PSM272",
    name="toleration-of-another-value",
    applies_to="setup",
    what="A toleration has the key of the GPU nodes' taint but another value, and no other toleration covers the "
    "taint.",
    why="`Equal`, the default operator, compares values: `present` is not `true`. The taint looks tolerated, but "
    "nothing runs on the node.",
    symptom="the same as without a toleration: `DESIRED 0`, no labels, no event.",
    fix="write `operator: Exists` without a value, or the value that the taint has",
    bad="tolerations: [{key: nvidia.com/gpu, operator: Equal, value: present, effect: NoSchedule}]  # taint: =true\n",
    good="tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]\n",
    references=("NVIDIA/k8s-device-plugin issue 1934",),
)
NEEDS = ("nodes", "values")


def check(view: SetupView) -> Iterator[Finding[Location]]:
    for gap in taint_gaps(view):
        if gap.near is not None:
            yield Finding(
                message=f"{gap.what} can't run on {named(gap.nodes)}: the taint is `{gap.shown}`, and what is "
                f"tolerated is the value `{gap.near[1]}`",
                place=gap.location,
                help=f"write `{{key: {gap.taint['key']}, operator: Exists, effect: {gap.taint['effect']}}}`",
                related=gap.taint_places,
            )
