"""Use case: what a release's operator creates, from custom resources and nodes, without a cluster."""

from __future__ import annotations

import json
from dataclasses import field
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, UsageError, sorted_unique
from poolsmith.core.diagnostics.suggest import did_you_mean
from poolsmith.core.facts.versions import version_key
from poolsmith.core.record import record
from poolsmith.core.sources.yaml_writer import emit_all
from poolsmith.fleet.operands.expand import expand as expand_state
from poolsmith.fleet.operands.expansion import ClusterState, Expansion
from poolsmith.fleet.operands.images import images_of
from poolsmith.gpu.catalog.operands import operand_releases
from poolsmith.interface.app.expand_input import read_input, read_os_facts
from poolsmith.interface.app.expand_labels import judge_labels

if TYPE_CHECKING:
    from poolsmith.interface.app.expand_input import ExpandRequest


@record
class ExpandResult:
    """The expansion, and what is wrong: `diagnostics` have a place in a file.

    `chart_errors` are the chart's own; `refused` is what the API server would not take of what the chart renders.
    """

    expansion: Expansion
    chart_errors: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()
    checked: dict[str, int] = field(default_factory=dict)

    @property
    def errors(self) -> tuple[str, ...]:
        """All of them, as one list of lines."""
        return (*map(_line, self.diagnostics), *self.chart_errors, *self.refused, *self.expansion.errors)

    @property
    def failed(self) -> bool:
        return bool(self.errors)


def expand(release: str, request: ExpandRequest) -> ExpandResult:
    """Expand what the files say. A resource that the API server would refuse is an error, and left out.

    Raises UsageError for a release whose operands are unknown, for a setting that can't be read, and when neither
    values nor resources are named.
    """
    if release not in operand_releases():
        known = sorted(operand_releases(), key=version_key, reverse=True)
        raise UsageError(f"the operands of release `{release}` are not in the catalog; {did_you_mean(release, known)}")
    if not (request.values or request.settings or request.resources):
        raise UsageError("name values with -f, or custom resources with --resources")
    found = read_input(release, request)
    os_release = read_os_facts(request.os_release)
    diagnostics = [*found.problems, *([os_release] if isinstance(os_release, Diagnostic) else [])]
    checked = {"files": found.files, "custom resources": len(found.resources), "nodes": len(found.nodes)}
    if found.unusable or isinstance(os_release, Diagnostic):
        return ExpandResult(
            expansion=Expansion(release=release),
            chart_errors=found.chart_errors,
            refused=found.refused,
            diagnostics=sorted_unique(diagnostics),
            notes=found.notes,
            checked=checked,
        )
    diagnostics.extend(judge_labels(release, request.namespace, found))
    state = ClusterState(
        nodes=found.nodes,
        resources=found.resources,
        objects=found.objects,
        namespace=request.namespace,
        os_release=os_release,
        service_monitors=request.service_monitors,
        api_versions=request.api_versions,
    )
    return ExpandResult(
        expansion=expand_state(release, state),
        refused=found.refused,
        diagnostics=sorted_unique(diagnostics),
        notes=found.notes,
        checked=checked,
    )


def expand_yaml(result: ExpandResult) -> str:
    """The objects as a stream of manifests; nothing when there are none."""
    return emit_all(result.expansion.objects)


def expand_json(result: ExpandResult) -> str:
    """The machine-readable result, version 1."""
    expansion = result.expansion
    body = {
        "version": 1,
        "release": expansion.release,
        "objects": list(expansion.objects),
        "nodeLabels": {
            name: dict(sorted(expansion.node_labels[name].items())) for name in sorted(expansion.node_labels)
        },
        "images": sorted({image for item in expansion.objects for image in images_of(item)}),
        "conditions": [
            {"kind": item.kind, "name": item.name, "state": item.state, "conditions": list(map(dict, item.conditions))}
            for item in expansion.conditions
        ],
        "errors": list(result.errors),
        "unknown": list(expansion.unknown),
    }
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


def _line(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.primary.span}: {diagnostic.code} {diagnostic.name}: {diagnostic.message}"
