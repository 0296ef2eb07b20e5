"""Quotas on GPUs that count nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import join, value_at
from poolsmith.gpu.catalog.gpu_requests import is_gpu_resource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView

RULE = RuleInfo.of("PSM752")
_COUNTED, _LIMITS = "requests.", "limits."
_SCHEDULERS = ("hami", "volcano")
"""Where one of these schedules or is installed, it may read quotas of its own."""
_CHARTS = {"HelmRelease": ("chart", "spec", "chart"), "Application": ("source", "chart"), "HelmChart": ("chart",)}


def check(view: LinkView) -> Iterator[Finding[Location]]:
    named = [pod.spec.get("schedulerName") for pod in view.pods]
    named += [value_at(item.spec, _CHARTS[item.kind]) for item in view.of_kind(*_CHARTS)]
    if any(map(_has_own_scheduler, named)):
        return
    for item in view.of_kind("ResourceQuota"):
        for name in mapping(item.spec.get("hard")):
            resource = str(name).removeprefix(_LIMITS)
            if str(name).startswith(_COUNTED) or not is_gpu_resource(resource):
                continue
            yield Finding(
                message=f"{item.name} limits nothing by `{name}`: of extended resources only requests are counted",
                place=item.place(join("/spec/hard", str(name))),
                help=f"write `{_COUNTED}{resource}`",
            )


def _has_own_scheduler(name: object) -> bool:
    return isinstance(name, str) and any(word in name.lower() for word in _SCHEDULERS)
