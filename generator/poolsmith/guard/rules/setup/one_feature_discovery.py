"""Node Feature Discovery twice in a cluster, or never."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.finding import Finding
from poolsmith.core.diagnostics.listing import listed
from poolsmith.guard.rules.setup.discoveries import discoveries, installs_charts
from poolsmith.guard.rules.setup.wording import FEW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.view import SetupView

RULE = RuleInfo(
    code="PSM274",
    name="one-feature-discovery",
    applies_to="setup",
    what="The operator's chart installs Node Feature Discovery, and another chart or object here does so too. As a "
    "warning: nothing here installs it, although these files declare other charts of the cluster.",
    why="Two masters write and remove the same labels with different configurations: nodes lose and regain the "
    "labels on which operands depend. Two charts with the same CRDs and cluster roles overwrite each other. "
    "Without any, no node is known to have a GPU.",
    symptom="operand pods that are deleted and created again without a visible reason; `invalid ownership metadata` "
    "from Helm; without any: `No GPU node can be found in the cluster` in the operator's log.",
    fix="keep one: `nfd: {enabled: false}` in the values of all charts but one",
    bad="nfd: {enabled: true}  # beside a HelmRelease of node-feature-discovery\n",
    good="nfd: {enabled: false}\n",
    references=(
        "NVIDIA/gpu-operator issue 87 and pull request 1052",
        "kaito-project/kaito pull request 1810",
        "NVIDIA/aicr pull request 518",
    ),
)
NEEDS = ("values",)
_PATH = "nfd.enabled"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    enabled, others = view.flag(_PATH), discoveries(view)
    shown = listed([item.what for item in others], FEW)
    if enabled and others:
        yield Finding(
            message=f"the operator's chart installs Node Feature Discovery, and so does {shown}",
            place=view.value_location(_PATH),
            help="write `nfd: {enabled: false}` here, or remove the other one",
            related=tuple(item.at("the other one") for item in others[:FEW]),
        )
    elif enabled is False and len(others) > 1:
        yield Finding(
            message=f"Node Feature Discovery is installed {len(others)} times: {shown}",
            place=others[1].at(),
            help="keep one",
            related=(others[0].at("the first one"),),
        )
    elif enabled is False and not others and _should_be_here(view):
        yield Finding(
            message="the operator's chart does not install Node Feature Discovery, and nothing here does",
            place=view.value_location(_PATH),
            help="remove `nfd.enabled: false`, or declare the installation beside the cluster's other charts",
            severity=Severity.NOTE,  # another repository may
        )


def _should_be_here(view: SetupView) -> bool:
    """Nodes that it labelled, and profiles that say who installs it, tell that it is somewhere."""
    labelled = any(key.startswith("feature.node.kubernetes.io/") for node in view.nodes or () for key in node.labels)
    return not view.is_generated and not labelled and installs_charts(view)
