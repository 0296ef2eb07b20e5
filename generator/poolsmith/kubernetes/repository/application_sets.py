"""ApplicationSets of Argo CD: the Applications that their generators make, as far as the files tell.

Source: argo-cd docs/operator-manual/applicationset: list, git files, git directories, matrix and merge; parameters as
fasttemplate (`{{path.basename}}`) and as Go templates (`{{.path.basename}}`). What a generator of another kind would
make, nobody can say from files: then there is one Application, with its parameters as they are written.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.nested import copied
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.kubernetes.repository.argo_sources import normal
from poolsmith.kubernetes.repository.delivered import Delivered, Unknown, delivered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

_PARAMETER = re.compile(r"\{\{-?\s*(?P<name>[^{}]*?)\s*-?\}\}")
_INDEX = re.compile(r"^index\s+(?P<name>\.[\w.]+)\s+(?P<key>\"[^\"]*\"|\d+)$")
_PATH = re.compile(r"\.?[A-Za-z_][\w.\[\]-]*")
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
        body = _filled(copied(template), parameters)
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


def _directories(spec: Any, files: RepositoryFiles) -> Iterator[Parameters]:
    listed = list(mappings(spec.get("directories")))
    wanted = [word(entry.get("path")) for entry in listed if not entry.get("exclude")]
    barred = [word(entry.get("path")) for entry in listed if entry.get("exclude")]
    for pattern in wanted:
        for folder in _folders(pattern, files):
            if not any(_is_like(folder, other) for other in barred):
                yield _path_parameters(folder)


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
    for entry in mappings(spec.get("files")):
        pattern = normal(word(entry.get("path")))
        if pattern is None:
            continue
        folder, _, name = pattern.rpartition("/")
        for found in _folders(folder, files) if folder else [""]:
            for path in files.files_in(found):
                if fnmatch.fnmatchcase(posixpath.basename(path), name):
                    data = files.parsed(path)
                    for content in mappings(data if isinstance(data, list) else [data]):
                        yield {**content, **_path_parameters(found), "path.filename": posixpath.basename(path)}


def _filled(node: Any, parameters: Parameters) -> Any:
    if isinstance(node, dict):
        return {key: _filled(value, parameters) for key, value in node.items()}
    if isinstance(node, list):
        return [_filled(item, parameters) for item in node]
    if isinstance(node, str) and "{{" in node:
        return _PARAMETER.sub(lambda match: _value(match, parameters), node)
    return node


def _value(match: re.Match[str], parameters: Parameters) -> str:
    """What stands for a parameter; as it is written where nobody knows."""
    name = match["name"]
    if (indexed := _INDEX.fullmatch(name)) is not None:
        name = f"{indexed['name']}.{indexed['key'].strip(chr(34))}"
    if _PATH.fullmatch(name) is None:
        return match[0]
    plain = name.removeprefix(".")
    if not name.startswith(".") and plain in parameters and not isinstance(parameters[plain], dict | list):
        return _text(parameters[plain])
    if plain == "path" and isinstance(parameters.get("path"), dict):
        return _text(parameters["path"]["path"])
    node: Any = parameters
    for step in plain.split("."):
        if isinstance(node, dict) and step in node:
            node = node[step]
        elif isinstance(node, list) and step.isdecimal() and int(step) < len(node):
            node = node[int(step)]
        else:
            return match[0]
    return match[0] if isinstance(node, dict | list) else _text(node)


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else "" if value is None else str(value)
