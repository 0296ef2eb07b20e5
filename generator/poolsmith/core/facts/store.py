"""The catalog's data files."""

from __future__ import annotations

import hashlib
import json
import os
from _blake2 import blake2b  # what hashlib would give, without loading OpenSSL
from functools import cache
from pathlib import Path
from typing import Any

from poolsmith.core.facts.packs import active, remembered
from poolsmith.core.own_modules import read_file

DATA = Path(__file__).parents[2] / "data"
LIKE = "like"
"""In place of an entry: the release whose entry it is but for `changes`."""
READER = (
    "scalars.py",
    "yaml_brackets.py",
    "yaml_events.py",
    "yaml_layouts.py",
    "yaml_library.py",
    "yaml_lines.py",
    "yaml_nodes.py",
    "yaml_problem.py",
    "yaml_reader.py",
)
"""What a YAML file says depends on these modules of `core/sources/`."""
_GENERATION = {
    "": ".yaml",
    "charts/*": ".json",
    "chart_workloads": "",
    "crds": ".json",
    "gpu_cluster": "",
    "nvidia_driver": "",
    "operands": "",
    "projection": "",
}
"""Folders, and how the names of their files end."""


def read_yaml(name: str) -> dict[str, Any]:
    """A data file that people keep, with what packs add to it. Its text is ours, so a mistake in it is a bug."""
    return _with_packs(name, read_own_yaml(name))


@remembered
def table(name: str) -> dict[str, Any]:
    """The same, read once for each set of packs: shared, so that nobody may change it."""
    return read_yaml(name)


def _with_packs(name: str, data: dict[str, Any]) -> dict[str, Any]:
    if not active():
        return data
    from poolsmith.core.facts.pack_merge import merged  # on demand

    return merged(name, data, active())


def read_own_yaml(name: str) -> dict[str, Any]:
    """The built-in part alone.

    Its twin in JSON is read instead, many times as fast, where there is one that was made of this very text.
    """
    content = read_file(f"{DATA}/{name}")
    data = _data_of_twin(f"{DATA}/{twin_of(name)}", content)
    return _parsed(content) if data is None else data


def _data_of_twin(twin: str, content: bytes) -> dict[str, Any] | None:
    """None where the twin is missing, half written, or made of another text or by another reader."""
    try:
        made = json.loads(read_file(twin))
        data: dict[str, Any] | None = made["data"] if made["of"] == _origin(content) else None
    except (OSError, LookupError, TypeError, ValueError):
        return None
    return data


def twin_of(name: str) -> str:
    """The path of a YAML file's twin. No twin is committed: `twins.py` writes them where poolsmith is installed."""
    return f"compiled/{name.removesuffix('.yaml').replace('/', '-')}.json"


def twin_text(name: str) -> str:
    """What the twin of a YAML file has to say."""
    content = read_file(f"{DATA}/{name}")
    return json.dumps({"of": _origin(content), "data": _parsed(content)}, separators=(",", ":")) + "\n"


def _parsed(content: bytes) -> dict[str, Any]:
    from poolsmith.core.sources.yaml_reader import read_documents  # on demand

    document: dict[str, Any] = read_documents(content.decode())[0]
    return document


def _origin(content: bytes) -> str:
    """What a twin is made of: the text, and the code that reads it."""
    return blake2b(_reader() + content, digest_size=32).hexdigest()


@cache
def _reader() -> bytes:
    folder = Path(__file__).parents[1] / "sources"
    return blake2b(b"\0".join(read_file(f"{folder}/{name}") for name in READER)).digest()


def read_json(name: str) -> dict[str, Any]:
    """A data file that the importer makes: whole, or as what it changes of another release's beside it; or a pack's."""
    content = active().content(name)
    document: dict[str, Any] = json.loads(read_file(f"{DATA}/{name}") if content is None else content)
    if content is not None:
        return document
    if LIKE not in document:
        return _with_packs(name, document)
    return changed(read_json(f"{name.rpartition('/')[0]}/{document[LIKE]}.json"), document["changes"])


def read_own_json(name: str) -> dict[str, Any]:
    """A whole file of the built-in part alone."""
    document: dict[str, Any] = json.loads(read_file(f"{DATA}/{name}"))
    return document


def changed(document: dict[str, Any], changes: list[list[Any]]) -> dict[str, Any]:
    """The document, of which nothing is kept, after changes: `set` a value, `cut` one, `put` one into a list.

    Each names its place by keys and positions; the tools that make them give positions from the last to the first.
    """
    for word, path, *value in changes:
        node: Any = document
        for step in path[:-1]:
            node = node[step]
        if word == "set":
            node[path[-1]] = value[0]
        elif word == "put":
            node.insert(path[-1], value[0])
        else:
            del node[path[-1]]
    return document


def names(folder: str) -> tuple[str, ...]:
    """Entry names in a folder of JSON files."""
    return tuple(sorted({*built_in(folder), *active().names(folder)}))


def built_in(folder: str) -> frozenset[str]:
    """Those that come with poolsmith."""
    return frozenset(name.rpartition("/")[2].removesuffix(".json") for name in _files(folder, ".json"))


def _files(folder: str, ending: str) -> list[str]:
    """Their paths in the data folder; of a folder that is not there, none."""
    above = folder.partition("/*")[0]
    place = DATA / above
    listed = os.listdir(place) if place.is_dir() else []  # noqa: PTH208 - pathlib takes twice as long
    if folder != above:
        return [path for name in listed for path in _files(f"{above}/{name}", ending)]
    return [f"{folder}/{name}" if folder else name for name in listed if name.endswith(ending)]


def digest() -> str:
    """One hash over the data that generation reads, for lock files; other data only judges what was generated."""
    total = hashlib.sha256()
    names = (name for folder, ending in _GENERATION.items() for name in _files(folder, ending))
    for name in sorted(names, key=lambda name: name.split("/")):
        with open(f"{DATA}/{name}", "rb") as file:  # noqa: PTH123 - hundreds of them
            content = file.read()
        total.update(f"{name}\0{len(content)}\0".encode())
        total.update(content)
    return "sha256:" + total.hexdigest()
