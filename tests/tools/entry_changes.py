"""An entry of a release as what it changes of another release's, which is a small part of it between patch releases.

`store.changed` reads it. What is at positions of a list is told from its last position to its first, so that each
holds in the list as it stands then.
"""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import line_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tools.catalog_data import CatalogData

_WORTH = 2
"""How many times smaller than the whole entry its changes have to be."""


def entry_file(data: CatalogData, folder: str, release: str, text: str) -> bytes:
    """An entry as it is written: the changes against the whole entry of a release of its line, or `text`, the whole."""
    entry = json.loads(text)
    for tag in data.releases(folder):
        if tag == release or line_of(tag) != line_of(release):
            continue
        other = data.entry(folder, tag)
        if store.LIKE in other:
            continue
        short = changes_text(tag, other, entry)
        if len(short) * _WORTH < len(text):
            return short.encode()
    return text.encode()


def changes_text(tag: str, other: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    """The file of an entry that is like another one: one change a line."""
    lines = ",\n".join(f"  {json.dumps(change, ensure_ascii=False)}" for change in changes(other, entry))
    return f'{{\n "{store.LIKE}": {json.dumps(tag)},\n "changes": [\n{lines}\n ]\n}}\n'


def changes(old: Any, new: Any, path: tuple[str | int, ...] = ()) -> Iterator[list[Any]]:
    """What `store.changed` does to `old` to make `new` of it."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in new:
            if key in old:
                yield from changes(old[key], new[key], (*path, key))
            else:
                yield ["set", [*path, key], new[key]]
        yield from (["cut", [*path, key]] for key in old if key not in new)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _of_lists(old, new, path)
    elif old != new or type(old) is not type(new):
        yield ["set", list(path), new]


def _of_lists(old: list[Any], new: list[Any], path: tuple[str | int, ...]) -> Iterator[list[Any]]:
    before, after = ([json.dumps(item, sort_keys=True) for item in items] for items in (old, new))
    for word, i1, i2, j1, j2 in reversed(SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes()):
        if word == "equal":
            continue
        shared = min(i2 - i1, j2 - j1)
        for index in range(i2 - 1, i1 + shared - 1, -1):
            yield ["cut", [*path, index]]
        for index in range(j2 - 1, j1 + shared - 1, -1):
            yield ["put", [*path, i1 + shared], new[index]]
        for offset in range(shared - 1, -1, -1):
            yield from changes(old[i1 + offset], new[j1 + offset], (*path, i1 + offset))
