"""The catalog's data files."""

from __future__ import annotations

import hashlib
import json
from _blake2 import blake2b  # what hashlib would give, without loading OpenSSL
from functools import cache
from pathlib import Path
from typing import Any

from poolsmith.core.facts.packs import active, remembered

DATA = Path(__file__).parents[2] / "data"
LIKE = "like"
"""In place of an entry: the release whose entry it is but for `changes`."""
READER = ("pointer.py", "scalars.py", "yaml_events.py", "yaml_library.py", "yaml_lines.py", "yaml_reader.py")
"""What a YAML file says depends on these modules of `core/sources/`."""
_GENERATION = (
    "*.yaml",
    "charts/*/*.json",
    "chart_workloads/*",
    "crds/*.json",
    "gpu_cluster/*",
    "nvidia_driver/*",
    "operands/*",
    "projection/*",
)


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
    content = (DATA / name).read_bytes()
    data = _data_of_twin(DATA / twin_of(name), content)
    return _parsed(content) if data is None else data


def _data_of_twin(twin: Path, content: bytes) -> dict[str, Any] | None:
    """None where the twin is missing, half written, or made of another text or by another reader."""
    try:
        made = json.loads(twin.read_bytes())
        data: dict[str, Any] | None = made["data"] if made["of"] == _origin(content) else None
    except (OSError, LookupError, TypeError, ValueError):
        return None
    return data


def twin_of(name: str) -> str:
    """The path of a YAML file's twin. No twin is committed: `twins.py` writes them where poolsmith is installed."""
    return f"compiled/{name.removesuffix('.yaml').replace('/', '-')}.json"


def twin_text(name: str) -> str:
    """What the twin of a YAML file has to say."""
    content = (DATA / name).read_bytes()
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
    return blake2b(b"\0".join((folder / name).read_bytes() for name in READER)).digest()


def read_json(name: str) -> dict[str, Any]:
    """A data file that the importer makes: whole, or as what it changes of another release's beside it; or a pack's."""
    content = active().content(name)
    document: dict[str, Any] = json.loads((DATA / name).read_bytes() if content is None else content)
    if content is not None:
        return document
    if LIKE not in document:
        return _with_packs(name, document)
    return changed(read_json(f"{name.rpartition('/')[0]}/{document[LIKE]}.json"), document["changes"])


def read_own_json(name: str) -> dict[str, Any]:
    """A whole file of the built-in part alone."""
    document: dict[str, Any] = json.loads((DATA / name).read_bytes())
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
    return frozenset(path.stem for path in (DATA / folder).glob("*.json"))


def digest() -> str:
    """One hash over the data that generation reads, for lock files; other data only judges what was generated."""
    total = hashlib.sha256()
    for path in sorted(path for pattern in _GENERATION for path in DATA.glob(pattern)):
        content = path.read_bytes()
        total.update(f"{path.relative_to(DATA).as_posix()}\0{len(content)}\0".encode())
        total.update(content)
    return "sha256:" + total.hexdigest()
