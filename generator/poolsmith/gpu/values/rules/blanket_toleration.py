"""Tolerations of everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM295")
_PLACES = (
    ("daemonsets", "tolerations"),
    ("operator", "tolerations"),
    *(("node-feature-discovery", part, "tolerations") for part in ("worker", "master", "gc", "topologyUpdater")),
)


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    for path in _PLACES:
        entries = document.get(path)
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict) and entry.get("operator") == "Exists" and entry.get("key") in (None, ""):
                effect = entry.get("effect")
                what = f"every taint of effect {effect}" if isinstance(effect, str) and effect else "every taint"
                yield Finding(
                    place=(*path, index),
                    message=f"`{dotted((*path, index))}` tolerates {what}",
                    help="write a `key` for each taint that your GPU nodes have",
                )
