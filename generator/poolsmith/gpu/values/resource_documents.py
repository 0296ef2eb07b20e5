"""Custom resources as values documents: their fields are named as the values that the chart writes into them.

Rules over values that look at what the operator is told, and not at what Helm does with it, hold for them as well. What
a resource leaves out is what the operator takes for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.rule_engine import Finding, Found, findings_of
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import covers
from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.gpu.catalog.releases import behaviour_at
from poolsmith.gpu.catalog.value_paths import ReleaseValues, value_paths
from poolsmith.gpu.drivers.driver_support import TYPE, module_field
from poolsmith.gpu.values.document import ValuesDocument
from poolsmith.gpu.values.registry import OF_DRIVER, OF_POLICY
from poolsmith.gpu.values.rules import dead_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.gpu.values.document import ValuePlace


POLICY, DRIVER = "ClusterPolicy", "NVIDIADriver"
_ON = ("driver", "toolkit", "devicePlugin", "gfd", "dcgm", "dcgmExporter", "migManager")
"""What runs unless a ClusterPolicy says otherwise. Source: NVIDIA/gpu-operator:api/nvidia/v1."""


def operator_defaults(kind: str, release: str) -> dict[str, Any]:
    """What the operator, or the API server before it, takes for fields that a resource leaves out.

    Source: NVIDIA/gpu-operator:api/nvidia/v1/clusterpolicy_types.go (IsEnabled), config/crd (default).
    """
    modules = {"kernelModuleType": "auto"} if module_field(release) == TYPE else {}
    driver = {**modules, "upgradePolicy": {"maxUnavailable": "25%"}}
    if kind == DRIVER:
        return {"driver": driver}
    switched: dict[str, Any] = {name: {"enabled": True} for name in _ON}
    cdi = {"enabled": bool(behaviour_at(release)["cdiByDefault"])}
    return {**switched, "sandboxWorkloads": {"enabled": False}, "driver": {"enabled": True, **driver}, "cdi": cdi}


class _Resource(ReleaseValues):
    """A release, with the operator's defaults in the place of the chart's."""

    is_chart = False

    def __init__(self, known: ReleaseValues, kind: str) -> None:
        super().__init__(known.tag, known.paths)
        self._kind = kind

    @property
    def line_defaults(self) -> dict[str, Any]:
        return operator_defaults(self._kind, self.tag)


def judge_resource(kind: str, spec: Mapping[str, Any], release: str) -> Iterator[Found[ValuePlace]]:
    """What the rules say of a ClusterPolicy or an NVIDIADriver; steps of places lead from the top of the object."""
    known = value_paths().release(release)
    if known is None:
        return
    tree = {"driver": dict(spec)} if kind == DRIVER else dict(spec)
    document = ValuesDocument(tree, _Resource(known, kind))
    for found in findings_of(OF_DRIVER if kind == DRIVER else OF_POLICY, document):
        yield found._replace(finding=_of_resource(found.finding, kind))
    yield from _unread(kind, spec, release)


def _of_resource(finding: Finding[ValuePlace], kind: str) -> Finding[ValuePlace]:
    from dataclasses import replace  # start-up: only mistakes need it

    place = finding.place[1:] if kind == DRIVER and finding.place[:1] == ("driver",) else finding.place
    message, help_text = finding.message.replace("the chart's default", "the default"), finding.help
    if kind == DRIVER:
        message = message.replace("`driver.", "`")
        help_text = None if help_text is None else help_text.replace("`driver.", "`")
    return replace(finding, place=("spec", *place), message=message, help=help_text)


def _unread(kind: str, spec: Mapping[str, Any], release: str) -> Iterator[Found[ValuePlace]]:
    """Fields that the definition still has, and that no operator from some release on honours."""
    for dotted, note in store.table("values/history.yaml")["unread"][kind].items():
        path = tuple(dotted.split("."))
        value = value_at(spec, path, MISSING)
        if value in (MISSING, None, "", {}) or not covers(note, release):
            continue
        advice = f"set `{note['instead']}`: {note['advice']}" if "instead" in note else note["advice"]
        message = f"`{dotted}` has no effect in {release}: {note['why']}"
        yield Found(dead_value.RULE, Finding(place=("spec", *path), message=message, help=advice))
