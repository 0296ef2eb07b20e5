"""Charts that objects and files install, whichever tool reads them.

Argo CD and Flux have modules of their own, and so have the forms that a table is enough for. Here are k3s and RKE2,
Fleet, Helmfile and kustomize.

Sources: docs.k3s.io/helm, fleet.rancher.io/ref-fleet-yaml, helmfile.readthedocs.io, kustomize's helmCharts.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.core.sources.pointer import join, mapped, value_at
from poolsmith.kubernetes.repository.argo_applications import file_layer, normal
from poolsmith.kubernetes.repository.chart_folders import CHART_FILE, chart_at, copies, resolved
from poolsmith.kubernetes.repository.chart_forms import MARK, charts_of_forms
from poolsmith.kubernetes.repository.delivered import ChartInstallation, Unknown, ValuesLayer
from poolsmith.kubernetes.repository.flux_releases import GROUP as FLUX
from poolsmith.kubernetes.repository.flux_releases import add_text, last, named, release_of
from poolsmith.kubernetes.repository.manifest_files import HELM, INSTALLING, LATER, has_word, is_script, is_terraform
from poolsmith.kubernetes.repository.set_values import set_layer

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from poolsmith.kubernetes.repository.flux_releases import Finder
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles
    from poolsmith.kubernetes.repository.terraform_scope import TerraformScopes


FLEET_FILE = "fleet.yaml"


def text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def k3s_chart(item: CheckedDocument, objects: Finder) -> Iterator[ChartInstallation]:
    """A HelmChart of helm.cattle.io; a HelmChartConfig of its name comes on top of its values."""
    spec = mapping(item.data.get("spec"))
    chart, archived = named(word(spec.get("chart")))
    if not chart:
        return
    layers: list[ValuesLayer] = []
    unseen: list[Unknown] = []
    for found in (item, objects.named("HelmChartConfig", word(item.metadata.get("name")))):
        if found is not None:
            text = value_at(found.data, ("spec", "valuesContent"))
            add_text(found.source, "/spec/valuesContent", text, layers, unseen)
    unknown = [
        Unknown(item.source.locate(f"/spec/{key}"), f"values from `{key}`")
        for key in ("valuesSecrets",)
        if spec.get(key)
    ]
    for key, value in mapping(spec.get("set")).items():
        place, is_text = join("/spec/set", key), isinstance(value, str) and value.lower() not in _TYPED
        layer = set_layer(item.source, place, str(key), value, is_text=is_text, escapes_commas=True)
        if layer is not None:
            layers.append(layer)
        else:
            unseen.append(Unknown(item.source.locate(place), "a value of `set`", is_here=True))
    yield ChartInstallation(
        chart=chart,
        document=item,
        pointer="/spec/valuesContent",
        version=archived or text_or_none(spec.get("version")),
        version_pointer="/spec/chart" if archived else "/spec/version",
        repository=text_or_none(spec.get("repo")) or text_or_none(spec.get("chart")),
        namespace=text_or_none(spec.get("targetNamespace")),
        release_name=text_or_none(item.metadata.get("name")),
        layers=tuple(layers),
        unknown=(*unseen, *unknown),
    )


def k3s_chart_config(item: CheckedDocument, objects: Finder) -> Iterator[ChartInstallation]:
    """A HelmChartConfig whose HelmChart is elsewhere: its name is the chart's, and nobody says the version."""
    name = word(item.metadata.get("name"))
    if not name or objects.named("HelmChart", name) is not None:
        return
    layers: list[ValuesLayer] = []
    unknown = [Unknown(item.source.locate("/spec"), "the rest of a HelmChart, of which this is a part")]
    add_text(item.source, "/spec/valuesContent", value_at(item.data, ("spec", "valuesContent")), layers, unknown)
    yield ChartInstallation(
        chart=name,
        document=item,
        pointer="/spec/valuesContent",
        release_name=name,
        layers=tuple(layers),
        unknown=tuple(unknown),
    )


_TYPED = ("true", "false", "null")
"""Texts that k3s hands on as `--set`; the others are texts to the chart (k3s-io/helm-controller: typedVal)."""


def inflated(item: CheckedDocument, folder: str, files: RepositoryFiles) -> Iterator[ChartInstallation]:
    """`helmCharts` of a kustomization; inline values win over files, unless `valuesMerge` says otherwise."""
    home = word(value_at(item.data, ("helmGlobals", "chartHome")))
    for index, chart in enumerate(mappings(item.data.get("helmCharts"))):
        pointer = f"/helmCharts/{index}"
        layers: list[ValuesLayer] = []
        unknown: list[Unknown] = []
        named = [("valuesFile", chart.get("valuesFile"))]
        named += [("additionalValuesFiles", path) for path in words(chart.get("additionalValuesFiles"))]
        for key, path in named:
            if isinstance(path, str) and path:
                _add_file(item, f"{pointer}/{key}", posixpath.join(folder, path), files, layers, unknown)
        if isinstance(values := chart.get("valuesInline"), dict):
            inline = ValuesLayer(values, item.source, f"{pointer}/valuesInline")
            merge = word(chart.get("valuesMerge")) or "override"
            layers = [inline] if merge == "replace" else [inline, *layers] if merge == "merge" else [*layers, inline]
        name = last(word(chart.get("name")))
        if name:
            kept = _inside(folder, home or "charts", name)
            found = ChartInstallation(
                chart=name,
                document=item,
                pointer=f"{pointer}/valuesInline",
                version=text_or_none(chart.get("version")),
                version_pointer=f"{pointer}/version",
                is_locked=not chart.get("repo") or files.is_folder(kept),
                repository=text_or_none(chart.get("repo")) or home or None,
                namespace=text_or_none(chart.get("namespace")) or text_or_none(item.data.get("namespace")),
                release_name=text_or_none(chart.get("releaseName")),
                layers=tuple(layers),
                unknown=tuple(unknown),
            )
            yield from resolved(found, kept, files)


def _inside(*parts: str) -> str:
    return posixpath.normpath(posixpath.join(*parts))


def fleet_chart(document: CheckedDocument, files: RepositoryFiles) -> Iterator[ChartInstallation]:
    """A fleet.yaml of Rancher's Fleet, once for all clusters; customisations of some come on top for these."""
    data = mapping(document.data)
    folder = posixpath.dirname(document.path)
    base = mapping(data.get("helm"))
    namespace = text_or_none(data.get("namespace")) or text_or_none(data.get("defaultNamespace"))
    layers, unknown = _fleet_values(document, base, "/helm", folder, files)
    variants: list[tuple[Any, str]] = [({}, "")]
    for index, target in enumerate(mappings(data.get("targetCustomizations"))):
        if isinstance(target.get("helm"), dict):
            variants.append((target["helm"], f"/targetCustomizations/{index}/helm"))
    for helm, pointer in variants if len(variants) == 1 else variants[1:]:
        more, unseen = _fleet_values(document, helm, pointer, folder, files) if pointer else ((), ())
        own = helm.get("version")
        chart = word(helm.get("chart")) or word(base.get("chart")) or _own_chart(folder, files)
        if not chart:
            continue
        version_at = f"{pointer}/version" if text_or_none(own) else "/helm/version"
        is_here = not (helm.get("repo") or base.get("repo") or "://" in chart)
        name, archived = named(chart)
        found = ChartInstallation(
            chart=name,
            document=document,
            pointer="/helm/values",
            version=archived or text_or_none(own) or text_or_none(base.get("version")),
            version_pointer=version_at,
            is_locked=is_here or files.is_file(f"{document.path.partition('.yaml')[0]}.lock"),
            repository=text_or_none(base.get("repo")) or text_or_none(chart),
            namespace=namespace,
            release_name=text_or_none(base.get("releaseName")),
            layers=(*layers, *more),
            unknown=(*unknown, *unseen),
        )
        if is_here:
            yield from resolved(found, _inside(folder, chart), files)
        else:
            yield found


def _own_chart(folder: str, files: RepositoryFiles) -> str:
    """Without a chart that is named, the bundle is the chart in whose folder it stands."""
    return "." if chart_at(folder, files) is not None else ""


def _fleet_values(
    document: CheckedDocument, helm: Any, pointer: str, folder: str, files: RepositoryFiles
) -> tuple[tuple[ValuesLayer, ...], tuple[Unknown, ...]]:
    layers: list[ValuesLayer] = []
    unknown: list[Unknown] = []
    if isinstance(values := helm.get("values"), dict):
        layers.append(ValuesLayer(values, document.source, f"{pointer}/values"))
    for index, path in enumerate(words(helm.get("valuesFiles"))):
        place, shown = f"{pointer}/valuesFiles/{index}", posixpath.join(folder, path)
        _add_file(document, place, shown, files, layers, unknown, is_from_git=True)
    if helm.get("valuesFrom"):
        unknown.append(Unknown(document.source.locate(f"{pointer}/valuesFrom"), "values from objects of the cluster"))
    return tuple(layers), tuple(unknown)


def _add_file(
    item: CheckedDocument,
    pointer: str,
    path: str,
    files: RepositoryFiles,
    layers: list[ValuesLayer],
    unknown: list[Unknown],
    *,
    is_from_git: bool = False,
) -> None:
    """`is_from_git`: nobody can have made the file beside the repository."""
    shown = normal(path)
    layer = file_layer(shown, files) if shown is not None else None
    if layer is not None:
        layers.append(layer)
    else:
        what, is_missing = f"the values file `{path}` is not among the files", is_from_git and shown is not None
        unknown.append(Unknown(item.source.locate(pointer), what, is_missing=is_missing))


def helmfile_releases(path: str, files: RepositoryFiles) -> Iterator[ChartInstallation]:
    """Releases of a helmfile.yaml, or of a template of one; only literals."""
    documents = [item for item in files.filled(path) if isinstance(item.data, dict)]
    listed = [entry for item in documents for entry in mappings(item.data.get("repositories"))]
    urls = {word(entry.get("name")): word(entry.get("url")) for entry in listed}
    environments = {str(name) for item in documents for name in mapping(item.data.get("environments"))}
    for document in documents:
        releases = list(mappings(mapping(document.data).get("releases")))
        most = max(1, _MOST_OF_ENVIRONMENTS // max(1, len(releases)))
        names = sorted(environments)[:most] or ["default"]
        of_each = [_in_environment(releases, name) for name in names]
        for made in of_each[:1] if all(made == of_each[0] for made in of_each) else of_each:
            yield from _releases(document, made, urls, files)


_MOST_OF_ENVIRONMENTS = 300
"""Releases that are made of those of one file."""
_ENVIRONMENT = pattern(r"\{\{-?\s*\.Environment\.Name\s*-?\}\}")


def _in_environment(value: Any, name: str) -> Any:
    """What a helmfile says, with the name of an environment for which it is rendered."""
    return mapped(value, lambda item: _ENVIRONMENT.sub(lambda _: name, item) if isinstance(item, str) else item)


def _releases(
    document: CheckedDocument, releases: list[dict[str, Any]], urls: dict[str, str], files: RepositoryFiles
) -> Iterator[ChartInstallation]:
    folder = posixpath.dirname(document.path)
    for index, release in enumerate(releases):
        chart, pointer = word(release.get("chart")), f"/releases/{index}"
        if not chart or release.get("installed") is False:
            continue
        layers: list[ValuesLayer] = []
        unknown: list[Unknown] = []
        values = release.get("values")
        for number, entry in enumerate(values if isinstance(values, list) else ()):
            place = f"{pointer}/values/{number}"
            if isinstance(entry, dict):
                layers.append(ValuesLayer(entry, document.source, place))
            elif isinstance(entry, str) and not entry.endswith(".gotmpl") and not _is_open(entry):
                _add_file(document, place, posixpath.join(folder, entry), files, layers, unknown)
            else:
                unknown.append(Unknown(document.source.locate(place), "values of a template", is_here=True))
        for number, entry in enumerate(mappings(release.get("set"))):
            place, value = f"{pointer}/set/{number}/value", entry.get("value")
            is_open = isinstance(value, str) and _is_open(value)
            layer = set_layer(
                document.source, place, word(entry.get("name")), None if is_open else value, escapes_commas=True
            )
            if layer is not None:
                layers.append(layer)
            else:
                unknown.append(Unknown(document.source.locate(place), "a value of `set`", is_here=True))
        if release.get("secrets"):
            unknown.append(Unknown(document.source.locate(f"{pointer}/secrets"), "values that are secret"))
        name, archived = named(chart)
        version = archived or text_or_none(release.get("version"))
        is_here = chart.startswith((".", "/")) or files.is_folder(_inside(folder, chart))
        found = ChartInstallation(
            chart=name,
            document=document,
            pointer=f"{pointer}/values",
            version=None if version is not None and _is_open(version) else version,
            version_pointer=f"{pointer}/version",
            is_locked=is_here,
            repository=urls.get(chart.partition("/")[0]) or chart,
            namespace=text_or_none(release.get("namespace")),
            release_name=text_or_none(release.get("name")),
            layers=tuple(layers),
            unknown=tuple(unknown),
        )
        if is_here:
            yield from resolved(found, _inside(folder, chart), files)
        else:
            yield found


def _is_open(text: str) -> bool:
    """Whether a template fills a text in."""
    return "{{" in text or LATER in text


class _Near:
    """Objects that an object names: those that are delivered with it, else those of the files."""

    def __init__(self, *trees: CheckedTree) -> None:
        self._trees = trees

    def named(self, kind: str, name: str) -> CheckedDocument | None:
        for tree in self._trees:
            if (found := tree.named(kind, name)) is not None:
                return found
        return None


def of_object(
    item: CheckedDocument, tree: CheckedTree, whole: CheckedTree, files: RepositoryFiles
) -> Iterator[ChartInstallation]:
    """What an object of the cluster installs; `tree` are the objects beside it, `whole` those of all files."""
    group = item.api_version.partition("/")[0]
    if item.kind == "HelmRelease" and group == FLUX:
        found = release_of(item, _Near(tree, whole))
        if found is None:
            return
        installation, source = found
        if source.folder is None:
            yield installation
        else:
            yield from resolved(installation, source.folder, files)
    elif item.kind == "HelmChart" and group == "helm.cattle.io":
        yield from k3s_chart(item, _Near(tree, whole))
    elif item.kind == "HelmChartConfig" and group == "helm.cattle.io":
        yield from k3s_chart_config(item, _Near(tree, whole))
    elif has_word(item.text, MARK):
        yield from charts_of_forms(item, files)


def loose_installations(
    tree: CheckedTree, whole: CheckedTree, files: RepositoryFiles, used: Container[str], others: Iterable[str]
) -> Iterator[ChartInstallation]:
    """Of objects that stand alone, and of files that other tools read; then of charts in folders that none of these
    and no other chart installs. `used` are files that have been counted, `others` those of the run whose names are
    not those of YAML."""
    found = list(_declared_alone(tree, whole, files, others))
    yield from found
    counted = {path for item in found for path in _chart_files(item)}
    free = [path for path in sorted(whole.paths) if posixpath.basename(path) == CHART_FILE]
    made = {
        path: tuple(copies(posixpath.dirname(path), files)) for path in free if path not in used and path not in counted
    }
    inner = {other for path, items in made.items() for item in items for other in _chart_files(item) if other != path}
    yield from (item for path, items in made.items() if path not in inner for item in items)


def _chart_files(item: ChartInstallation) -> Iterator[str]:
    yield from (document.path for document in (item.document, item.version_document) if document is not None)


def _declared_alone(
    tree: CheckedTree, whole: CheckedTree, files: RepositoryFiles, others: Iterable[str]
) -> Iterator[ChartInstallation]:
    for document in tree.documents:
        if document.is_object:
            yield from of_object(document, tree, whole, files)
        elif posixpath.basename(document.path) == FLEET_FILE:
            yield from fleet_chart(document, files)
        elif document.index == 0 and has_word(document.text, _ANSIBLE):
            from poolsmith.kubernetes.repository.ansible_charts import ansible_charts  # on demand

            yield from ansible_charts(document, files)
        elif has_word(document.text, MARK):
            yield from charts_of_forms(document, files)
        if is_project(document.path) and has_word(document.text, _PULUMI):
            from poolsmith.kubernetes.repository.program_charts import pulumi_charts  # on demand

            yield from pulumi_charts(document, files)
        if has_word(document.text, HELM):
            from poolsmith.kubernetes.repository.script_charts import charts_of_texts  # on demand

            yield from charts_of_texts(document, files)
    paths = sorted(whole.paths)
    for path in (*paths, *others):
        if is_helmfile(path):
            yield from helmfile_releases(path, files)
    projects = [path for path in (*paths, *others) if is_project(path)]
    if projects:
        from poolsmith.kubernetes.repository.program_charts import program_charts  # on demand

        yield from program_charts(projects, files)


_ANSIBLE, _PULUMI = "chart_ref", "helm.sh/"
_PROJECT_FILES = ("Pulumi.yaml", "Pulumi.yml", "cdk.json", "cdktf.json")


def is_project(path: str) -> bool:
    """Whether programs stand beside a file that may install charts."""
    return posixpath.basename(path) in _PROJECT_FILES


def of_other_languages(
    paths: Iterable[str], files: RepositoryFiles, scopes: Callable[[], TerraformScopes]
) -> Iterator[ChartInstallation]:
    """Charts of files that are no YAML."""
    may_be = (path for path in paths if is_script(path) and files.chart_of_template(path) is None)
    scripts = [path for path in may_be if HELM in (files.text(path) or "")]
    if scripts:
        from poolsmith.kubernetes.repository.script_charts import script_charts  # on demand

        for path in scripts:
            yield from script_charts(path, files)
    terraform = [path for path in paths if is_terraform(path)]
    declaring = [path for path in terraform if any(word in (files.text(path) or "") for word in INSTALLING)]
    if declaring:
        from poolsmith.kubernetes.repository.infrastructure_code import terraform_charts  # on demand

        for path in declaring:
            yield from terraform_charts(path, scopes(), files)


def is_helmfile(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    is_text = name.endswith((".yaml", ".yml", ".yaml.gotmpl", ".yml.gotmpl"))
    return is_text and (name.startswith("helmfile") or posixpath.basename(folder) == "helmfile.d")
