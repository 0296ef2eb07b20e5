"""Labels of new nodes with values that the operator does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import did_you_mean, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.node_labels import CC_MODE, CC_MODES, DEPLOY, DEPLOY_OPERANDS, WORKLOAD, WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.templates.labelled_nodes import LabelledNodes

RULE = RuleInfo(
    code="PSM581",
    name="template-label-values",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="A description of new nodes (Karpenter, Cluster API, Talos, eksctl, Terraform and others) sets "
    "`nvidia.com/gpu.workload.config`, `nvidia.com/gpu.deploy.*` or `nvidia.com/cc.mode` to a value that the operator "
    "or its CC manager does not know.",
    why="A workload that is not known counts as the default one, `container`. In a mode that is not known GPUs stay as "
    "they are, and no Kata pod is scheduled. Operands run where their label is `true`, and all of them "
    "stay away only where `nvidia.com/gpu.deploy.operands` is exactly `false`: `no`, `False` or `disabled` are not.",
    symptom="`invalid GPU workload config` in the operator's log; operands on nodes that were to have none",
    fix="write a value that the operator knows",
    bad="kind: NodePool  # karpenter.sh/v1\nmetadata: {name: vms}\nspec:\n  template:\n    metadata:\n      labels: "
    "{nvidia.com/gpu.workload.config: vm-passthru}\n",
    good="kind: NodePool  # karpenter.sh/v1\nmetadata: {name: vms}\nspec:\n  template:\n    metadata:\n      labels: "
    "{nvidia.com/gpu.workload.config: vm-passthrough}\n",
    references=("NVIDIA/gpu-operator:controllers/state_manager.go",),
)
_SWITCH = ("true", "false", "")
_PAUSED = "paused-"
"""What the driver manager writes for a while."""


def check(nodes: tuple[LabelledNodes, ...]) -> Iterator[Finding[Location]]:
    for item in nodes:
        for mark in item.labels:
            value = mark.value
            if value is None:
                continue
            why = _why(mark.key, value)
            if why is not None:
                message, help_text = why
                yield Finding(
                    message=f"{item.title} gives nodes the label `{mark.key}` with the value `{shorten(value)}`, "
                    + message,
                    place=item.at(mark),
                    help=help_text,
                    subject=item.document.name,
                )


def _why(key: str, value: str) -> tuple[str, str | None] | None:
    """What the value does, and what to write; None for one that is known."""
    if key == CC_MODE and value not in (*CC_MODES, ""):
        return "which no CC manager knows: the GPUs keep their mode", did_you_mean(value.lower(), CC_MODES)
    if key == WORKLOAD and value not in (*WORKLOADS, ""):
        suggestion = did_you_mean(value, WORKLOADS)
        return "which no operator knows: they count as nodes for `container`", suggestion
    if not key.startswith(DEPLOY) or value in _SWITCH or value.startswith(_PAUSED):
        return None
    meant = "true" if value.lower() in ("true", "yes", "on", "1", "enabled") else "false"
    if key == DEPLOY_OPERANDS:
        return "and only `false` keeps the operands away", f"write `{meant}` in quotes, or remove the label"
    return "and the operand runs only where it is `true`", f"write `{meant}` in quotes"
