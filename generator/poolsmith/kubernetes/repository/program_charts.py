"""Charts that Pulumi installs by YAML; and those that programs of Pulumi, the AWS CDK and CDK for Terraform name, whose
values only a run knows.

Source: pulumi.com/docs/iac/languages-sdks/yaml/yaml-language-reference; pulumi.com/registry/packages/kubernetes,
helm.sh/v3 Release and Chart, helm.sh/v4 Chart; docs.aws.amazon.com/cdk, aws-eks Cluster.addHelmChart.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.diagnostic import position_in
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.hcl_file import COMPUTED, without_computed
from poolsmith.core.sources.placed_source import PlacedSource
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import join
from poolsmith.kubernetes.repository.argo_applications import file_layer, normal
from poolsmith.kubernetes.repository.delivered import ChartInstallation, Unknown, ValuesLayer
from poolsmith.kubernetes.repository.flux_releases import named
from poolsmith.kubernetes.repository.manifest_files import PlacedDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

_PROGRAMS = (".ts", ".js", ".mjs", ".py", ".go", ".cs", ".java")
_CHART = pattern(
    r"\b(?P<addon>Gpu)OperatorAddon\b|\bchart(?:Name|_name)?[\"']?\s*[:=]\s*(?:pulumi\.String\()?[\"'](?P<chart>[\w./:-]{1,200})[\"']",
    re.IGNORECASE,
)
_LIBRARIES = "/node_modules/"
_MARKS = (b"hart", b"HART", b"OperatorAddon")
"""Without one of them a program names no chart: most of a project are not searched further."""
_HELM = "kubernetes:helm.sh/"
_TAKE_IN = ("fn::fileAsset", "fn::readFile")


def pulumi_charts(document: CheckedDocument, files: RepositoryFiles) -> Iterator[ChartInstallation]:
    """Those of the resources of a project that is written in YAML."""
    for name, resource in mapping(mapping(document.data).get("resources")).items():
        found = mapping(resource)
        if str(found.get("type")).startswith(_HELM):
            yield from _of_resource(document, join("/resources", name, "properties"), found.get("properties"), files)


def _of_resource(
    document: CheckedDocument, pointer: str, properties: Any, files: RepositoryFiles
) -> Iterator[ChartInstallation]:
    data = mapping(properties)
    chart, version = data.get("chart"), data.get("version")
    if not isinstance(chart, str) or not chart:
        return
    layers, is_whole = _layers(document, join(pointer, "values"), data, files)
    computed = Unknown(document.source.locate(pointer), "values that Pulumi computes", is_here=True)
    name, archived = named(chart)
    address = mapping(data.get("repositoryOpts") or data.get("fetchOpts")).get("repo")
    yield ChartInstallation(
        chart=name,
        document=document,
        pointer=join(pointer, "values") if layers else pointer,
        version=archived or (version if isinstance(version, str) and "${" not in version else None),
        version_pointer=join(pointer, "version"),
        repository=address if isinstance(address, str) else chart if "://" in chart else None,
        namespace=data["namespace"] if isinstance(data.get("namespace"), str) else None,
        release_name=data["name"] if isinstance(data.get("name"), str) else None,
        layers=tuple(layers),
        unknown=() if is_whole else (computed,),
    )


def _layers(
    document: CheckedDocument, pointer: str, data: Mapping[str, Any], files: RepositoryFiles
) -> tuple[list[ValuesLayer], bool]:
    """Of the files, and of what stands under `values` on top of them; and whether that is all."""
    listed = data.get("valueYamlFiles", [])
    paths = [_path(item) for item in listed] if isinstance(listed, list) else [None]
    folder = posixpath.dirname(document.path)
    places = [None if path is None else normal(posixpath.join(folder, path)) for path in paths]
    found = [None if place is None else file_layer(place, files) for place in places]
    values, is_whole = without_computed(_computed(data.get("values", {})))
    if isinstance(values, dict) and values:
        found.append(ValuesLayer(values, document.source, pointer))
    return [layer for layer in found if layer is not None], is_whole and isinstance(values, dict) and None not in found


def _path(item: Any) -> str | None:
    """Of a file that is named, or that a function takes in; None of what is computed."""
    if isinstance(item, dict):
        item = next((item[name] for name in _TAKE_IN if name in item), None)
    return item if isinstance(item, str) and "${" not in item else None


def _computed(value: Any) -> Any:
    """A value with what its functions make as COMPUTED."""
    if isinstance(value, list):
        return [_computed(item) for item in value]
    if isinstance(value, dict):
        is_call = any(str(key).startswith("fn::") for key in value)
        return COMPUTED if is_call else {key: _computed(item) for key, item in value.items()}
    return value


def program_charts(projects: Iterable[str], files: RepositoryFiles) -> Iterator[ChartInstallation]:
    """What the programs beside and below the files of projects name as a chart, each once."""
    told: set[tuple[str, str]] = set()
    below = {path: None for project in projects for path in _programs(project, files)}
    for path in below:
        content = files.content(path)
        is_marked = isinstance(content, bytes) and any(mark in content for mark in _MARKS)
        text = (files.text(path) if is_marked else None) or ""
        for match in _CHART.finditer(text):
            name, _ = named("gpu-operator" if match["addon"] else match["chart"])
            if (path, name) not in told:
                told.add((path, name))
                yield _named_by_program(path, text, match.start(), name)


def _programs(project: str, files: RepositoryFiles) -> Iterator[str]:
    below = files.files_below(posixpath.dirname(project))
    return (path for path in below if path.endswith(_PROGRAMS) and _LIBRARIES not in f"/{path}")


def _named_by_program(path: str, text: str, at: int, chart: str) -> ChartInstallation:
    place = position_in(text, at)
    source = PlacedSource(path, text, {}, {"": (place, place)}, {})
    document = PlacedDocument(path, 0, {}, text, places=source, title=path)
    unknown = Unknown(source.locate(""), "values that a program computes", is_here=True)
    return ChartInstallation(chart=chart, document=document, unknown=(unknown,))
