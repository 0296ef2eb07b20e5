"""Charts that Pulumi installs by YAML; and those that programs of Pulumi, the AWS CDK and CDK for Terraform name, whose
values only a run knows.

Source: pulumi.com/docs/iac/languages-sdks/yaml/yaml-language-reference; pulumi.com/registry/packages/kubernetes,
helm.sh/v3 Release and Chart, helm.sh/v4 Chart; docs.aws.amazon.com/cdk, aws-eks Cluster.addHelmChart.
"""

from __future__ import annotations

import posixpath
import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.diagnostic import Position
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.placed_source import PlacedSource
from poolsmith.core.sources.pod_template import mapping, words
from poolsmith.core.sources.pointer import join
from poolsmith.kubernetes.repository.argo_applications import file_layer, normal
from poolsmith.kubernetes.repository.delivered import ChartInstallation, Unknown, ValuesLayer
from poolsmith.kubernetes.repository.flux_releases import named
from poolsmith.kubernetes.repository.manifest_files import PlacedDocument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

_PROGRAMS = (".ts", ".js", ".mjs", ".py", ".go", ".cs", ".java")
_CHART = pattern(
    r"\b(?P<addon>Gpu)OperatorAddon\b|\bchart(?:Name|_name)?[\"']?\s*[:=]\s*(?:pulumi\.String\()?[\"'](?P<chart>[\w./:-]{1,200})[\"']",
    re.IGNORECASE,
)
_MOST_FILES, _MOST_TEXT = 300, 1 << 18
_HELM = "kubernetes:helm.sh/"


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
    layers, unknown = [], []
    for index, path in enumerate(words(data.get("valueYamlFiles"))):
        shown = normal(posixpath.join(posixpath.dirname(document.path), path))
        layer = file_layer(shown, files) if shown is not None else None
        if layer is not None:
            layers.append(layer)
        else:
            place = document.source.locate(join(pointer, "valueYamlFiles", index))
            unknown.append(Unknown(place, "values that Pulumi computes", is_here=True))
    if isinstance(values := data.get("values"), dict):
        layers.append(ValuesLayer(values, document.source, join(pointer, "values")))
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
        unknown=tuple(unknown),
    )


def program_charts(project: str, files: RepositoryFiles) -> Iterator[ChartInstallation]:
    """What the programs beside and below a project's file name as a chart, each once."""
    told: set[tuple[str, str]] = set()
    below = (path for path in files.files_below(posixpath.dirname(project)) if path.endswith(_PROGRAMS))
    for path in islice(below, _MOST_FILES):
        text = files.text(path) or ""
        for match in _CHART.finditer(text) if len(text) <= _MOST_TEXT else ():
            name, _ = named("gpu-operator" if match["addon"] else match["chart"])
            if (path, name) not in told:
                told.add((path, name))
                yield _named_by_program(path, text, match.start(), name)


def _named_by_program(path: str, text: str, at: int, chart: str) -> ChartInstallation:
    before = text[:at].rpartition("\n")[2]
    place = Position(text.count("\n", 0, at) + 1, len(before) + 1)
    source = PlacedSource(path, text, {}, {"": (place, place)}, {})
    document = PlacedDocument(path, 0, {}, text, places=source, title=path)
    unknown = Unknown(source.locate(""), "values that a program computes", is_here=True)
    return ChartInstallation(chart=chart, document=document, unknown=(unknown,))
