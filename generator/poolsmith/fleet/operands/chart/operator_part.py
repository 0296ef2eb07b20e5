"""What the operator's chart installs, whatever the nodes: custom resources, other objects, and `extraObjects`.

Since v26.3 the chart hands each item of `extraObjects`, or a text that is one, to the template engine and installs the
result. Here the references of `SIMPLE` are filled in; an item with any other action is not shown. What a kind makes
others do must be known as well: an object of another kind is installed, listed, and counted as not evaluated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.latest import Latest
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import WORKLOAD_KINDS
from poolsmith.core.sources.scalars import NotJsonError, resolve_plain
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.fleet.operands.chart.chart_objects import HOOK, ChartError, ChartWorkloads, ReleasePlace, render
from poolsmith.fleet.operands.chart.chart_projection import HelmRelease, chart_labels, common_labels, project
from poolsmith.fleet.operands.expansion import Made, Maker, nothing_known
from poolsmith.gpu.catalog.chart_workloads import read_chart_workloads
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART, OPERATOR_RELEASE
from poolsmith.gpu.catalog.projections import read_crds, read_projection
from poolsmith.kubernetes.helm.go_template import TemplateError, look_up, printed
from poolsmith.kubernetes.helm.values_merge import merge_over_defaults
from poolsmith.kubernetes.server.object_types import wrong_type_in

if TYPE_CHECKING:
    import re
    from collections.abc import Container, Iterable, Iterator, Mapping

    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.gpu.catalog.charts import Chart


PATH = "extraObjects"
SIMPLE = pattern(r"\{\{-? *\.(?P<root>Release\.Name|Release\.Namespace|Values(?:\.[A-Za-z_]\w*)+) *-?\}\}")
_ACTION = "{{"
_SAFE = pattern(r"[A-Za-z0-9_./-]*\Z")
_DOCUMENTS = pattern(r"(?:^|(?<!\s)\s*\n)---\s*+")
"""Where Helm cuts what a template gives."""

CLUSTER_WIDE = frozenset(
    (
        "APIService",
        "ClusterPolicy",
        "ClusterRole",
        "ClusterRoleBinding",
        "CustomResourceDefinition",
        "DeviceClass",
        "GPUCluster",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "NVIDIADriver",
        "Namespace",
        "Node",
        "NodeFeatureRule",
        "PersistentVolume",
        "PriorityClass",
        "RuntimeClass",
        "SecurityContextConstraints",
        "StorageClass",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    )
)
_CORE = ("ConfigMap", "Endpoints", "LimitRange", "PersistentVolumeClaim", "ResourceQuota", "Secret", "Service")
KNOWN = frozenset(
    (
        *(("v1", kind) for kind in (*_CORE, "ServiceAccount", "Pod", "PodTemplate", "ReplicationController")),
        *(("apps/v1", kind) for kind in WORKLOAD_KINDS),
        *(("batch/v1", kind) for kind in ("Job", "CronJob")),
        *(
            ("rbac.authorization.k8s.io/v1", kind)
            for kind in ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")
        ),
        ("autoscaling/v2", "HorizontalPodAutoscaler"),
        ("discovery.k8s.io/v1", "EndpointSlice"),
        ("networking.k8s.io/v1", "NetworkPolicy"),
        ("policy/v1", "PodDisruptionBudget"),
        ("scheduling.k8s.io/v1", "PriorityClass"),
        ("node.k8s.io/v1", "RuntimeClass"),
        *(("monitoring.coreos.com/v1", kind) for kind in ("PodMonitor", "PrometheusRule", "ServiceMonitor")),
        *(("nvidia.com/v1", kind) for kind in ("ClusterPolicy",)),
        *(("nvidia.com/v1alpha1", kind) for kind in ("NVIDIADriver", "GPUCluster")),
    )
)
"""Kinds that start nothing, or of which the ledger or the operator's prediction tells what they start."""


class _NotShown(Exception):  # noqa: N818 - says what is not known, not that something failed
    """The template engine does more here than is done here."""


def extra_objects(values: dict[str, Any], place: ReleasePlace) -> ChartWorkloads:
    """What `extraObjects` of `values` brings, in the order given."""
    items = values.get(PATH)
    if not items:
        return ChartWorkloads()
    if isinstance(items, dict):
        items = [items[key] for key in sorted(items)]
    if not isinstance(items, list):
        return _error(PATH, "range can't iterate over it")
    found = ChartWorkloads()
    for index, item in enumerate(items):
        path = f"{PATH}.{index}"
        try:
            for body in _whole(_documents(_filled(item, values, place)), path):
                found = found.with_more(_installed(body, place, path))
        except TemplateError as error:
            found = found.with_more(_error(path, str(error)))
        except _NotShown as action:
            found = found.with_more(
                ChartWorkloads(unknown=(f"{path}: the chart's template engine evaluates {action}",))
            )
    return found


def _filled(node: Any, values: dict[str, Any], place: ReleasePlace) -> Any:
    """The item with simple references filled in. Raises _NotShown, TemplateError."""
    if isinstance(node, dict):
        return {_filled_text(key, values, place): _filled(value, values, place) for key, value in node.items()}
    if isinstance(node, list):
        return [_filled(item, values, place) for item in node]
    return _filled_text(node, values, place) if isinstance(node, str) else node


def _filled_text(text: str, values: dict[str, Any], place: ReleasePlace) -> str:
    if _ACTION not in text:
        return text

    def written(match: re.Match[str]) -> str:
        root = match["root"]
        if root.startswith("Values."):
            shown = printed(look_up(values, root.split(".")[1:]))
        else:
            shown = place.namespace if root == "Release.Namespace" else place.helm_release
        if "-}}" in match[0] or "{{-" in match[0] or not _SAFE.match(shown):
            raise _NotShown(match[0][:60])
        return shown

    filled = SIMPLE.sub(written, text)
    if _ACTION in filled:
        raise _NotShown(text[:60])
    if not text.startswith(_ACTION) and _typed(filled) != filled:
        raise _NotShown(text[:60])
    return filled


def _typed(text: str) -> Any:
    try:
        return resolve_plain(text)
    except NotJsonError:
        return None


def _documents(item: Any) -> list[Any]:
    """What Helm finds in the item. Raises TemplateError."""
    if not isinstance(item, str):
        return [item]
    found: list[Any] = []
    for text in _DOCUMENTS.split(item):
        try:
            documents = read_documents(text)
        except YamlProblem as error:
            raise TemplateError(f"the text is no YAML: {error.message}") from None
        if len(documents) > 1:
            raise TemplateError("the text has two documents that Helm would read as one")
        found.extend(document for document in documents if document is not None)
    return found


def _whole(bodies: list[Any], path: str) -> Iterator[KubernetesObject]:
    """Each object; those of a List one by one, as Helm installs them. Raises TemplateError."""
    for body in bodies:
        if not isinstance(body, dict) or not all(isinstance(body.get(key), str) for key in ("apiVersion", "kind")):
            raise TemplateError("it is no object with an apiVersion and a kind")
        if body["kind"].endswith("List") and isinstance(body.get("items"), list):
            yield from _whole(body["items"], path)
            continue
        metadata = body.get("metadata")
        if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str) or not metadata["name"]:
            raise TemplateError(f"the {body['kind']} has no metadata.name")
        unsound = wrong_type_in(body)
        if unsound:
            raise TemplateError(f"the API server would refuse {body['kind']} {metadata['name']}: {unsound}")
        yield body


def _installed(body: KubernetesObject, place: ReleasePlace, path: str) -> ChartWorkloads:
    metadata = dict(body["metadata"])
    if body["kind"] not in CLUSTER_WIDE:
        metadata["namespace"] = metadata.get("namespace") or place.namespace
    item = {**body, "metadata": metadata}
    name = f"{body['kind']} {metadata['name']}"
    known = (body["apiVersion"], body["kind"]) in KNOWN
    unknown = () if known else (f"{path}: what the {name} makes others do",)
    annotations = metadata.get("annotations")
    is_hook = isinstance(annotations, dict) and HOOK in annotations
    return ChartWorkloads(() if is_hook else (item,), (item,) if is_hook else (), unknown)


def _error(path: str, why: str) -> ChartWorkloads:
    return ChartWorkloads(errors=(ChartError(path, f"at <.Values.{path}>: {why}"),))


_REMEMBERED = 32
_GROUP = "nvidia.com/"


@record
class ChartPart:
    """`resources` are as the API server stores them, `existing` what the operator then finds. Never changed."""

    resources: tuple[KubernetesObject, ...] = ()
    existing: tuple[KubernetesObject, ...] = ()
    made: tuple[Made, ...] = ()
    errors: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class ChartParts:
    """Remembers the last ones: clusters of unlike nodes often have the same values. `made` is what operators made."""

    def __init__(self) -> None:
        self.made = nothing_known()
        self._known = Latest(_REMEMBERED)

    def of(
        self, chart: Chart, values: dict[str, Any], namespace: str, api_versions: frozenset[str] = frozenset()
    ) -> ChartPart:
        """`api_versions` are the APIs that the cluster serves."""
        key = repr((chart.name, chart.release, namespace, values, sorted(api_versions)))
        helm = HelmRelease(name=chart.name, api_versions=api_versions)
        return self._known.of(key, lambda: _chart_part(chart, values, namespace, helm))


def stored(release: str, resources: Iterable[KubernetesObject]) -> tuple[tuple[KubernetesObject, ...], tuple[str, ...]]:
    """The custom resources of the operator as the API server stores them, and why it refuses others."""
    from poolsmith.kubernetes.server import storing  # on demand

    definitions = read_crds(release)
    taken: list[KubernetesObject] = []
    refused: list[str] = []
    for resource in resources:
        if resource["kind"] in definitions:
            answer = storing.stored(resource, definitions[resource["kind"]].checks)
            name = f"{resource['kind']}/{resource['metadata']['name']}"
            refused.extend(f"the API server refuses {name}: {violation.text}" for violation in answer.refused)
            if not answer.refused:
                taken.append(answer.resource)
    return tuple(taken), tuple(refused)


def _chart_part(chart: Chart, values: dict[str, Any], namespace: str, helm: HelmRelease) -> ChartPart:
    release = chart.release
    projection = read_projection(release)
    if projection is None:
        return ChartPart(unknown=(f"the custom resources that the chart of release {release} renders",))
    projected = project(projection, chart.defaults, values, helm)
    if projected.errors:
        return ChartPart(errors=tuple(f"the chart renders nothing: {error.message}" for error in projected.errors))
    merged = merge_over_defaults(chart.defaults, values)
    workloads = operator_chart_objects(release, merged, namespace, chart.name)
    if workloads.errors:
        return ChartPart(errors=tuple(error.message for error in workloads.errors))
    added = [item for item in workloads.objects if item["apiVersion"].startswith(_GROUP)]
    resources, refused = stored(release, (*projected.objects, *added))
    through = f"{chart.name} {release}"
    return ChartPart(
        resources=resources,
        existing=workloads.objects,
        made=(
            *(Made(item, Maker.CHART, through) for item in workloads.objects),
            *(Made(item, Maker.HOOK, through) for item in workloads.hooks),
        ),
        errors=refused,
        unknown=workloads.unknown,
    )


def operator_chart_objects(
    release: str,
    values: Mapping[str, Any],
    namespace: str,
    release_name: str = OPERATOR_RELEASE,
    given: Container[str] = (),
) -> ChartWorkloads:
    """For `values` as templates see them, over the chart's own. Raises nothing, whatever they say."""
    entry = read_chart_workloads(OPERATOR_CHART, release)
    projection = read_projection(release)
    if entry is None or projection is None:
        return ChartWorkloads(unknown=(f"workloads of the chart {OPERATOR_CHART} {release} are not known",))
    merged = dict(values)
    place = ReleasePlace(helm_release=release_name, namespace=namespace, name=OPERATOR_CHART)
    try:
        labels = chart_labels(projection, merged, release_name)
        common = common_labels(projection, merged, release_name)
    except TemplateError as error:
        return ChartWorkloads(errors=(ChartError(error.path, f"{OPERATOR_CHART} {release} does not render: {error}"),))
    rendered = render(entry, merged, place, {"labels": labels, "commonLabels": common}, given)
    if (PATH,) not in projection.templated:
        return rendered
    return rendered.with_more(extra_objects(merged, place))
