"""Use case: what a release's operator creates from values, custom resources and nodes, without a cluster.

The input is read and judged first; the labels of its nodes are judged by the rule of `check`.
"""

from __future__ import annotations

import json
from dataclasses import field
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, Location, Span, UsageError, diagnose, sorted_unique
from poolsmith.core.diagnostics.codes import shape as codes
from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.core.facts.versions import version_key
from poolsmith.core.record import record
from poolsmith.core.sources.yaml_writer import emit_all
from poolsmith.fleet.operands.chart.chart_projection import HelmRelease, project
from poolsmith.fleet.operands.chart.judgement import chart_errors
from poolsmith.fleet.operands.chart.operator_part import operator_chart_objects
from poolsmith.fleet.operands.expansion import ClusterState, Expansion
from poolsmith.fleet.operands.node_files import read_nodes, read_os_release
from poolsmith.fleet.operands.operator_expansion import expand as expand_state
from poolsmith.fleet.operands.pulled_images import images_of
from poolsmith.gpu.api_server import ApiServerAnswer, is_of_operator, judge
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.operands import operand_releases
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART, OPERATOR_NAMESPACE
from poolsmith.gpu.catalog.projections import read_crds, read_projection
from poolsmith.gpu.values.values_file import read_values
from poolsmith.guard.rules.setup import node_label_values
from poolsmith.guard.rules.setup.repository_setups import policy_values
from poolsmith.guard.rules.setup.setup_view import SetupObject, SetupView, run_setup_rules
from poolsmith.interface.app.set_values import set_all
from poolsmith.kubernetes.helm.values_merge import merge_files, merge_over_defaults
from poolsmith.kubernetes.objects_file import read_objects
from poolsmith.project.run.setup_nodes import setup_nodes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from poolsmith.fleet.operands.expansion import KubernetesObject, Node
    from poolsmith.fleet.operands.node_files import NodesFile
    from poolsmith.kubernetes.objects_file import FileObject


_CONFIG_MAP = "ConfigMap"


@record
class ExpandRequest:
    """Files and flags. The chart is rendered where there are `values` or `settings`; `resources` come besides."""

    nodes: Sequence[Path]
    values: Sequence[Path] = ()
    settings: Sequence[str] = ()
    resources: Sequence[Path] = ()
    objects: Sequence[Path] = ()
    namespace: str = OPERATOR_NAMESPACE
    os_release: Path | None = None
    service_monitors: bool = False
    api_versions: frozenset[str] = frozenset()


@record(frozen=False, kw_only=False)
class ExpandInput:
    """`unusable`: something was not readable, so that an expansion of the rest would mean nothing."""

    nodes: tuple[Node, ...] = ()
    node_files: tuple[NodesFile, ...] = ()
    resources: tuple[KubernetesObject, ...] = ()
    objects: tuple[KubernetesObject, ...] = ()
    chart_errors: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()
    unusable: bool = False
    files: int = 0


def read_input(release: str, request: ExpandRequest) -> ExpandInput:
    """Raises UsageError for a setting that can't be read."""
    reading = _Reading(release, request.namespace)
    if request.values or request.settings:
        reading.render_chart(request)
    for file in request.resources:
        reading.read_file(file)
    for file in request.objects:
        reading.read_file(file)
    for file in request.nodes:
        reading.read_nodes(file)
    return reading.input()


def read_os_facts(file: Path | None) -> dict[str, str] | Diagnostic | None:
    return None if file is None else read_os_release(file, file.as_posix())


@record(frozen=False, kw_only=False)
class _Reading:
    """Collects what the files hold."""

    release: str
    namespace: str
    nodes: dict[str, Node] = field(default_factory=dict)
    node_files: list[NodesFile] = field(default_factory=list)
    resources: dict[tuple[str, str], KubernetesObject] = field(default_factory=dict)
    objects: list[KubernetesObject] = field(default_factory=list)
    chart_errors: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unusable: bool = False
    files: int = 0

    def input(self) -> ExpandInput:
        if not (self.resources or self.chart_errors or self.refused or self.problems):
            self.notes.append("there is no custom resource of the operator, so it creates nothing")
        elif not self.nodes and not self.unusable:
            self.notes.append("there are no nodes")
        return ExpandInput(
            nodes=tuple(self.nodes.values()),
            node_files=tuple(self.node_files),
            resources=tuple(self.resources.values()),
            objects=tuple(self.objects),
            chart_errors=tuple(self.chart_errors),
            refused=tuple(self.refused),
            problems=tuple(self.problems),
            notes=tuple(self.notes),
            unusable=self.unusable,
            files=self.files,
        )

    def render_chart(self, request: ExpandRequest) -> None:
        """The custom resources and ConfigMaps that the chart makes of values; what it refuses ends all."""
        read = [read_values(file, file.as_posix()) for file in request.values]
        self.files += len(read)
        bad = [item for item in read if isinstance(item, Diagnostic)]
        if bad:
            self._stop(bad)
            return
        values = merge_files(item for item in read if isinstance(item, dict))
        set_all(values, request.settings)
        projection, chart = read_projection(self.release), read_chart(OPERATOR_CHART, self.release)
        if projection is None or chart is None:
            raise UsageError(f"the chart of release `{self.release}` is not in the catalog; name --resources instead")
        helm = HelmRelease(api_versions=request.api_versions)
        errors = chart_errors(self.release, values, helm)
        if errors:
            self.chart_errors.extend(error.message for error in errors)
            self.unusable = True
            return
        projected = project(projection, chart.defaults, values, helm)
        self.notes.extend(projected.notes)
        workloads = operator_chart_objects(self.release, merge_over_defaults(chart.defaults, values), self.namespace)
        for resource in projected.objects:
            self._take_rendered(resource)
        self.objects.extend(item for item in workloads.objects if item["kind"] == _CONFIG_MAP)

    def read_file(self, file: Path) -> None:
        """Custom resources of the operator are expanded; any other object exists beside them."""
        found = read_objects(file, file.as_posix())
        self.files += 1
        if found.problems:
            self._stop(found.problems)
        for item in found.objects:
            self._take(item)

    def read_nodes(self, file: Path) -> None:
        found = read_nodes(file, file.as_posix())
        self.files += 1
        if found.problems:
            self._stop(found.problems)
        self.node_files.append(found)
        self.nodes.update((node.name, node) for node in found.nodes)

    def _take_rendered(self, resource: KubernetesObject) -> None:
        name = f"{resource['kind']}/{resource['metadata']['name']}"
        judged = judge(resource, self.release)
        if judged.violations:
            self.refused.extend(f"{name}: {violation.text}" for violation in judged.violations)
        else:
            self._admit(judged.stored)

    def _take(self, item: FileObject) -> None:
        judged = judge(item.data, self.release)
        self._tell(item, judged)
        if judged.violations:
            return
        if item.kind not in read_crds(self.release) or not is_of_operator(item.api_version):
            self.objects.append(item.data)
        elif (item.kind, str(item.data["metadata"]["name"])) in self.resources:
            message = f"{item.name} is there already, from another place; the first one is expanded"
            self.problems.append(diagnose(codes.DUPLICATE_ITEM, message, item.locate(), help="keep one of the two"))
        else:
            self._admit(judged.stored)

    def _tell(self, item: FileObject, judged: ApiServerAnswer) -> None:
        for violation in judged.violations:
            self.problems.append(
                diagnose(
                    violation.rule,
                    f"{item.name}: {violation.text}",
                    item.locate(violation.pointer),
                    help=violation.help,
                    subject=item.name,
                )
            )
        for violation in judged.dropped:
            self.notes.append(f"{item.locate(violation.pointer).span}: {item.name}: {violation.text}")

    def _admit(self, stored: KubernetesObject) -> None:
        self.resources[stored["kind"], stored["metadata"]["name"]] = stored

    def _stop(self, problems: list[Diagnostic] | tuple[Diagnostic, ...]) -> None:
        self.problems.extend(problems)
        self.unusable = True


def judge_labels(release: str, namespace: str, found: ExpandInput) -> tuple[Diagnostic, ...]:
    """What nothing of the operator knows; nothing where there is no ClusterPolicy, or more than one."""
    catalog = Catalog()
    objects = tuple(SetupObject(item, _nowhere) for item in (*found.resources, *found.objects))
    values = policy_values(list(objects), release)
    if values is None:
        return ()
    view = SetupView(
        catalog=catalog,
        tag=release,
        operator=catalog.releases.near(release),
        nodes=tuple(node for read in found.node_files for node in setup_nodes(read, catalog)),
        values=values,
        objects=objects,
        namespace=namespace,
    )
    return run_setup_rules((node_label_values,), view).diagnostics


def _nowhere(_pointer: str, note: str | None = None) -> Location:
    """What the chart renders stands in no file."""
    return Location(span=Span(path="values"), note=note)


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
