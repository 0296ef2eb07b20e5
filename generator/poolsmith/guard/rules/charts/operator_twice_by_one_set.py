"""An ApplicationSet whose Applications install the operator into one cluster, more than once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import word
from poolsmith.gpu.catalog.stack_objects import OPERATOR
from poolsmith.kubernetes.repository.argo_destination import target_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.argo_destination import ArgoTarget
    from poolsmith.kubernetes.repository.delivered import ChartInstallation

RULE = RuleInfo.of("PSM583")
_FEW = 4


def check(installations: tuple[ChartInstallation, ...]) -> Iterator[Finding[Location]]:
    by_set: dict[tuple[str, int, ArgoTarget], dict[str, ChartInstallation]] = {}
    for item in installations:
        document = item.document
        if document.kind != "Application" or item.chart not in OPERATOR:
            continue
        name, target = word(document.metadata.get("name")), target_of(document.data.get("spec"))
        if not name or "{{" in name + target.where:  # who knows what is filled in
            continue
        by_set.setdefault((document.path, document.index, target), {}).setdefault(name, item)
    for (_, _, target), made in by_set.items():
        if len(made) > 1:  # only a set makes several of one document
            from poolsmith.kubernetes.repository.delivered import LayeredSource  # on demand

            source = next(iter(made.values())).document.source
            related = (source.text_of("/spec")[0],) if isinstance(source, LayeredSource) else ()
            yield Finding(
                message=f"{listed(list(made), _FEW)} install the operator into one cluster, {target.where}",
                place=source.locate("/spec/destination"),
                related=tuple(file.locate("/spec/generators", "what makes them") for file in related),
                subject=next(iter(made)),
            )
