"""A kubelet with folders of its own, of which the operator is not told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.value_paths import value_paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo.of("PSM279")
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
