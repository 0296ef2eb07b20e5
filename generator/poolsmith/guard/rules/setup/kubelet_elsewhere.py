"""A kubelet with folders of its own, of which the operator is not told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.value_paths import value_paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo(
    code="PSM279",
    name="kubelet-elsewhere",
    severity=Severity.WARNING,
    applies_to="setup",
    what="The kubelet of the cluster's distribution keeps its files in a folder of its own, and "
    "`hostPaths.kubeletRootDir` names another one.",
    why="dcgm-exporter asks the kubelet in that folder which pod has which GPU, and a DRA driver registers there.",
    symptom="metrics of dcgm-exporter without the labels pod and namespace; a DRA driver that never registers",
    fix="set `hostPaths.kubeletRootDir` to the folder of the distribution",
    bad="# on k0s, with v26.7.0\ndriver: {enabled: true}\n",
    good="# on k0s, with v26.7.0\nhostPaths: {kubeletRootDir: /var/lib/k0s/kubelet}\n",
    releases="from v26.7.0",
    references=("NVIDIA/gpu-operator@v26.7.0:api/nvidia/v1/clusterpolicy_types.go", "k0sproject/k0s:docs/storage.md"),
)
NEEDS = ("values", "release")
_PATH = "hostPaths.kubeletRootDir"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    assert view.values is not None, "NEEDS says so"
    platform = view.catalog.distributions.get(view.distribution or "")
    if platform is None or platform.kubelet_root is None or view.is_set(_PATH) or view.values.partial:
        return
    if view.tag in value_paths().read_in(_PATH):
        yield Finding(
            message=f"the kubelet of {platform.name} keeps its files in `{platform.kubelet_root}`, and `{_PATH}` does "
            "not say so",
            place=view.value_location(_PATH),
            help=f"write `hostPaths: {{kubeletRootDir: {platform.kubelet_root}}}`",
        )
