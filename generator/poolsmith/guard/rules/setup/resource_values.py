"""The rules over Helm values, on the custom resources of a setup: the same facts, at the lines of the objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.sources.pointer import join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.guard.rules.setup.setup_view import SetupView

_KINDS = ("ClusterPolicy", "NVIDIADriver")
_MOST = 200


def judge_resources(view: SetupView) -> Iterator[Diagnostic]:
    """Nothing of what the generator made, nor without a release."""
    if view.is_generated or view.tag is None:
        return
    for kind in _KINDS:
        for item in view.of_kind(kind, "nvidia.com")[:_MOST]:
            from poolsmith.gpu.values.resource_documents import judge_resource  # on demand

            for found in judge_resource(kind, item.spec, view.tag):
                yield found.at(item.place(join("", *map(str, found.finding.place))), item.name)
