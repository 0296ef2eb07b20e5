"""What a takeover comes to, line by line: what is the same, what differs and why, what was assumed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.change.takeover.effective import differing, effective
from poolsmith.core.diagnostics.masking import masked_tree
from poolsmith.core.sources.nested import MISSING, overlap
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.fleet.plan.origin import Derived

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.takeover.effective import Path
    from poolsmith.change.takeover.found import Present
    from poolsmith.change.takeover.settle import Settled
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolDriverObject
    from poolsmith.gpu.catalog import Chart

_LONGEST = 120
_ADVICE = {
    "tolerations": "; operands leave nodes whose taints no pool has: add these to `nodes.taints` of a pool",
    "env": "; what stands here beside the paths has no place in a profile",
}
"""By the last key of a value that the profiles have too."""


def report_lines(present: Present, settled: Settled, chart: Chart, values: dict[str, Any] | None) -> Iterator[str]:
    """`values` are those that were generated, None where nothing can be compared yet; then the reasons stand first."""
    for error in settled.errors:
        place = error.primary.span
        yield f"refused: {place}: {error.message} ({error.code})"
    for path, field in sorted(settled.by_field.items()):
        yield f"field   {'.'.join(path)} is `{field}`"
    for path in sorted(settled.kept):
        yield f"kept    {'.'.join(path)} in stack.values: no field of a profile holds it"
    for unknown in present.installation.unknown:
        yield f"unknown {unknown.place.span}: {unknown.what}; not in the profiles"
    if settled.plan is None or values is None:
        yield "differs: not known before the profiles can be generated"
        return
    parts = {
        "values": _values(settled, settled.plan, chart, values),
        "chart, release, namespace and who delivers them": _release(present, settled.plan),
        "driver objects": _drivers(present, settled.plan),
    }
    for part, differences in parts.items():
        lines = list(differences)
        yield from lines or (f"same    {part}",)


def _values(settled: Settled, plan: ClusterPlan, chart: Chart, values: dict[str, Any]) -> Iterator[str]:
    here = effective(chart.defaults, values)
    for path, mine, theirs in differing(here, settled.wanted):
        change = f"{_shown(path, theirs)} becomes {_shown(path, mine)}"
        yield f"differs {'.'.join(path)}: {change}: {_why(path, settled, plan)}"


def _why(path: Path, settled: Settled, plan: ClusterPlan) -> str:
    for setting in plan.values:
        if overlap(setting.path, path):
            origin = setting.origin
            because = origin.because if isinstance(origin, Derived) else f"it follows from the profiles ({origin})"
            return because + _ADVICE.get(path[-1], "")
    for left, reason in settled.left_out.items():
        if overlap(left, path):
            return reason
    field = settled.by_field.get(path)
    return f"`{field}` of the profiles says it" if field is not None else "the profiles have no value like this"


def _shown(path: Path, value: Any) -> str:
    if value is MISSING:
        return "nothing"
    text = json.dumps(masked_tree(value, path[-1]), ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _release(present: Present, plan: ClusterPlan) -> Iterator[str]:
    item = present.installation
    if plan.chart is None:
        return
    if item.namespace is None:
        yield f"differs namespace: the repository does not say one, and gets `{plan.namespace}`"
    elif item.namespace != plan.namespace:
        yield f"differs namespace: {item.namespace} becomes {plan.namespace}"
    if item.release_name not in (None, plan.chart.name):
        yield (
            f"differs release name: {item.release_name} becomes {plan.chart.name}: to Helm that is another release; "
            "docs/takeover.md says how one takes over the other's objects"
        )
    storage = _storage(present)
    if storage is not None and storage != plan.namespace:
        yield (
            f"differs storage namespace: Flux has the release's record in {storage}, and looks for it in "
            f"{plan.namespace}; docs/takeover.md says how to move it"
        )
    repository = (item.repository or "").rstrip("/")
    if repository and repository != plan.chart.repository.rstrip("/"):
        yield f"differs chart repository: {repository} becomes {plan.chart.repository}"
    own = word(item.document.metadata.get("name"))
    name = f"{plan.cluster.metadata.name}-{plan.chart.name}"
    if present.engine is not None and own != name:
        yield f"differs {item.document.kind}: {own} becomes {name}; docs/takeover.md says how one follows the other"


def _storage(present: Present) -> str | None:
    document = present.installation.document
    if document.kind != "HelmRelease":
        return None
    spec = mapping(document.data.get("spec"))
    return word(spec.get("storageNamespace")) or word(document.metadata.get("namespace")) or None


def _drivers(present: Present, plan: ClusterPlan) -> Iterator[str]:
    from poolsmith.change.takeover.answers import pool_name  # beside its only user

    made = {item.pool: item for item in plan.driver_objects}
    for document in present.drivers:
        name = word(document.metadata.get("name"))
        own = made.pop(pool_name(document.data), None)
        if own is None:
            yield f"differs NVIDIADriver/{name}: no pool has a driver object; it stays where it is"
            continue
        yield from _driver(name, mapping(document.data.get("spec")), own)
    for own in made.values():
        yield f"differs NVIDIADriver/{own.name}: it is new; pool `{own.pool}` gets its driver from it"
    for document in present.policies:
        name = word(document.metadata.get("name"))
        yield f"differs ClusterPolicy/{name}: it stands beside the chart's, and no profile describes it; it stays"


def _driver(name: str, spec: Mapping[str, Any], own: PoolDriverObject) -> Iterator[str]:
    if own.name != name:
        yield f"differs NVIDIADriver/{name}: its name becomes {own.name}, and its driver pods are replaced"
    for path, mine, theirs in differing(own.spec, dict(spec)):
        field = ".".join(("spec", *path))
        yield f"differs NVIDIADriver/{name} {field}: {_shown(path, theirs)} becomes {_shown(path, mine)}"
