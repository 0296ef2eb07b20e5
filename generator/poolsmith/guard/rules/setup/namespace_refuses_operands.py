"""The operator's namespace, where Pod Security admission refuses its pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.guard.rules.setup.privileged_namespace import ENFORCE, PRIVILEGED, described, label_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo.of("PSM421")
NEEDS = ("values",)
_PATH = "psa.enabled"
_EXEMPT = "kube-system"
"""Clusters that enforce a level by default leave it out."""


def check(view: SetupView) -> Iterator[Finding[Location]]:
    for item, level in described(view):
        if item.own_name != view.namespace or level == PRIVILEGED:
            continue
        label = f"add the label `{ENFORCE}: {PRIVILEGED}`"
        if level:
            yield Finding(
                message=f"the operator's namespace `{item.own_name}` enforces `{level}`, which refuses its pods",
                place=label_place(item),
                help=label,
            )
        elif view.flag(_PATH) is False and item.own_name != _EXEMPT:
            is_enforced = view.distribution in view.catalog.scheduling.enforces_pod_security and not view.is_open
            yield Finding(
                message=f"nothing says that the operator's namespace `{item.own_name}` may run privileged pods: where "
                "the cluster enforces a level by default, it refuses them",
                place=item.place("/metadata/name"),
                help=f"{label}, or write `psa: {{enabled: true}}`",
                severity=None if is_enforced else Severity.NOTE,
            )
