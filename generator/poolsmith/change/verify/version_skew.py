"""Versions on a cluster that do not match: kubelets, pods, the operator's release, and its CustomResourceDefinitions.

Helm never upgrades what a chart has in `crds/`, and the server drops fields that a definition lacks without a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.verify.expected import Bringer, shown
from poolsmith.change.verify.live_view import ends
from poolsmith.change.verify.workloads import Owners, is_image, key_of, tag_of
from poolsmith.core.diagnostics import Severity, diagnose
from poolsmith.core.diagnostics.codes.live import OTHER_VERSION
from poolsmith.core.diagnostics.message_text import counted, listed
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mapping, mappings, pod_template_of, word
from poolsmith.gpu.catalog.container_toolkit import unfit_toolkit
from poolsmith.gpu.catalog.live_cluster import read_left_overs
from poolsmith.gpu.catalog.node_labels import UPGRADE_SETTLED, UPGRADE_STATE
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART, OPERATOR_NAME
from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.gpu.catalog.stack_objects import OPERATOR_GROUP
from poolsmith.kubernetes.live.api_resources import DAEMON_SETS, DEFINITIONS, DEPLOYMENTS, PODS, WORKLOADS
from poolsmith.kubernetes.schema.kind_schema import KindSchema
from poolsmith.kubernetes.schema.schemas import newest_kubernetes, schemas_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from poolsmith.change.verify.expected import ExpectedCluster
    from poolsmith.change.verify.live_view import LiveView
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.kubernetes.live.snapshot import KubernetesObject


_MINOR = pattern(r"v?1\.(\d{1,3})(?:\D|$)")
_COMPONENT, _DRIVER = "app.kubernetes.io/component", "nvidia-driver"
_TOOLKIT = "nvidia-container-toolkit-ctr"
_FEW = 4


def judge_skew(view: LiveView) -> Iterator[Diagnostic]:
    yield from _server(view)
    yield from _kubelets(view)
    busy = frozenset(node.name for node in view.nodes if node.labels.get(UPGRADE_STATE, "") not in UPGRADE_SETTLED)
    owners = Owners(view.snapshot)
    pods: dict[tuple[str, str, str], list[KubernetesObject]] = {}
    for pod in view.snapshot.items(PODS):
        if (owner := owners.of(pod)) is not None and not ends(pod):
            pods.setdefault(key_of(owner), []).append(pod)
    for item in view.cluster.expected:
        if item.resource in (DAEMON_SETS, DEPLOYMENTS):
            for body in view.find(item):
                by_operator = mapping(mapping(pod_template_of(body)).get("metadata"))
                is_driver = mapping(by_operator.get("labels")).get(_COMPONENT) == _DRIVER
                yield from _old_pods(view, item, body, pods.get(key_of(body), []), busy if is_driver else frozenset())
                yield from _toolkit(view, item, body)


def _server(view: LiveView) -> Iterator[Diagnostic]:
    wanted = view.cluster.plan.cluster.spec.kubernetes.version
    live = view.snapshot.server.removeprefix("v")
    if live and live.split(".")[:2] != wanted.split(".")[:2]:
        message = f"cluster `{view.cluster.name}` runs Kubernetes {live}, and its profile says {wanted}"
        yield _finding(view, message, "/spec/kubernetes/version")


def _kubelets(view: LiveView) -> Iterator[Diagnostic]:
    server = _MINOR.match(view.snapshot.server)
    if server is None:
        return
    minor = int(server[1])
    oldest = read_left_overs().oldest_kubelet(minor)
    apart: dict[tuple[str, str], list[str]] = {}
    for node in view.nodes:
        found = _MINOR.match(node.info.get("kubeletVersion", ""))
        if found is not None and not oldest <= int(found[1]) <= minor:
            why = "newer than the API server" if int(found[1]) > minor else f"older than 1.{oldest}"
            apart.setdefault((f"1.{int(found[1])}", why), []).append(node.name)
    for (version, why), names in sorted(apart.items()):
        message = (
            f"the kubelet of {counted(len(names), 'node')} ({listed(sorted(names), _FEW)}) of cluster "
            f"`{view.cluster.name}` is {version}, {why}: the API server is {view.snapshot.server.removeprefix('v')}"
        )
        yield _finding(view, message, "/spec/kubernetes/version")


def _old_pods(
    view: LiveView, item: ExpectedCluster, body: KubernetesObject, pods: list[KubernetesObject], busy: frozenset[str]
) -> Iterator[Diagnostic]:
    """Pods that still run another image than their workload says. Those of drivers may, on nodes that are upgraded at
    this moment: nothing else waits for that. An image that neither it nor the prediction knows is told for itself."""
    wanted, predicted = _images(pod_template_of(body)), _images(pod_template_of(item.body))
    behind: dict[tuple[str, str, str], list[str]] = {}
    for pod in pods:
        node = word(mapping(pod.get("spec")).get("nodeName"))
        if not node or node in busy:
            continue
        for container, image in _images(pod).items():
            said = wanted.get(container, "")
            known = (said, predicted.get(container, ""))
            if said and tag_of(image) != tag_of(said) and any(is_image(image, one) for one in known):
                behind.setdefault((container, tag_of(image), tag_of(said)), []).append(node)
    for (container, tag, said), nodes in behind.items():
        kind = item.resource.kind
        name = shown(kind, str(body["metadata"]["name"]), item.namespace)
        where = f"{counted(len(nodes), 'node')} ({listed(sorted(nodes), _FEW)})"
        message = (
            f"container `{container}` of {name} is still `{tag}` on {where} of cluster `{view.cluster.name}`, and the "
            f"{kind} says `{said}`"
        )
        yield _finding(view, message, "/spec/stack")


def _toolkit(view: LiveView, item: ExpectedCluster, body: dict[str, Any]) -> Iterator[Diagnostic]:
    """A toolkit that was put on the cluster by hand, and is below what the release needs."""
    held = tag_of(_images(pod_template_of(body)).get(_TOOLKIT, ""))
    if not held or held == tag_of(_images(pod_template_of(item.body)).get(_TOOLKIT, "")):
        return
    spec = view.cluster.plan.cluster.spec
    unfit = unfit_toolkit(held.partition("-")[0], spec.stack.release or "", nri=False)
    if unfit is not None:
        message = (
            f"the container toolkit of cluster `{view.cluster.name}` is `{held}`, below what release "
            f"{spec.stack.release} needs, {unfit.instead}: {unfit.why}"
        )
        yield _finding(view, message, "/spec/stack")


def _images(template: Any) -> dict[str, str]:
    """The image of each container that has a tag: a digest alone tells no version."""
    spec = mapping(mapping(template).get("spec"))
    found = {}
    for field in ("initContainers", "containers"):
        for container in mappings(spec.get(field)):
            name, image = container.get("name"), container.get("image")
            if isinstance(name, str) and isinstance(image, str) and tag_of(image):
                found[name] = image
    return found


def _finding(view: LiveView, message: str, pointer: str) -> Diagnostic:
    return diagnose(OTHER_VERSION, message, view.cluster.of_cluster(pointer), subject=view.cluster.name)


_CHART, _VERSION = "helm.sh/chart", "app.kubernetes.io/version"
_DEPLOYMENT = next(item for item in WORKLOADS if item.kind == "Deployment")


def other_release(view: LiveView) -> str:
    """Empty where the operator is not there, tells nothing, or is of the committed release.

    Chart and image have to agree on it: of one edited field alone it does not follow that all objects are others.
    """
    for item in view.cluster.expected:
        if item.resource == _DEPLOYMENT and item.bringer is Bringer.CHART and item.pattern == OPERATOR_NAME:
            given = mapping(item.body["metadata"].get("labels"))
            for body in view.find(item):
                held = mapping(body["metadata"].get("labels"))
                version, chart = held.get(_VERSION), held.get(_CHART)
                if (
                    isinstance(version, str)
                    and version != given.get(_VERSION)
                    and chart == f"{OPERATOR_CHART}-{version}"
                ):
                    return version
    return ""


def follows_release(item: ExpectedCluster) -> bool:
    """Whether an object is what the operator's release makes of it."""
    return item.bringer is Bringer.OPERATOR or (
        item.bringer is Bringer.CHART and item.through.partition(" ")[0] == OPERATOR_CHART
    )


def runs_another(view: LiveView, release: str, differing: int) -> Diagnostic:
    """One finding for all objects that differ by it."""
    wanted = view.cluster.plan.cluster.spec.stack.release
    message = f"cluster `{view.cluster.name}` runs release {release} of the operator, and {wanted} is committed"
    if differing:
        message += f"; {counted(differing, 'object')} of the chart and the operator differ or are missing"
    place = view.cluster.of_cluster("/spec/stack/release")
    return diagnose(OTHER_VERSION, message, place, subject=view.cluster.name, severity=Severity.ERROR)


_ANYTHING = "x-kubernetes-preserve-unknown-fields"
_FEW_FIELDS = 3


def judge_definitions(view: LiveView) -> Iterator[Diagnostic]:
    """Against the schemas of the committed release, where that one runs."""
    release = view.cluster.plan.cluster.spec.stack.release
    if view.cluster.plan.chart is None or other_release(view):
        return
    schemas = schemas_for(schema_versions(kubernetes=newest_kubernetes(), operator=release))
    for body in view.snapshot.items(DEFINITIONS):
        spec = mapping(body.get("spec"))
        if spec.get("group") != OPERATOR_GROUP:
            continue
        for version in mappings(spec.get("versions")):
            live = mapping(mapping(version.get("schema")).get("openAPIV3Schema"))
            kind = word(mapping(spec.get("names")).get("kind"))
            schema = schemas.find(f"{OPERATOR_GROUP}/{word(version.get('name'))}", kind) if live else None
            if isinstance(schema, KindSchema):
                wanted = mapping(mapping(schema.definition.get("properties")).get("spec"))
                held = mapping(mapping(live.get("properties")).get("spec"))
                if lacks := list(_lacking(wanted, held, schema.compiler.resolve, "spec")):
                    yield _older(view, str(body["metadata"]["name"]), lacks)


def _lacking(
    wanted: Mapping[str, Any], held: Mapping[str, Any], resolve: Callable[[Any], Mapping[str, Any]], path: str
) -> Iterator[str]:
    """Fields that the server would drop; of a field that is not there nothing below it."""
    wanted = resolve(wanted)
    if held.get(_ANYTHING) is True:
        return
    there = mapping(held.get("properties"))
    for key, value in mapping(wanted.get("properties")).items():
        if key not in there:
            yield f"{path}.{key}"
        else:
            yield from _lacking(value, mapping(there[key]), resolve, f"{path}.{key}")
    for keyword in ("items", "additionalProperties"):
        if isinstance(wanted.get(keyword), dict) and isinstance(held.get(keyword), dict):
            yield from _lacking(wanted[keyword], held[keyword], resolve, path)


def _older(view: LiveView, name: str, lacks: list[str]) -> Diagnostic:
    fields = f"{counted(len(lacks), 'field')} ({listed(lacks, _FEW_FIELDS)})"
    message = (
        f"`CustomResourceDefinition/{name}` of cluster `{view.cluster.name}` is older than release "
        f"{view.cluster.plan.cluster.spec.stack.release}: it lacks {fields}, which the API server drops"
    )
    place = view.cluster.of_cluster("/spec/stack/release")
    subject = view.cluster.subject("CustomResourceDefinition", name)
    return diagnose(OTHER_VERSION, message, place, subject=subject)
