"""Scripts that the operator's containers run, word for word; entries of the catalog have markers in their place."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from poolsmith.core.facts import store

_FILE = "scripts.yaml"
_MARKER = re.compile(r"<script ([0-9]{1,9}) chars>")


def with_scripts(node: Any) -> Any:
    """A part of an entry, changed in place: the text of each known script that a container in it runs."""
    if isinstance(node, dict):
        for key in ("args", "command") if isinstance(node.get("name"), str) else ():
            if isinstance(node.get(key), list):
                node[key] = [_script(node["name"], word) for word in node[key]]
        for child in node.values():
            with_scripts(child)
    elif isinstance(node, list):
        for child in node:
            with_scripts(child)
    return node


def _script(container: str, word: Any) -> Any:
    found = _MARKER.fullmatch(word) if isinstance(word, str) else None
    return word if found is None else _scripts().get((container, int(found[1])), word)


@cache
def _scripts() -> dict[tuple[str, int], str]:
    """By container and length."""
    return {(item["container"], len(item["text"])): item["text"] for item in store.read_yaml(_FILE)["scripts"]}
