"""ConfigMaps and Secrets that a kustomization generates, and the hash at the end of their names.

Source: kustomize api/internal/generators, api/kv, api/resmap (appendReplaceOrMerge), api/hasher.
"""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word, words
from poolsmith.core.sources.pointer import join
from poolsmith.core.sources.source_file import SourceFile
from poolsmith.kubernetes.repository.delivered import Delivered, Layer, delivered
from poolsmith.kubernetes.repository.kustomize.item import Item, RefusedError, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.kubernetes.repository.kustomize.kustomization_file import FolderFiles, Place

KINDS = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}
_BEHAVIORS = ("merge", "replace")
_ALPHABET = str.maketrans("013ae", "ghkmt")
_HASH_LENGTH = 10
_LINE_LENGTH = 70
_BOM = "\ufeff"


@record(kw_only=False)
class Pair:
    """A key with its text, and where the user says it."""

    key: str
    text: str
    source: SourceFile
    pointer: str


def generated(
    items: list[Item], kind: str, entry: Any, common: Any, place: Place, pointer: str, files: FolderFiles
) -> list[Item]:
    """The items with one more, or with one of them changed. Raises RefusedError and MissingError."""
    if not isinstance(entry, dict) or not word(entry.get("name")):
        raise RefusedError("a generator has no name")
    item = _made(kind, entry, mapping(common), place, pointer, list(_pairs(entry, place, pointer, files)))
    behavior = word(entry.get("behavior"))
    own = item.identity
    found = [at for at, other in enumerate(items) if any(own.is_same(one) for one in other.identities)]
    if len(found) > 1:
        raise RefusedError(f"several objects may be meant by the generator of `{own.name[:60]}`")
    if not found:
        if behavior in _BEHAVIORS:
            raise RefusedError(f"there is no {kind} `{own.name[:60]}` to {behavior}")
        return [*items, item]
    if behavior not in _BEHAVIORS:
        raise RefusedError(f"{kind} `{own.name[:60]}` is there already")
    at = found[0]
    return [*items[:at], _joined(items[at], item, behavior), *items[at + 1 :]]


def _pairs(entry: Mapping[str, Any], place: Place, pointer: str, files: FolderFiles) -> Iterator[Pair]:
    for index, path in enumerate([*words(entry.get("envs")), *words([entry.get("env")])]):
        del index
        yield from _variables(files.path(path), files.text(path))
    for index, literal in enumerate(words(entry.get("literals"))):
        key, equals, value = literal.partition("=")
        if not equals or not key:
            raise RefusedError("a literal is not `key=value`")
        yield Pair(key, _unquoted(value), place.source, place.pointer(f"{pointer}/literals/{index}"))
    for named in words(entry.get("files")):
        key, equals, path = named.partition("=")
        if "=" in path or (equals and not (key and path)):
            raise RefusedError("a file is not `path` or `key=path`")
        path = path if equals else key
        text = files.text(path)
        yield Pair(key if equals else posixpath.basename(path), text, WholeText(files.path(path), text), "")


def _variables(shown: str, text: str) -> Iterator[Pair]:
    for number, line in enumerate(text.removeprefix(_BOM).split("\n"), 1):
        stripped = line.removesuffix("\r").lstrip()
        if not stripped or stripped.startswith("#"):
            continue
        key, _, value = stripped.partition("=")
        yield Pair(key, value, _TextLine(shown, text, number), "")


def _made(
    kind: str, entry: Mapping[str, Any], common: Mapping[str, Any], place: Place, pointer: str, pairs: list[Pair]
) -> Item:
    keys = [pair.key for pair in pairs]
    if len(set(keys)) < len(keys):
        raise RefusedError("a key is generated twice")
    own = mapping(entry.get("options"))
    metadata: dict[str, Any] = {"name": word(entry.get("name"))}
    if namespace := word(entry.get("namespace")):
        metadata["namespace"] = namespace
    for field in ("labels", "annotations"):
        marks = {**mapping(common.get(field)), **mapping(own.get(field))}
        if marks:
            metadata[field] = marks
    body: dict[str, Any] = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    if pairs or kind == "Secret":
        body["data"] = {
            pair.key: pair.text if kind == "ConfigMap" else _encoded(pair.text)
            for pair in sorted(pairs, key=lambda pair: pair.key)
        }
    if kind == "Secret":
        body["type"] = word(entry.get("type")) or "Opaque"
    if own.get("immutable") is True or common.get("immutable") is True:
        body["immutable"] = True
    source = place.source
    layers = [Layer(source, dict(entry), place.pointer(pointer))]
    layers += [Layer(pair.source, pair.text, pair.pointer, join("/data", pair.key)) for pair in pairs]
    is_plain = own.get("disableNameSuffixHash") is True or common.get("disableNameSuffixHash") is True
    made = Delivered(path=source.path, index=0, data=body, text=source.text, layers=tuple(layers))
    return Item(made, needs_hash=not is_plain, behavior=word(entry.get("behavior")))


def _encoded(text: str) -> str:
    """Long ones in lines."""
    encoded = base64.b64encode(text.encode()).decode()
    if len(encoded) < _LINE_LENGTH:
        return encoded
    return "".join(f"{encoded[at : at + _LINE_LENGTH]}\n" for at in range(0, len(encoded), _LINE_LENGTH))


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


def _joined(old: Item, new: Item, behavior: str) -> Item:
    """The new one under the old one's name; it has a hash where both have."""
    metadata = dict(new.data["metadata"])
    before = mapping(old.data.get("metadata"))
    for field in ("labels", "annotations"):
        marks = {**mapping(before.get(field)), **mapping(metadata.get(field))}
        if marks:
            metadata[field] = {key: text_of(value) for key, value in marks.items()}
    metadata.pop("namespace", None)
    metadata.update({key: before[key] for key in ("name", "namespace") if key in before})
    body = {**new.data, "metadata": metadata}
    if behavior == "merge":
        for field in ("data", "binaryData"):
            pairs = {**mapping(old.data.get(field)), **mapping(new.data.get(field))}
            if pairs:
                body[field] = dict(sorted(pairs.items()))
    told = delivered(old.object, body, new.object.layers)
    return replace(old, object=told, needs_hash=old.needs_hash and new.needs_hash)


def with_hash(item: Item) -> Item:
    """Under the name that tells its content."""
    metadata = mapping(item.data.get("metadata"))
    name = f"{text_of(metadata.get('name'))}-{name_hash(item.data)}"
    return item.remembered().changed({**item.data, "metadata": {**metadata, "name": name}})


def name_hash(body: Mapping[str, Any]) -> str:
    """The ten letters behind the name of a generated object; kustomize always takes its name for empty."""
    kind = body["kind"]
    told: dict[str, Any] = {"kind": kind, "name": "", "data": body.get("data", "")}
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
