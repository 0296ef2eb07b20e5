"""Files that anyone wrote, as what reaches each cluster together; then what nobody delivers."""

from __future__ import annotations

import posixpath
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import counted
from poolsmith.core.diagnostics.rule_engine import run_rules
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word, words
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.stack_objects import CHARTS, OPERATOR
from poolsmith.gpu.values.values_places import FoundValues
from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView, Machines, chart_defaults
from poolsmith.guard.rules.links.name_needs import counted as states
from poolsmith.guard.rules.links.registry import LINK_RULES, domains
from poolsmith.guard.rules.names.need import State
from poolsmith.guard.rules.setup.goes_to import distributions_of, enforced_by, is_alone
from poolsmith.guard.rules.setup.repository_setups import objects_of
from poolsmith.kubernetes.repository.delivered import delivered
from poolsmith.kubernetes.repository.engine_versions import ARGO_CD, FLUX, EngineVersions, SaidVersion, said_versions
from poolsmith.kubernetes.repository.kustomize.build import NAMES
from poolsmith.kubernetes.repository.manifest_files import is_terraform
from poolsmith.kubernetes.repository.model import EngineDelivery

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.guard.policies.external_names import ExternalBook
    from poolsmith.guard.rules.setup.repository_setups import GivenNodes
    from poolsmith.guard.rules.setup.setup_view import SetupObject
    from poolsmith.guard.rules.templates.labelled_nodes import LabelledNodes
    from poolsmith.kubernetes.repository.delivered import ChartInstallation
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.model import RepositoryModel
    from poolsmith.kubernetes.repository.node_templates import NodeTemplate

_MADE_BY_ARGO = "CreateNamespace=true"
_MADE_BY = {"HelmRelease": ("install", "createNamespace"), "HelmChart": ("createNamespace",)}
"""Where Flux, and k3s, are told to make the namespace that a chart goes to."""
_BESIDE = frozenset(("kube-prometheus-stack", "hami", "cluster-autoscaler", "kai-scheduler", "volcano"))
"""Charts beside the stack that take something of it by name, do what it does, or start its nodes."""


@record(kw_only=False)
class LinkResult:
    """What the rules say, and how many needs of names stand in which way."""

    diagnostics: tuple[Diagnostic, ...]
    needs: Counter[State]

    @property
    def counts(self) -> dict[str, int]:
        """Empty where nothing is needed."""
        total, here = self.needs.total(), self.needs[State.SUPPLIED] + self.needs[State.TWICE]
        outside = self.needs[State.OUTSIDE] + self.needs[State.EXTERNAL]
        return {"here": here, "outside": outside, "unsupplied": total - here - outside} if total else {}

    @property
    def said(self) -> str:
        """One sentence; empty where nothing is needed."""
        if not self.needs.total():
            return ""
        wrong = self.counts["unsupplied"]
        parts = [f"{self.counts['here']:,} supplied here", f"{self.counts['outside']:,} from outside"]
        parts += [f"{wrong:,} without a supplier"] if wrong else []
        return f"{counted(self.needs.total(), 'need')}: {', '.join(parts)}"


def judge_links(
    model: RepositoryModel,
    release: str | None,
    given: GivenNodes | None,
    labelled: Sequence[LabelledNodes],
    external: ExternalBook | None = None,
    upgrade: Sequence[SaidVersion] | None = None,
) -> LinkResult:
    """What the rules say of each cluster's files. `release` is the operator's where its installation names none.

    `upgrade`: versions of the engines in place of those that the files say, to be held against others."""
    diagnostics: list[Diagnostic] = []
    needs: Counter[State] = Counter()
    for view in views_of(model, release, given, labelled, external, upgrade):
        if not view.is_empty:
            diagnostics += run_rules(LINK_RULES, view, by_file=True)
            needs += states(view)
            view.made.clear()
    return LinkResult(tuple(diagnostics), needs)


def views_of(
    model: RepositoryModel,
    release: str | None,
    given: GivenNodes | None,
    labelled: Sequence[LabelledNodes],
    external: ExternalBook | None = None,
    upgrade: Sequence[SaidVersion] | None = None,
) -> Iterator[LinkView]:
    labels = frozenset(mark.key for nodes in labelled for mark in nodes.labels)
    machines, enforcing = distributions_of(model.documents), enforced_by(model.documents)
    nodes = given.nodes if given is not None else None
    labels |= {key for node in nodes or () for key in node.labels}
    engines = EngineVersions(said_versions(model.documents) if upgrade is None else upgrade)
    described = Machines(tree=model.whole, described=partial(_described, model))
    alone, linked = is_alone(model), domains()
    beside = _by_folder(model)
    for part in (*model.deliveries, _loose(model)):
        if not part.refused:
            yield LinkView(
                objects=_linked(part.objects),
                charts=tuple(_charts(part.installations, release)),
                kustomizations=_linked(part.kustomizations),
                unlisted=_linked(item for place in _folders(part) for item in _forgotten(model, beside.get(place, ()))),
                nodes=nodes,
                is_whole=part.place != _LOOSE,
                labels_said=labels,
                distributions=machines,
                enforced_by=enforcing,
                engines=engines.of(part.place.partition(" (")[0]),
                is_upgrade=upgrade is not None,
                emptied=part.emptied,
                units=tuple(map(_linked, part.units)),
                machines=described,
                cluster=part.place,
                is_alone=alone,
                external=external,
                domains=linked,
            )


def _described(model: RepositoryModel) -> Iterator[NodeTemplate]:
    yield from model.node_templates
    if any(is_terraform(path) for path in model.others):
        from poolsmith.kubernetes.repository.terraform_nodes import terraform_templates  # on demand

        yield from terraform_templates(model.others, model.files)


def _by_folder(model: RepositoryModel) -> dict[str, list[CheckedDocument]]:
    """Objects that nobody delivers, and that nobody has been told to leave out."""
    found: dict[str, list[CheckedDocument]] = {}
    for item in model.loose.objects:
        if not model.is_left_out(item.path) and not item.is_incomplete and "sops" not in item.data:
            found.setdefault(posixpath.dirname(item.path), []).append(item)
    return found


def _forgotten(model: RepositoryModel, beside: Iterable[CheckedDocument]) -> Iterator[CheckedDocument]:
    """Without those that their kustomization has in a comment: somebody has left them out."""
    for item in beside:
        folder, name = posixpath.split(item.path)
        texts = (model.files.text(posixpath.join(folder, kustomization)) or "" for kustomization in NAMES)
        if not any(name in line.partition("#")[2] for text in texts if name in text for line in text.splitlines()):
            yield item


def _folders(part: EngineDelivery) -> tuple[str, ...]:
    return tuple(dict.fromkeys(posixpath.dirname(item.path) for item in part.kustomizations))


_LOOSE = "loose"
_ENGINES = {"HelmChart": "k3s", "HelmRelease": FLUX, "Application": ARGO_CD, "ApplicationSet": ARGO_CD}


def _loose(model: RepositoryModel) -> EngineDelivery:
    """What nobody delivers, as far as the files say."""
    own = tuple(map(delivered, model.loose.objects))
    return EngineDelivery(place=_LOOSE, objects=own, installations=model.installations, by_engine=False)


def _linked(documents: Iterable[CheckedDocument]) -> tuple[SetupObject, ...]:
    return tuple(found for document in documents for found in objects_of(document))


def _charts(installations: Iterable[ChartInstallation], release: str | None) -> Iterator[LinkedChart]:
    for item in installations:
        if not item.in_other_clusters and (item.chart in CHARTS or item.chart in _BESIDE):
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
        namespace=word(found.values.get("namespaceOverride")) or item.namespace,
        release_name=item.release_name,
        partial=found.partial,
        engine=_ENGINES.get(word(mapping(item.document.data).get("kind")), ""),
        namespace_wanted_at=_wanted_namespace(item),
        by_kustomize=item.document.kind == "Kustomization",
        is_around=_is_around(item),
    )


def _wanted_namespace(item: ChartInstallation) -> Location | None:
    """Where an engine's object names a namespace that it expects to be there."""
    spec, own = mapping(mapping(item.document.data).get("spec")), item.document.metadata.get("namespace")
    how = _MADE_BY.get(item.document.kind)
    if how is not None and word(spec.get("targetNamespace")) not in ("", own):
        is_made = value_at(spec, how) is True
        return None if is_made else item.document.source.locate("/spec/targetNamespace")
    if item.document.kind == "Application" and word(value_at(spec, ("destination", "namespace"))):
        options = words(value_at(spec, ("syncPolicy", "syncOptions")))
        return None if _MADE_BY_ARGO in options else item.document.source.locate("/spec/destination/namespace")
    return None


def _is_around(item: ChartInstallation) -> bool:
    """Whether a Chart.yaml declares it, and nothing but the `values.yaml` beside says its values."""
    folder, name = posixpath.split(item.document.path)
    values = posixpath.join(folder, "values.yaml")
    return name == "Chart.yaml" and all(layer.source.path == values for layer in item.layers)
