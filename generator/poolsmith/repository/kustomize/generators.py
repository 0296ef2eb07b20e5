"""ConfigMaps and Secrets that a kustomization generates, and the hash at the end of their names.

Source: kustomize api/internal/generators, kyaml/kv, and kyaml's hasher.
"""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
import re
from typing import TYPE_CHECKING, Any

from poolsmith.repository.delivered import Delivered, Layer, Unknown, delivered
from poolsmith.repository.kustomize.names import NEEDS_HASH
from poolsmith.sources.nested import copied
from poolsmith.sources.pod_template import mapping, mappings, word, words
from poolsmith.sources.pointer import join
from poolsmith.sources.source_file import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.repository.kustomize.fields import Place
    from poolsmith.repository.repository_files import RepositoryFiles

_KINDS = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}
_ALPHABET = str.maketrans("013ae", "ghkmt")
_HASH_LENGTH = 10
_LINE = re.compile(r"\s*(?:export\s+)?(?P<key>[^=\s]+)\s*=(?P<value>.*)")


def generated(
    objects: list[Delivered],
    data: Mapping[str, Any],
    place: Place,
    files: RepositoryFiles,
    folder: str,
    unknown: list[Unknown],
) -> Iterator[Delivered]:
    """The objects, some of them merged with what is generated, and then those that are new."""
    result = list(objects)
    common = mapping(data.get("generatorOptions"))
    for field, kind in _KINDS.items():
        for index, entry in enumerate(mappings(data.get(field))):
            pointer = f"/{field}/{index}"
            item = _made(kind, entry, common, place, pointer, files, folder, unknown)
            behaviour = word(entry.get("behavior"))
            at = _same(result, item) if behaviour in ("merge", "replace") else None
            if at is None:
                result.append(item)
            else:
                result[at] = _changed(result[at], item, behaviour)
    yield from result


def _made(
    kind: str,
    entry: dict[str, Any],
    common: Mapping[str, Any],
    place: Place,
    pointer: str,
    files: RepositoryFiles,
    folder: str,
    unknown: list[Unknown],
) -> Delivered:
    own = mapping(entry.get("options"))
    texts: dict[str, tuple[str, Layer]] = {}
    for index, literal in enumerate(words(entry.get("literals"))):
        key, _, value = literal.partition("=")
        texts[key.strip()] = (
            _unquoted(value),
            Layer(place.source, literal, place.pointer(f"{pointer}/literals/{index}")),
        )
    for index, named in enumerate(words(entry.get("files"))):
        key, equals, path = named.partition("=")
        path = path if equals else key
        _file(
            key if equals else posixpath.basename(path),
            path,
            f"{pointer}/files/{index}",
            texts,
            place,
            files,
            folder,
            unknown,
        )
    envs = [*words(entry.get("envs")), *words([entry.get("env")])]
    for index, path in enumerate(envs):
        shown = posixpath.normpath(posixpath.join(folder, path))
        text = files.text(shown)
        if text is None:
            unknown.append(
                Unknown(place.locate(f"{pointer}/envs/{index}"), f"what the file `{path}` holds, which is not there")
            )
            continue
        for number, line in enumerate(text.splitlines(), 1):
            found = _LINE.fullmatch(line)
            if found and not line.lstrip().startswith("#"):
                texts[found["key"]] = (found["value"], Layer(_TextLine(shown, text, number), ""))
    body: dict[str, Any] = {"apiVersion": "v1", "kind": kind, "metadata": {"name": word(entry.get("name"))}}
    if namespace := word(entry.get("namespace")):
        body["metadata"]["namespace"] = namespace
    for field in ("labels", "annotations"):
        marks = {**mapping(common.get(field)), **mapping(own.get(field))}
        if marks:
            body["metadata"][field] = marks
    if texts:
        body["data"] = {
            key: text if kind == "ConfigMap" else base64.b64encode(text.encode()).decode()
            for key, (text, _) in sorted(texts.items())
        }
    if kind == "Secret":
        body["type"] = word(entry.get("type")) or "Opaque"
    if own.get("immutable") or common.get("immutable"):
        body["immutable"] = True
    plain = own.get("disableNameSuffixHash", common.get("disableNameSuffixHash"))
    if not plain:
        body["metadata"][NEEDS_HASH] = True
    first = Layer(place.source, entry, place.pointer(pointer))
    layers = [first]
    layers += [Layer(layer.source, text, layer.pointer, join("/data", key)) for key, (text, layer) in texts.items()]
    source = place.source
    return Delivered(path=source.path, index=0, data=body, text=source.text, layers=tuple(layers))


def _file(
    key: str,
    path: str,
    pointer: str,
    texts: dict[str, tuple[str, Layer]],
    place: Place,
    files: RepositoryFiles,
    folder: str,
    unknown: list[Unknown],
) -> None:
    shown = posixpath.normpath(posixpath.join(folder, path))
    text = files.text(shown) if not shown.startswith("../") else None
    if text is None:
        unknown.append(Unknown(place.locate(pointer), f"what the file `{path}` holds, which is not there"))
        text = ""
        texts[key] = (text, Layer(place.source, text, place.pointer(pointer)))
        return
    texts[key] = (text, Layer(WholeText(shown, text), text))


class WholeText(SourceFile):
    """A file whose whole text is one value."""

    def __init__(self, path: str, text: str) -> None:
        super().__init__(path, text, text)

    def block_of(self, pointer: str) -> tuple[int, int] | None:
        return None if pointer else (1, 0)


class _TextLine(WholeText):
    """One line of a file of variables."""

    def __init__(self, path: str, text: str, number: int) -> None:
        super().__init__(path, text)
        self.number = number

    def block_of(self, _pointer: str) -> tuple[int, int] | None:
        return None


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value


def _same(objects: list[Delivered], item: Delivered) -> int | None:
    name, namespace = item.metadata.get("name"), item.metadata.get("namespace")
    for index, other in enumerate(objects):
        is_near = namespace is None or other.metadata.get("namespace") in (None, namespace)
        if is_near and other.kind == item.kind and other.metadata.get("name") == name:
            return index
    return None


def _changed(base: Delivered, item: Delivered, behaviour: str) -> Delivered:
    body = copied(base.data)
    body["data"] = {**(body.get("data") or {} if behaviour == "merge" else {}), **(item.data.get("data") or {})}
    for field in ("labels", "annotations"):
        marks = {**(body["metadata"].get(field) or {}), **(item.metadata.get(field) or {})}
        if marks:
            body["metadata"][field] = marks
    if item.metadata.get(NEEDS_HASH):
        body["metadata"][NEEDS_HASH] = True
    return delivered(base, body, item.layers[1:])


def name_hash(body: Mapping[str, Any]) -> str:
    """The ten letters behind the name of a generated object."""
    kind, metadata = body["kind"], body["metadata"]
    told: dict[str, Any] = {"kind": kind, "name": metadata.get("name", ""), "data": body.get("data", "")}
    if kind == "Secret":
        told["type"] = body.get("type", "")
        if "stringData" in body:
            told["stringData"] = body["stringData"]
    elif "binaryData" in body:
        told["binaryData"] = body["binaryData"]
    text = json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH_LENGTH].translate(_ALPHABET)
