"""Files that anyone wrote, as the setups of clusters: Helm values, the objects that belong to them, and given nodes.

A user can describe nodes that are not in the files.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from dataclasses import field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import join, split
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.stack_objects import CHARTS, OLM_PACKAGE, OPERATOR, OPERATOR_GROUP
from poolsmith.gpu.catalog.value_effects import always_on
from poolsmith.gpu.values.release_tier import judged_by
from poolsmith.gpu.values.resource_documents import operator_defaults
from poolsmith.gpu.values.values_places import values_of
from poolsmith.guard.rules.setup.goes_to import enforced_by, told_distribution
from poolsmith.guard.rules.setup.setup_view import SetupObject, SetupValues, SetupView
from poolsmith.kubernetes.repository.chart_folders import CHART_FILE
from poolsmith.kubernetes.repository.declared_charts import DeclaredChart
from poolsmith.kubernetes.repository.kustomize_roots import folder_of
from poolsmith.kubernetes.repository.manifest_files import LATER, folders_above, is_terraform, unfolded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.core.diagnostics.outcome import Skipped
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.gpu.values.release_tier import JudgedBy
    from poolsmith.gpu.values.values_places import FoundValues
    from poolsmith.guard.rules.setup.setup_view import Place, SetupNode
    from poolsmith.kubernetes.repository.delivered import ChartInstallation
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.model import RepositoryModel

T = TypeVar("T")


@record
class Setup:
    """Values, or None where there are none, and the objects that are applied beside them."""

    found: FoundValues | None
    objects: tuple[CheckedDocument, ...]
    left_out: int = 0
    """Installations at the same place that are not judged: they are too many."""
    charts: tuple[ChartInstallation, ...] = ()
    """What files beside it install that are no objects."""
    others: tuple[SetupObject, ...] = ()
    """Objects that no document of YAML is."""
    is_one_of_several: bool = False
    """More files of values stand beside it, and nobody knows which of them are read together."""
    distribution: str | None = None
    """As files about machines and clusters tell it."""
    is_gathered: bool = False
    """Its objects stand anywhere, and nobody says that they go to one cluster."""
    is_open: bool = False
    """They tell that its API server enforces no Pod Security level by itself."""
    labels_said: frozenset[str] = frozenset()
    """Labels that they give to nodes, of whichever cluster."""
    made: dict[int, tuple[SetupObject, ...]] = field(default_factory=dict, compare=False, repr=False)
    """What rules see of documents, by their identity: setups that are of one model share it."""

    def made_of(self, document: CheckedDocument) -> tuple[SetupObject, ...]:
        if id(document) not in self.made:
            self.made[id(document)] = tuple(objects_of(document))
        return self.made[id(document)]


_MOST_OF_ONE = 8


def _few_of_each(values: Iterable[FoundValues]) -> Iterator[tuple[FoundValues, int]]:
    """Of an installation that is put into many namespaces, or with many values, a few, each with how many more
    there are."""
    unlike: dict[str, dict[str, FoundValues]] = {}
    for found in values:
        key = f"{found.namespace} {found.release} {found.partial} {found.values}"
        unlike.setdefault(str(found.locate(())), {}).setdefault(key, found)
    for one in unlike.values():
        more = max(len(one) - _MOST_OF_ONE, 0)
        yield from ((found, more) for found in islice(one.values(), _MOST_OF_ONE))


def setups_of(
    model: RepositoryModel, loose: list[FoundValues], release: str | None, said: frozenset[str] = frozenset()
) -> list[Setup]:
    """What each cluster gets, one setup for each installation of the operator in it; then what stands alone.

    `loose` are values that no engine delivers: with each of them go the objects that stand nearest to it. Without any,
    all loose objects are one setup, if one of them is the operator's. What an engine leaves out goes with none of them.
    `said` are labels that files about machines give to nodes.
    """
    setups: list[Setup] = []
    for delivery in model.deliveries:
        own = tuple(_few_of_each(filter(_is_here, values_of(delivery.installations, release))))
        others = _without_object(delivery.installations)
        together = (*delivery.objects, *delivery.kustomizations)
        setups += [Setup(found=item, left_out=more, objects=together, charts=others) for item, more in own]
        if not own and delivery.by_engine and any(map(is_of_operator, delivery.objects)):
            setups.append(Setup(found=None, objects=delivery.objects))
    alone = list(_alone(model, release))
    apart = [item for item in alone if model.is_left_out(item.path)]
    if any(map(is_of_operator, apart)):
        setups.append(Setup(found=None, objects=tuple(apart)))
    elsewhere = (found for found in values_of(model.all_installations, release) if not _is_here(found))
    setups += [Setup(found=item, left_out=more, objects=(), is_gathered=True) for item, more in _few_of_each(elsewhere)]
    loose = [found for found in loose if _is_here(found)]
    siblings = Counter(folder_of(item.path) for item in loose if item.is_file)
    joined = (item for item in alone if not model.is_left_out(item.path))
    nearest = _nearest_objects(joined, [item.path for item in loose])
    if not loose and any(map(is_of_operator, nearest[0])):
        setups.append(Setup(found=None, objects=tuple(nearest[0]), is_gathered=not _has_policies_at_once(model)))
    near = _by_key(_without_object(model.installations), lambda item: _shelf(item.document.path))
    for index, item in enumerate(loose):
        several = item.is_file and siblings[folder_of(item.path)] > 1
        installed = near.get(_shelf(item.installation.document.path), ())
        beside = tuple(other for other in installed if _is_beside(other, item.installation))
        objects = tuple(_without_rendered(nearest[index]))
        applied = tuple(_of_other_files(item, model))
        setups.append(
            Setup(
                found=item,
                objects=objects,
                charts=beside,
                others=applied,
                is_one_of_several=several,
                is_gathered=item.is_file,
            )
        )
    told = told_distribution(model)
    is_open = told is not None and not enforced_by(model.documents)
    made: dict[int, tuple[SetupObject, ...]] = {}
    return [
        replace(item, distribution=told or item.distribution, is_open=is_open, made=made, labels_said=said)
        for item in setups
    ]


def _by_key(items: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def _shelf(path: str) -> str:
    """What the folder of a file stands in."""
    return folder_of(folder_of(path))


def _of_other_files(found: FoundValues, model: RepositoryModel) -> Iterator[SetupObject]:
    """What files of Terraform in the same folder apply and a run completes, or templates of the chart that has the
    operator's."""
    folder = folder_of(found.path)
    if is_terraform(found.path):
        beside = (item for item in model.loose.objects if folder_of(item.path) == folder and is_terraform(item.path))
        for item in beside:
            if item.is_incomplete:
                yield SetupObject(item.data, item.source.locate, item.path)
    elif posixpath.basename(found.path) == CHART_FILE:
        yield from _of_templates(folder, model)


def _of_templates(folder: str, model: RepositoryModel) -> Iterator[SetupObject]:
    """Maps and secrets of a chart's templates, by plain names; none of a kind of which one is filled in."""
    paths = model.files.files_below(posixpath.join(folder, "templates"))
    texts = {path: model.files.text(path) or "" for path in paths}
    named = [path for path, text in texts.items() if any(f"kind: {kind}" in text for kind in _OF_TEMPLATES)]
    found = [item for path in named for document in model.files.filled(path) for item in objects_of(document)]
    open_kinds = {item.kind for item in found if LATER in item.own_name} | (
        {*_OF_TEMPLATES} if _unread(named, found) else set()
    )
    for item in found:
        if item.kind in _OF_TEMPLATES and item.kind not in open_kinds:
            metadata = {"name": item.own_name}
            yield replace(item, data={"apiVersion": "v1", "kind": item.kind, "metadata": metadata})


def _unread(paths: list[str], found: list[SetupObject]) -> bool:
    """Whether something of these files is nothing that YAML can hold."""
    return not {*paths} <= {item.file for item in found}


_OF_TEMPLATES = ("ConfigMap", "Secret")


def _has_policies_at_once(model: RepositoryModel) -> bool:
    """Whether one kustomization has several."""
    return any(sum(item.kind == "ClusterPolicy" for item in made.objects) > 1 for made in model.deliveries)


def _without_rendered(objects: list[CheckedDocument]) -> Iterator[CheckedDocument]:
    """Without what Helm made of the operator's chart, kept as a file: it is no second of what these values make."""
    rendered = {document.path for document in objects if _is_rendered(document)}
    return (document for document in objects if document.path not in rendered)


def _is_rendered(document: CheckedDocument) -> bool:
    labels = mapping(document.metadata.get("labels"))
    chart = word(labels.get("helm.sh/chart"))
    return labels.get("app.kubernetes.io/managed-by") == "Helm" and chart.rpartition("-")[0] in OPERATOR


def _without_object(installations: Iterable[ChartInstallation]) -> tuple[ChartInstallation, ...]:
    """Those of the stack, beside the operator, that no object declares."""
    return tuple(
        item
        for item in installations
        if item.chart in CHARTS - {*OPERATOR} and not item.document.is_object and not item.in_other_clusters
    )


_COMMANDS = "/commands"
"""Where scripts declare charts: what another script installs may be for another cluster."""


def _is_beside(one: ChartInstallation, other: ChartInstallation) -> bool:
    """Whether both go into one cluster: they stand in one folder, or each in a folder that has its name. Of charts on
    one shelf somebody else says which are taken."""
    by_command = any(item.pointer.startswith(_COMMANDS) for item in (one, other))
    if one.is_alternative or other.is_alternative or (by_command and one.document.path != other.document.path):
        return False
    folders = [folder_of(item.document.path) for item in (one, other)]
    if folders[0] == folders[1]:
        return True
    above = {folder.rpartition("/")[0] for folder in folders}
    is_shelf = all(posixpath.basename(item.document.path) == CHART_FILE for item in (one, other))
    return len(above) == 1 and not is_shelf and all(map(_has_its_name, (one, other), folders))


def _has_its_name(item: ChartInstallation, folder: str) -> bool:
    name = folder.rpartition("/")[2]
    return name in (item.chart, item.release_name) or item.chart in name or (name == "nfd" and "feature" in item.chart)


def _is_here(found: FoundValues) -> bool:
    """Whether the chart goes where its objects are."""
    return not found.installation.in_other_clusters


def _alone(model: RepositoryModel, release: str | None) -> Iterator[CheckedDocument]:
    """Objects of which nobody says to which cluster they go: loose ones, and those of kustomizations without values."""
    yield from model.loose.objects
    for delivery in model.deliveries:
        if not delivery.by_engine and next(values_of(delivery.installations, release), None) is None:
            yield from delivery.objects
            yield from delivery.kustomizations


def is_of_operator(document: CheckedDocument) -> bool:
    """Whether an object, or one of a list, is a custom resource of the operator, and can be read."""
    versions = () if document.is_incomplete else (str(data.get("apiVersion")) for _, data in unfolded(document))
    return any(version.startswith(f"{OPERATOR_GROUP}/") for version in versions)


def releases_of(setup: Setup, release: str | None) -> tuple[str, ...]:
    """The releases that a setup is judged by, newest first: its own, else all of which the facts are recorded."""
    by = setup.found.judged_by if setup.found is not None else _asked(release or _subscribed(setup.objects))
    recorded = Catalog().releases.by_tag
    return by.tags if by.one is not None else tuple(tag for tag in by.tags if tag in recorded)


def _subscribed(objects: Iterable[CheckedDocument]) -> str:
    """What the operator lifecycle manager installs: where it starts, if somebody approves each step, else the line."""
    for document in objects:
        spec = mapping(document.data.get("spec")) if document.kind == "Subscription" else {}
        if spec.get("name") == OLM_PACKAGE:
            is_manual = spec.get("installPlanApproval") == "Manual"
            start = word(spec.get("startingCSV")).removeprefix(f"{OLM_PACKAGE}.")
            return start if is_manual else f"{word(spec.get('channel')) or 'x'}.x"
    return ""


def _asked(release: str) -> JudgedBy:
    from poolsmith.gpu.catalog.value_paths import value_paths  # on demand

    return judged_by(release, value_paths().tags, floats=release.endswith(".x"))


def view_of(setup: Setup, release: str | None, given: GivenNodes | None, kubernetes: str | None = None) -> SetupView:
    """What the rules see of it where this is the release; None: nobody knows it."""
    from poolsmith.gpu.catalog.value_paths import value_paths  # on demand

    catalog, item = Catalog(), setup.found
    known = value_paths().release(release or "")
    tag = known.tag if known is not None else None
    objects = [found for document in setup.objects if not document.is_incomplete for found in setup.made_of(document)]
    objects += setup.others
    defaults = known.line_defaults if known else None
    return SetupView(
        catalog=catalog,
        tag=tag,
        operator=catalog.releases.near(tag) if tag is not None else None,
        distribution=(given.distribution if given is not None else None) or setup.distribution,
        is_open=setup.is_open,
        is_gathered=setup.is_gathered,
        labels_said=setup.labels_said,
        kubernetes=kubernetes or (given.kubernetes if given is not None else None),
        nodes=given.nodes if given is not None else None,
        bystanders=given.bystanders if given is not None else (),
        values=policy_values(objects, tag)
        if item is None
        else _values(item, defaults, several=setup.is_one_of_several),
        objects=tuple(objects),
        namespace=olm_namespace(objects) if item is None else item.namespace,
        charts=tuple(map(_as_declared, setup.charts)),
        engine_of=_K3S if item is not None and item.document.api_version.startswith("helm.cattle.io/") else frozenset(),
    )


_K3S = frozenset(("k3s", "rke2"))
"""What has the controller of HelmChart and HelmChartConfig. Source: docs.k3s.io/helm, docs.rke2.io/helm."""


def _as_declared(item: ChartInstallation) -> tuple[SetupObject, DeclaredChart]:
    """Where a chart stands that no object declares, and what it says."""

    def place(pointer: str, note: str | None = None) -> Location:
        return item.document.source.locate(item.pointer, note) if not pointer else item.locate(split(pointer), note)

    chart = DeclaredChart(
        name=item.chart,
        version=item.version,
        values=item.values,
        pointer="",
        namespace=item.namespace,
        partial=item.is_partial,
    )
    return SetupObject({}, place, item.document.path), chart


def objects_of(document: CheckedDocument) -> Iterator[SetupObject]:
    for top, data in unfolded(document):
        yield SetupObject(data, _place(document, top), document.path, None if top else document.source)


def _place(document: CheckedDocument, top: str) -> Place:
    def place(pointer: str, note: str | None = None) -> Location:
        return document.source.locate(top + pointer, note)

    return place


def _values(found: FoundValues, defaults: dict[str, Any] | None, *, several: bool) -> SetupValues:
    def place(pointer: str, note: str | None = None) -> Location:
        return found.locate(split(pointer), note)

    def written(pointer: str) -> tuple[SourceFile, str] | None:
        decided = found.installation.decided(split(pointer))
        return None if decided is None else (decided[0].source, join(decided[0].pointer, *decided[1]))

    return SetupValues(
        values=found.values,
        defaults=defaults,
        place=place,
        written=written,
        partial=found.partial or several or defaults is None,
        always_on=frozenset() if found.partial or several or found.is_file else always_on(),
        file=found.path,
    )


def olm_namespace(objects: Iterable[SetupObject]) -> str | None:
    """Where OLM installs the operator, as its Subscription says."""
    found = {
        word(item.metadata.get("namespace"))
        for item in objects
        if item.kind == "Subscription" and item.group == "operators.coreos.com" and item.spec.get("name") in _PACKAGES
    }
    return min(found) or None if len(found) == 1 else None


_PACKAGES = (OLM_PACKAGE, "gpu-operator")


def policy_values(objects: list[SetupObject], release: str | None) -> SetupValues | None:
    """What a ClusterPolicy says, where there are no values: its fields are named as the values that they come from.

    What it leaves out is what the operator of the release takes for it, as far as that is known.
    """
    policies = [item for item in objects if item.kind == "ClusterPolicy" and item.group == "nvidia.com"]
    if len(policies) != 1:
        return None
    policy = policies[0]
    driver = policy.spec.get("driver")
    driver = driver if isinstance(driver, dict) else {}
    crd = {"enabled": driver.get("useNvidiaDriverCRD") is True, "deployDefaultCR": False}

    def place(pointer: str, note: str | None = None) -> Location:
        stated = pointer.replace("/driver/nvidiaDriverCRD/enabled", "/driver/useNvidiaDriverCRD")
        return policy.place(f"/spec{stated}", note)

    return SetupValues(
        values={**policy.spec, "driver": {**driver, "nvidiaDriverCRD": crd}},
        defaults=None if release is None else operator_defaults("ClusterPolicy", release),
        place=place,
        partial=True,
        of_policy=True,
        file=policy.file,
    )


def _nearest_objects(documents: Iterable[CheckedDocument], places: list[str]) -> Mapping[int, list[CheckedDocument]]:
    """The objects of each setup: those to which no other values stand nearer in the tree of folders."""
    below: dict[str, list[int]] = {}
    for index, place in enumerate(places):
        for folder in (*folders_above(f"{folder_of(place)}/"), ""):
            below.setdefault(folder, []).append(index)
    found: dict[int, list[CheckedDocument]] = {index: [] for index in range(max(len(places), 1))}
    for document in documents:
        nearest = next((below[folder] for folder in (*folders_above(document.path), "") if folder in below), [0])
        for index in nearest:
            found[index].append(document)
    return found


@record
class GivenNodes:
    """What the user said of the cluster beside the files: nodes, and what else its profile says.

    `nodes` are those with a GPU, None where they could not be read; `problems` say why. `planned` are the profiles that
    they are pools of, and their plan.
    """

    nodes: tuple[SetupNode, ...] | None
    bystanders: tuple[SetupNode, ...] = ()
    release: str | None = None
    distribution: str | None = None
    kubernetes: str | None = None
    problems: tuple[Diagnostic, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    files: int = 0
    planned: tuple[LoadedCluster, ClusterPlan] | None = None
