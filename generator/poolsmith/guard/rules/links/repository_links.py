"""Files that anyone wrote, as what reaches each cluster together; then what nobody delivers."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.rule_engine import run_rules
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.gpu.catalog.stack_objects import CHARTS, DEVICE_PLUGIN_CHARTS, OPERATOR
from poolsmith.gpu.values.values_places import FoundValues
from poolsmith.guard.rules.links.link_view import RKE2_CIS, TALOS, LinkedChart, LinkView, chart_defaults
from poolsmith.guard.rules.links.machine_images import gpu_taints, machine_images
from poolsmith.guard.rules.links.registry import LINK_RULES
from poolsmith.guard.rules.setup.repository_setups import objects_of
from poolsmith.kubernetes.repository.delivered import delivered
from poolsmith.kubernetes.repository.engine_versions import ARGO_CD, FLUX, engine_versions
from poolsmith.kubernetes.repository.model import EngineDelivery

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.guard.rules.setup.repository_setups import GivenNodes
    from poolsmith.guard.rules.setup.setup_view import SetupObject
    from poolsmith.guard.rules.templates.labelled_nodes import LabelledNodes
    from poolsmith.kubernetes.repository.delivered import ChartInstallation
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.model import RepositoryModel

_MONITORING = frozenset(("kube-prometheus-stack",))
"""Charts beside the stack that take something of it by name."""


def judge_links(
    model: RepositoryModel, release: str | None, given: GivenNodes | None, labelled: Sequence[LabelledNodes]
) -> Iterator[Diagnostic]:
    """What the rules say of each cluster's files. `release` is the operator's where its installation names none."""
    for view in views_of(model, release, given, labelled):
        yield from run_rules(LINK_RULES, view, by_file=True)


def views_of(
    model: RepositoryModel, release: str | None, given: GivenNodes | None, labelled: Sequence[LabelledNodes]
) -> Iterator[LinkView]:
    labels = frozenset(mark.key for nodes in labelled for mark in nodes.labels)
    machines = frozenset(name for document in model.documents if (name := _machines_of(document)))
    nodes = given.nodes if given is not None else None
    parts = (*model.deliveries, _loose(model))
    engines = engine_versions(model.documents)
    own = model.documents if _has_one_stack(parts) else ()
    images, taints = machine_images(own), gpu_taints(own)
    for part in parts:
        if not part.refused:
            yield LinkView(
                objects=_linked(part.objects),
                charts=tuple(_charts(part.installations, release)),
                kustomizations=_linked(part.kustomizations),
                nodes=nodes,
                is_whole=part.place != _LOOSE,
                labels_said=labels,
                distributions=machines,
                images=images,
                gpu_taints=taints,
                engines=engines,
            )


_LOOSE = "loose"
_ENGINES = {"HelmRelease": FLUX, "Application": ARGO_CD, "ApplicationSet": ARGO_CD}


def _has_one_stack(parts: Iterable[EngineDelivery]) -> bool:
    """With several of them nobody can say whose machines the files are about."""
    known = (*OPERATOR, *DEVICE_PLUGIN_CHARTS)
    return sum(item.chart in known for part in parts for item in part.installations) == 1


def _loose(model: RepositoryModel) -> EngineDelivery:
    """What nobody delivers, as far as the files say."""
    own = tuple(map(delivered, model.loose.objects))
    return EngineDelivery(place=_LOOSE, objects=own, installations=model.installations, by_engine=False)


def _machines_of(document: CheckedDocument) -> str:
    """The distribution whose machines a document configures, with the hardening that enforces Pod Security."""
    data = document.data
    if document.is_object or not isinstance(data, dict):
        return ""
    if isinstance(data.get("machine"), dict):
        return TALOS
    return RKE2_CIS if str(data.get("profile", "")).startswith("cis") else ""


def _linked(documents: Iterable[CheckedDocument]) -> tuple[SetupObject, ...]:
    return tuple(found for document in documents for found in objects_of(document))


def _charts(installations: Iterable[ChartInstallation], release: str | None) -> Iterator[LinkedChart]:
    for item in installations:
        if not item.in_other_clusters and (item.chart in CHARTS or item.chart in _MONITORING):
            yield _chart(item, release)


def _chart(item: ChartInstallation, release: str | None) -> LinkedChart:
    found = FoundValues(installation=item, release=item.version, fallback=release)
    known = found.known() if item.chart in OPERATOR else None
    defaults = chart_defaults(item.chart, item.version) if known is None else known.line_defaults

    def place(path: str) -> Location:
        return item.locate(tuple(path.split(".")) if path else ())

    return LinkedChart(
        name=item.chart,
        version=item.version,
        values=found.values,
        defaults=defaults,
        place=place,
        declared_at=item.document.source.locate(item.pointer),
        namespace=item.namespace,
        release_name=item.release_name,
        partial=found.partial,
        engine=_ENGINES.get(word(mapping(item.document.data).get("kind")), ""),
        is_around=_is_around(item),
    )


def _is_around(item: ChartInstallation) -> bool:
    """Whether a Chart.yaml declares it, and nothing but the `values.yaml` beside says its values."""
    folder, name = posixpath.split(item.document.path)
    values = posixpath.join(folder, "values.yaml")
    return name == "Chart.yaml" and all(layer.source.path == values for layer in item.layers)
