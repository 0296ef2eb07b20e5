"""Takeover of the device plugin's own chart, without the operator: profiles with `stack: {kind: device-plugin}`.

Driver and toolkit are on the hosts then, of versions that no repository tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.takeover.answers import possible_drafts
from poolsmith.change.takeover.deliverers import owner_lines
from poolsmith.change.takeover.settle import Settled
from poolsmith.core.sources.pointer import leaves_of, value_at
from poolsmith.gpu.catalog.chart_workloads import chart_releases

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.takeover.draft import ClusterDraft, Planner
    from poolsmith.change.takeover.effective import Path
    from poolsmith.change.takeover.found import Present
    from poolsmith.change.takeover.node_answers import TakeoverAnswers
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.project.run.surroundings import Surroundings

CHART = "nvidia-device-plugin"
_FEATURES = ("gfd", "enabled")
_NAMESPACE = "nvidia-device-plugin"
_DRIVER = "580.126.20"
_HAND = "preinstalled"
_CHARTS = ("delivery", "chartRepo")


def releases() -> tuple[str, ...]:
    """Of the plugin, oldest first."""
    return chart_releases(CHART)


def plugin_draft(
    present: Present, release: str, answers: TakeoverAnswers, around: Surroundings, catalog: Catalog, planner: Planner
) -> Settled:
    """`by_field` are values that a field holds; the others are left out, with the reason."""
    draft = next(possible_drafts(present, release, answers, around, catalog))
    values = present.installation.values
    _of_cluster(draft, present, release, values)
    if draft.cluster.fields.get(_CHARTS) == catalog.device_plugin["devicePlugin"]["repository"]:
        del draft.cluster.fields[_CHARTS]
    for pool in draft.pools:
        pool.fields |= {("driver", "source"): _HAND, ("driver", "version"): _DRIVER, ("toolkit", "source"): _HAND}
        pool.assumed.add(("driver", "version"))
    planned = planner.plan(draft)
    by_field: dict[Path, str] = {_FEATURES: "stack.gpuFeatureDiscovery"} if value_at(values, _FEATURES) is True else {}
    left = {path: "no field of a profile holds it" for path, _ in leaves_of(values) if path not in by_field}
    left.pop(_FEATURES, None)
    return Settled(
        draft=draft,
        plan=planned.plan,
        wanted=values,
        by_field=by_field,
        kept={},
        left_out=left,
        errors=planned.errors,
    )


def _of_cluster(draft: ClusterDraft, present: Present, release: str, values: Mapping[str, Any]) -> None:
    fields = draft.cluster.fields
    fields["stack", "kind"], fields["stack", "release"] = "device-plugin", release
    fields["stack", "namespace"] = present.installation.namespace or _NAMESPACE
    if value_at(values, _FEATURES) is True:
        fields["stack", "gpuFeatureDiscovery"] = True


def plugin_lines(present: Present, settled: Settled) -> Iterator[str]:
    for error in settled.errors:
        yield f"refused: {error.primary.span}: {error.message} ({error.code})"
    for path, field in sorted(settled.by_field.items()):
        yield f"field   {'.'.join(path)} is `{field}`"
    for path, why in sorted(settled.left_out.items()):
        yield f"differs {'.'.join(path)} goes: {why}; docs/hand-installed.md says what profiles have for it"
    if settled.plan is not None:
        yield from owner_lines(present.installation, present.engine, settled.plan, "device-plugin-chart")
    for unknown in present.installation.unknown:
        yield f"unknown {unknown.place.span}: {unknown.what}; not in the profiles"
