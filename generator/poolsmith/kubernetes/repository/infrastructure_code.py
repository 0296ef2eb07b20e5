"""What Terraform files install, and the nodes that they make. Computed values are unknown.

Sources: registry.terraform.io: hashicorp/helm (helm_release), hashicorp/google, hashicorp/aws, hashicorp/azurerm.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.hcl_file import COMPUTED, HclFile, HclProblemError, without_computed
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import join
from poolsmith.core.sources.terraform_files import read_hcl
from poolsmith.kubernetes.repository.argo_applications import file_layer, normal
from poolsmith.kubernetes.repository.chart_folders import resolved
from poolsmith.kubernetes.repository.delivered import DEFINITIONS, HOOKS, ChartInstallation, Unknown, ValuesLayer
from poolsmith.kubernetes.repository.flux_releases import layer_of_text, named
from poolsmith.kubernetes.repository.manifest_files import LONGEST_SCRIPT, PlacedDocument, has_marks
from poolsmith.kubernetes.repository.node_template_marks import labels_at
from poolsmith.kubernetes.repository.set_values import set_layer
from poolsmith.kubernetes.repository.terraform_scope import releases_of_add_ons

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.sources.hcl_file import HclBlock
    from poolsmith.kubernetes.repository.node_template_marks import LabelMark
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles
    from poolsmith.kubernetes.repository.terraform_scope import TerraformScopes


_LABELS = ("labels", "node_labels", "kubernetes_labels", "k8s_labels")
_LABEL_BLOCKS = ("resource", "module")


@record
class TerraformLabels:
    """Labels that a block gives nodes; only literals."""

    document: PlacedDocument
    marks: tuple[LabelMark, ...]

    def at(self, mark: LabelMark) -> Location:
        return self.document.source.locate(mark.pointer)


def terraform_charts(path: str, scopes: TerraformScopes, files: RepositoryFiles) -> Iterator[ChartInstallation]:
    """The `helm_release` resources of a file, and the charts that modules take as a map; nothing of a file that is no
    HCL. Computed charts are left out."""
    told: set[str] = set()
    for blocks in scopes.readings(path):
        for block in blocks:
            if block.kind == "resource" and block.labels[:1] == ("helm_release",):
                found = _installation(block, block.data, "", posixpath.dirname(path), files)
            else:
                found = [
                    item
                    for pointer, entry in releases_of_add_ons(block)
                    for item in _installation(block, entry, pointer, posixpath.dirname(path), files)
                ]
            for item in found:
                key = f"{block.labels} {item.chart} {item.version} {item.namespace} {item.values}"
                if key not in told:  # calls that give a module the same
                    told.add(key)
                    yield item


def terraform_labels(text: str, path: str) -> Iterator[TerraformLabels]:
    """Maps of labels in resources and modules, wherever in them."""
    for block in blocks_of(text, path):
        if block.kind in _LABEL_BLOCKS and block.labels[:1] not in (("helm_release",), ("kubernetes_manifest",)):
            marks = tuple(mark for pointer, node in _label_maps(block.data) for mark in _marks(node, pointer))
            if marks:
                yield TerraformLabels(document=document_of(block), marks=marks)


def blocks_of(text: str, path: str) -> Iterable[HclBlock]:
    if len(text) > LONGEST_SCRIPT:
        return ()
    try:
        return read_hcl(path, text)
    except HclProblemError:
        return ()


def document_of(block: HclBlock) -> PlacedDocument:
    title = ".".join(block.labels) if block.kind == "resource" else ".".join((block.kind, *block.labels))
    return PlacedDocument(block.source.path, 0, block.data, block.source.text, places=block.source, title=title)


def _installation(
    block: HclBlock, data: dict[str, Any], top: str, folder: str, files: RepositoryFiles
) -> list[ChartInstallation]:
    """What the arguments of a helm_release say, which stand at `top` of the block."""
    document = document_of(block)
    chart, repository = data.get("chart"), data.get("repository")
    if not isinstance(chart, str) or not chart or is_switched_off(block):
        return []
    key = "chart_version" if top and "version" not in data else "version"
    name, archived = named(chart)
    version = archived or data.get(key)
    layers: list[ValuesLayer] = []
    unknown: list[Unknown] = []
    _add_values(document, data, top, folder, files, layers, unknown)
    _add_set(document, data, top, layers, unknown)
    unknown += [
        Unknown(document.source.locate(f"{top}/{name}"), f"values of `{name}`")
        for name in ("set_sensitive", "set_list", "set_wo")
        if data.get(name) is not None
    ]
    is_fetched = "://" in chart or (repository not in (None, "") and not chart.startswith((".", "/")))
    found = ChartInstallation(
        chart=name,
        document=document,
        pointer=f"{top}/values" if "values" in data else top,
        version=version if isinstance(version, str) and version else None,
        version_pointer=f"{top}/{key}",
        is_locked=not is_fetched or (top.count("/") == 1 and version is None),  # the module has a version of its own
        repository=repository if isinstance(repository, str) else None if is_fetched else chart,
        namespace=_text(data.get("namespace")),
        release_name=_text(data.get("name")),
        layers=tuple(layers),
        unknown=tuple(unknown),
        leaves_out=tuple((part, key, f"{top}/{key}") for key, part in _LEAVES_OUT.items() if data.get(key) is True),
    )
    return [found] if is_fetched else list(resolved(found, posixpath.normpath(posixpath.join(folder, chart)), files))


_LEAVES_OUT = {"skip_crds": DEFINITIONS, "disable_webhooks": HOOKS}
"""Source: registry.terraform.io: hashicorp/helm, helm_release: `disable_webhooks` prevents hooks from running."""
_NO_COUNT = pattern(r"\s*count\s*=\s*0\s*(?:[#/].*)?")


def is_switched_off(block: HclBlock) -> bool:
    """Whether a count of 0 is written there; the default of a switch is for somebody to turn."""
    if block.data.get("count") != 0:
        return False
    place = block.source.locate("/count").span.start
    return place is not None and _NO_COUNT.fullmatch(block.source.text.split("\n")[place.line - 1]) is not None


def _add_values(
    document: PlacedDocument,
    data: dict[str, Any],
    top: str,
    folder: str,
    files: RepositoryFiles,
    layers: list[ValuesLayer],
    unknown: list[Unknown],
) -> None:
    values = data.get("values")
    if values is None:
        return
    for index, item in enumerate(values if isinstance(values, list) else [COMPUTED]):
        pointer = f"{top}/values/{index}"
        layer: ValuesLayer | None = None
        is_whole = True
        if isinstance(item, HclFile):
            shown = normal(posixpath.join(folder, item.path))
            layer = file_layer(shown, files) if shown is not None else None
            if item.is_template and layer is not None and shown is not None:
                layer, is_whole = _filled(layer, shown, files)
        elif isinstance(item, str):
            layer = layer_of_text(document.source, pointer, item)
        elif isinstance(item, dict):
            kept, is_whole = without_computed(item)
            layer = ValuesLayer(kept, document.source, pointer)
        if layer is not None:
            layers.append(layer)
        if layer is None or not is_whole:
            is_text = isinstance(item, str) and "${" not in item
            what = "values of a text that can't be read" if is_text else "values that Terraform computes"
            unknown.append(Unknown(document.source.locate(pointer), what, is_here=True))


def _filled(layer: ValuesLayer, path: str, files: RepositoryFiles) -> tuple[ValuesLayer | None, bool]:
    """A values file that Terraform fills in, and whether nothing of it is left open."""
    if not has_marks(files.text(path) or ""):
        return layer, True
    found = next((item for item in files.filled(path) if isinstance(item.data, dict)), None)
    return None if found is None else ValuesLayer(found.data, found.source), False


def _add_set(
    document: PlacedDocument, data: dict[str, Any], top: str, layers: list[ValuesLayer], unknown: list[Unknown]
) -> None:
    """Blocks, or a list of objects: `name` is a path with dots in it."""
    listed = data.get("set")
    if listed is None:
        return
    for index, entry in enumerate(listed if isinstance(listed, list) else [COMPUTED]):
        pointer = f"{top}/set/{index}"
        found = mapping(entry)
        name, value, is_text = word(found.get("name")), found.get("value"), found.get("type") == "string"
        layer = set_layer(document.source, f"{pointer}/value", name, value, is_text=is_text)
        if layer is not None:
            layers.append(layer)
        else:
            unknown.append(Unknown(document.source.locate(pointer), "a value that Terraform computes", is_here=True))


def _label_maps(data: Any) -> Iterator[tuple[str, dict[Any, Any]]]:
    """Maps below keys that mean labels of nodes, each with its pointer."""
    pending: list[tuple[str, Any]] = [("", data)]
    while pending:
        pointer, node = pending.pop()
        if isinstance(node, list):
            pending += [(join(pointer, index), item) for index, item in enumerate(node)]
        elif isinstance(node, dict):
            for key, item in node.items():
                if not isinstance(key, str):
                    continue
                place = join(pointer, key)
                if key in _LABELS and isinstance(item, dict):
                    yield place, item
                else:
                    pending.append((place, item))


def _marks(node: dict[Any, Any], pointer: str) -> Iterator[LabelMark]:
    kept = {key: value for key, value in node.items() if isinstance(key, str) and isinstance(value, (str, bool, int))}
    yield from labels_at(kept, pointer, "map")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
