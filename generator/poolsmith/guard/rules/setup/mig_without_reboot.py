"""MIG in virtual machines of a cloud, where the MIG manager is not told to reboot nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mappings
from poolsmith.gpu.catalog.node_labels import MIG_CONFIG
from poolsmith.guard.rules.setup.setup_view import named, places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo.of("PSM277")
NEEDS = ("nodes", "values")
_ENV = "migManager.env"
_OFF = ("", "all-disabled")
_VARIABLE = "WITH_REBOOT"
_ALWAYS = "always"
_NODE_LABELS = {
    "cloud.google.com/gke-nodepool": "gke",
    "eks.amazonaws.com/nodegroup": "eks",
    "kubernetes.azure.com/agentpool": "aks",
}
"""What tells a platform where nobody names it."""


def check(view: SetupView) -> Iterator[Finding[Location]]:
    assert view.values is not None, "NEEDS says so"
    if view.flag("migManager.enabled") is False or (view.values.partial and not view.is_set(_ENV)):
        return
    labels = {key for node in view.nodes or () for key in node.labels}
    name = view.distribution or next((name for key, name in _NODE_LABELS.items() if key in labels), None)
    platform = view.catalog.distributions.get(name or "")
    partitioned = [node for node in view.nodes or () if node.labels.get(MIG_CONFIG, "") not in _OFF]
    told = any(item.get("name") == _VARIABLE for item in mappings(view.value(_ENV)))
    if platform is None or platform.mig_reboot is None or not partitioned or told:
        return
    always = platform.mig_reboot == _ALWAYS
    yield Finding(
        message=f"{named(partitioned)} of {platform.name} {'need' if always else 'may need'} a reboot for MIG, and "
        f"`{_ENV}` does not say whether the MIG manager is to do it",
        place=view.value_location(_ENV),
        help=f'write `migManager: {{env: [{{name: {_VARIABLE}, value: "true"}}]}}`'
        + ("" if always else ', or "false" where the nodes can reset their GPUs'),
        related=places(partitioned, "/spec/gpu/mig", "has a MIG layout"),
        severity=None if always else Severity.NOTE,
    )
