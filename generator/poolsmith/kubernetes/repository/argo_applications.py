"""Applications of Argo CD: those that ApplicationSets make from files, and their charts with the values for Helm.

Values have the order in which the repo-server gives them to Helm.

Source: argo-cd docs/user-guide/helm.md: valueFiles, then values or valuesObject, then parameters. A file may lie in
another source of the same Application (`$ref/path`).

Source: argo-cd docs/operator-manual/applicationset: list, git files, git directories, matrix and merge; parameters as
fasttemplate (`{{path.basename}}`) and as Go templates (`{{.path.basename}}`). What a generator of another kind would
make, nobody can say from files: then there is one Application, with its parameters as they are written.
"""

from __future__ import annotations

import fnmatch
import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern as compiled_later
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.core.sources.pointer import mapped, value_at
from poolsmith.core.sources.scalars import text_of
from poolsmith.core.sources.source_file import SourceFile
from poolsmith.kubernetes.repository.delivered import ChartInstallation, Delivered, Unknown, ValuesLayer, delivered
from poolsmith.kubernetes.repository.flux_releases import add_text, last, upstream_chart
from poolsmith.kubernetes.repository.manifest_files import is_encrypted, without_ciphers
from poolsmith.kubernetes.repository.set_values import set_layer

if TYPE_CHECKING:
    import re
    from collections.abc import Container, Iterator

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles


@record(kw_only=False)
class ArgoSource:
    """One source of an Application, at `pointer`; `path` is a folder of the repository, None where it is elsewhere."""

    data: dict[str, Any]
    pointer: str
    path: str | None


def sources_of(spec: Any, pointer: str, files: RepositoryFiles, document: str) -> list[ArgoSource]:
    """`pointer` leads to the Application's spec. `sources` count, as soon as there are any. `document` is its file."""
    several = list(mappings(mapping(spec).get("sources")))
    if several:
        listed = [(source, f"{pointer}/sources/{index}") for index, source in enumerate(several)]
    else:
        listed = [(source, f"{pointer}/source") for source in mappings([mapping(spec).get("source")])]
    return [ArgoSource(source, place, _folder(source, files, document)) for source, place in listed]


def _folder(source: Any, files: RepositoryFiles, document: str) -> str | None:
    path = source.get("path")
    if not isinstance(path, str) or source.get("chart"):
        return None
    folder = normal(path)
    found = None if folder is None else files.told_from(folder, document)
    return found if found is not None and files.is_folder(found) else None


def normal(path: str) -> str | None:
    """A path of the repository, relative to its top; None of one that leads out."""
    found = posixpath.normpath(path.lstrip("/") or ".")
    return None if found.startswith("..") else "" if found == "." else found


def chart_installations(
    item: CheckedDocument, spec: Any, pointer: str, files: RepositoryFiles, elsewhere: Container[str] = ()
) -> Iterator[ChartInstallation]:
    """Those of sources that name a chart of a registry, or of its maker's repository; `elsewhere` are addresses of
    other repositories."""
    sources = sources_of(spec, pointer, files, item.path)
    for source in sources:
        address = word(source.data.get("repoURL"))
        chart = word(source.data.get("chart")) or (address if address.startswith("oci://") else "")
        chart = chart or (upstream_chart(word(source.data.get("path"))) if source.path is None else "")
        if not chart or source.data.get("ref"):
            continue
        layers, unknown = helm_layers(item, source, sources, files, elsewhere)
        version = source.data.get("targetRevision")
        yield ChartInstallation(
            chart=last(chart),
            document=item,
            pointer=f"{source.pointer}/helm",
            version=version if isinstance(version, str) else None,
            version_pointer=f"{source.pointer}/targetRevision",
            repository=address or None,
            namespace=word(value_at(spec, ("destination", "namespace"))) or None,
            release_name=word(value_at(source.data, ("helm", "releaseName"))) or item_name(item),
            layers=layers,
            unknown=unknown,
        )


def helm_layers(
    item: CheckedDocument,
    source: ArgoSource,
    sources: list[ArgoSource],
    files: RepositoryFiles,
    elsewhere: Container[str] = (),
) -> tuple[tuple[ValuesLayer, ...], tuple[Unknown, ...]]:
    """What a source's `helm` says of values, as layers, and what of it nobody can look at."""
    helm, pointer = mapping(source.data.get("helm")), f"{source.pointer}/helm"
    layers: list[ValuesLayer] = []
    unknown: list[Unknown] = []
    for index, path in enumerate(words(helm.get("valueFiles"))):
        shown = _value_file(path, source, sources, elsewhere)
        found = file_layer(files.told_from(shown, item.path), files) if shown is not None else None
        if found is not None:
            layers.append(found)
        elif shown is None or not helm.get("ignoreMissingValueFiles"):
            is_missing = shown is not None and _is_of_this_branch(path, source, sources)
            place = item.source.locate(f"{pointer}/valueFiles/{index}")
            unknown.append(Unknown(place, f"the values file `{path}` is not among the files", is_missing=is_missing))
    if isinstance(values := helm.get("valuesObject"), dict):
        layers.append(ValuesLayer(values, item.source, f"{pointer}/valuesObject"))
    else:
        add_text(item.source, f"{pointer}/values", helm.get("values"), layers, unknown)
    for index, parameter in enumerate(mappings(helm.get("parameters"))):
        where, is_text = f"{pointer}/parameters/{index}/value", bool(parameter.get("forceString"))
        name, value = word(parameter.get("name")), parameter.get("value")
        layer = set_layer(item.source, where, name, value, is_text=is_text, escapes_commas=True)
        if layer is not None:
            layers.append(layer)
        else:
            unknown.append(Unknown(item.source.locate(where), "a value of a parameter", is_here=True))
    if helm.get("fileParameters"):
        unknown.append(Unknown(item.source.locate(f"{pointer}/fileParameters"), "values from `fileParameters`"))
    return tuple(layers), tuple(unknown)


def _value_file(path: str, source: ArgoSource, sources: list[ArgoSource], elsewhere: Container[str]) -> str | None:
    """The path of a values file in the repository; None of one that lies elsewhere."""
    if "://" in path:
        return None
    if path.startswith("$"):
        reference, _, rest = path[1:].partition("/")
        named = [word(other.data.get("repoURL")) for other in sources if word(other.data.get("ref")) == reference]
        return normal(rest) if named and not any(address in elsewhere for address in named) else None
    if path.startswith("/"):
        return normal(path)
    return None if source.path is None else normal(posixpath.join(source.path, path))


_OF_THIS_BRANCH = ("HEAD", "main", "master", "")


def _is_of_this_branch(path: str, source: ArgoSource, sources: list[ArgoSource]) -> bool:
    """Whether a values file comes from what these files are, as far as anybody says."""
    reference = path[1:].partition("/")[0] if path.startswith("$") else ""
    read = [other for other in sources if word(other.data.get("ref")) == reference] if reference else [source]
    is_open = "{{" in path or "$" in path[1:]
    return not is_open and all(word(other.data.get("targetRevision")) in _OF_THIS_BRANCH for other in read)


def files_of_reference(reference: str, sources: list[ArgoSource], files: RepositoryFiles) -> int:
    """How many values files that the sources take from a `ref` are here. What stands at the top of a repository, or is
    an object, may be here by chance."""
    paths = (path for source in sources for path in words(mapping(source.data.get("helm")).get("valueFiles")))
    named = (normal(path.removeprefix(f"${reference}/")) for path in paths if path.startswith(f"${reference}/"))
    return sum(bool(path) and "/" in path and _holds_values(path, files) for path in named if path is not None)


def _holds_values(path: str, files: RepositoryFiles) -> bool:
    return files.is_file(path) and not any(document.is_object for document in files.documents(path))


def file_layer(path: str, files: RepositoryFiles) -> ValuesLayer | None:
    """The first document of a values file; an empty file has no values. None where there is no such file."""
    if not files.is_file(path):
        return None
    documents = files.file(path).documents
    text = files.text(path)
    if not documents:
        return None if text is None else ValuesLayer({}, SourceFile(path, text, {}))
    first = documents[0]
    if not isinstance(first.data, dict):
        return None
    if is_encrypted(first.data):
        return ValuesLayer(without_ciphers(first.data), first.source, is_incomplete=True)
    return ValuesLayer(first.data, first.source, is_incomplete=first.is_incomplete)


def item_name(item: CheckedDocument) -> str | None:
    return word(item.metadata.get("name")) or None


_PARAMETER = compiled_later(r"\{\{-?\s*+(?P<name>[^{}]*+)\}\}")
_INDEX = compiled_later(r"^index\s+(?P<name>\.[\w.]+)\s+(?P<key>\"[^\"]*\"|\d+)$")
_PATH = compiled_later(r"\.?[A-Za-z_][\w.\[\]-]*")
_MOST = 200
Parameters = dict[str, Any]


def applications_of(item: CheckedDocument, files: RepositoryFiles) -> Iterator[tuple[Delivered, Unknown | None]]:
    """The Applications of a set; places are those of its template."""
    spec = mapping(item.data.get("spec"))
    template = mapping(spec.get("template"))
    made = [
        parameters
        for index, generator in enumerate(mappings(spec.get("generators")))
        for parameters in _made(generator, f"/spec/generators/{index}", item, files)
    ]
    unknown = next((found for found in made if isinstance(found, Unknown)), None)
    known = [found for found in made if isinstance(found, dict)]
    for parameters in known[:_MOST] or [{}]:
        body = _filled(template, parameters)
        data = {
            "apiVersion": item.api_version,
            "kind": "Application",
            "metadata": {**mapping(body.get("metadata"))},
            "spec": mapping(body.get("spec")),
        }
        base = delivered(item)
        yield base.item_at("/spec/template", data), unknown if not known else None


def _made(
    generator: dict[str, Any], pointer: str, item: CheckedDocument, files: RepositoryFiles
) -> list[Parameters | Unknown]:
    for kind, body in generator.items():
        spec = mapping(body)
        if kind == "list":
            return [dict(element) for element in mappings(spec.get("elements"))]
        if kind == "git":
            return [*_directories(spec, files), *_files(spec, files)]
        if kind in ("matrix", "merge"):
            parts = [_made(part, pointer, item, files) for part in mappings(spec.get("generators"))]
            return _product(parts) if kind == "matrix" else _merged(parts, spec)
    kinds = ", ".join(str(key) for key in generator if key != "selector")
    return [Unknown(item.source.locate(pointer), f"what the generator `{kinds[:40]}` makes")]


def _product(parts: list[list[Parameters | Unknown]]) -> list[Parameters | Unknown]:
    """Each with each; parameters of an unknown part stay as they are written."""
    result: list[Parameters] = [{}]
    for part in parts:
        known = [found for found in part if isinstance(found, dict)] or [{}]
        result = [{**one, **other} for one in result for other in known][:_MOST]
    return list(result)


def _merged(parts: list[list[Parameters | Unknown]], spec: Any) -> list[Parameters | Unknown]:
    keys = [key for key in spec.get("mergeKeys") or () if isinstance(key, str)]
    if not parts:
        return []
    result: list[Parameters | Unknown] = []
    for base in parts[0]:
        if isinstance(base, Unknown):
            return [base]
        made = dict(base)
        for part in parts[1:]:
            for other in part:
                if isinstance(other, dict) and all(other.get(key) == base.get(key) for key in keys):
                    made.update(other)
        result.append(made)
    return result


def git_generators(generators: Any) -> Iterator[dict[str, Any]]:
    """Those over git in a list of generators, with those inside of other ones."""
    for generator in mappings(generators):
        for kind, body in generator.items():
            if kind == "git" and isinstance(body, dict):
                yield body
            elif kind in ("matrix", "merge"):
                yield from git_generators(mapping(body).get("generators"))


def is_here(generator: dict[str, Any], files: RepositoryFiles) -> bool:
    """Whether some folder or file of a generator over git is among the files."""
    return any(True for found in (_directories, _files) for _ in found(generator, files))


def left_out(generator: dict[str, Any], files: RepositoryFiles) -> Iterator[str]:
    """The folders that a generator over git names, and excludes, and those of files that it excludes."""
    yield from (folder for folder, is_barred in _named(generator, files) if is_barred)
    yield from (posixpath.dirname(path) for path, is_barred in _named_files(generator, files) if is_barred)


def _directories(spec: Any, files: RepositoryFiles) -> Iterator[Parameters]:
    yield from (_path_parameters(folder) for folder, is_barred in _named(spec, files) if not is_barred)


def _named(spec: Any, files: RepositoryFiles) -> Iterator[tuple[str, bool]]:
    """Folders, and whether the generator excludes each."""
    listed = list(mappings(spec.get("directories")))
    barred = [word(entry.get("path")) for entry in listed if entry.get("exclude")]
    for entry in listed:
        for folder in () if entry.get("exclude") else _folders(word(entry.get("path")), files):
            yield folder, any(_is_like(folder, other) for other in barred)


def _folders(pattern: str, files: RepositoryFiles) -> Iterator[str]:
    """Folders that a pattern with `*` for one step, or `**` for several, names."""
    found = normal(pattern)
    if found is None:
        return
    steps = found.split("/")
    pending = [("", 0)]
    while pending:
        folder, depth = pending.pop()
        if depth == len(steps):
            yield folder
            continue
        for below in files.folders_in(folder):
            if posixpath.basename(below).startswith("."):
                continue
            if steps[depth] == "**":
                pending += [(below, depth), (below, depth + 1)]
            elif fnmatch.fnmatchcase(posixpath.basename(below), steps[depth]):
                pending.append((below, depth + 1))


def _is_like(folder: str, pattern: str) -> bool:
    steps, wanted = folder.split("/"), (normal(pattern) or "").split("/")
    return len(steps) == len(wanted) and all(map(fnmatch.fnmatchcase, steps, wanted))


def _path_parameters(folder: str) -> Parameters:
    base = posixpath.basename(folder)
    segments = folder.split("/")
    nested = {"path": folder, "basename": base, "basenameNormalized": base.replace("_", "-"), "segments": segments}
    flat = {f"path[{index}]": segment for index, segment in enumerate(segments)}
    return {"path": nested, "path.basename": base, "path.basenameNormalized": nested["basenameNormalized"], **flat}


def _files(spec: Any, files: RepositoryFiles) -> Iterator[Parameters]:
    for path in (found for found, is_barred in _named_files(spec, files) if not is_barred):
        data = files.parsed(path)
        for content in mappings(data if isinstance(data, list) else [data]):
            yield {**content, **_path_parameters(posixpath.dirname(path)), "path.filename": posixpath.basename(path)}


def _named_files(spec: Any, files: RepositoryFiles) -> Iterator[tuple[str, bool]]:
    """Files in their order, each once, and whether the generator excludes it."""
    listed = [(normal(word(entry.get("path"))), entry.get("exclude") is True) for entry in mappings(spec.get("files"))]
    barred = [pattern for pattern, is_barred in listed if is_barred and pattern]
    wanted = [pattern for pattern, is_barred in listed if not is_barred and pattern]
    for path in sorted({path for pattern in wanted for path in _like(pattern, files)}):
        yield path, any(fnmatch.fnmatchcase(path, pattern) for pattern in barred)


def _like(pattern: str, files: RepositoryFiles) -> Iterator[str]:
    """As `git ls-files` takes a pattern: a `*` goes over any number of folders. Source: argoproj/argo-cd
    util/git/client.go, LsFiles."""
    top = _BEFORE_GLOB.match(pattern)
    below = files.files_below(top[0].rpartition("/")[0]) if top and top.end() < len(pattern) else [pattern]
    return (path for path in below if fnmatch.fnmatchcase(path, pattern) and files.is_file(path))


_BEFORE_GLOB = compiled_later(r"[^*?\[]*+")


def _filled(node: Any, parameters: Parameters) -> Any:
    return mapped(node, lambda item: _filled_text(item, parameters) if isinstance(item, str) else item)


def _filled_text(text: str, parameters: Parameters) -> str:
    return _PARAMETER.sub(lambda match: _value(match, parameters), text) if "{{" in text else text


def _value(match: re.Match[str], parameters: Parameters) -> str:
    """What stands for a parameter; as it is written where nobody knows."""
    name = match["name"].removesuffix("-").rstrip()
    if (indexed := _INDEX.fullmatch(name)) is not None:
        name = f"{indexed['name']}.{indexed['key'].strip(chr(34))}"
    if _PATH.fullmatch(name) is None:
        return match[0]
    plain = name.removeprefix(".")
    if not name.startswith(".") and plain in parameters and not isinstance(parameters[plain], dict | list):
        return text_of(parameters[plain])
    if plain == "path" and isinstance(parameters.get("path"), dict):
        return text_of(parameters["path"]["path"])
    node: Any = parameters
    for step in plain.split("."):
        if isinstance(node, dict) and step in node:
            node = node[step]
        elif isinstance(node, list) and step.isdecimal() and int(step) < len(node):
            node = node[int(step)]
        else:
            return match[0]
    return match[0] if isinstance(node, dict | list) else text_of(node)
