"""Who delivers an installation today, and what becomes of it when its declaration is removed.

Source: `data/deliverers.yaml`, each with its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import word
from poolsmith.core.sources.pointer import split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.repository.delivered import ChartInstallation


@record
class Deliverer:
    """`removed` and `keep` are the ends of sentences; `page` is the heading of docs/takeover.md that has the steps."""

    called: str
    page: str
    removed: str
    keep: str
    source: str


def deliverers() -> tuple[Deliverer, ...]:
    return tuple(map(_read, _entries()))


def deliverer_of(item: ChartInstallation) -> Deliverer | None:
    """By the object or the file that declares it; None of values alone, which say nothing of it."""
    return next((_read(entry) for entry in _entries() if _declares(entry, item)), None)


def removal_words(item: ChartInstallation, found: Deliverer) -> str:
    """`Terraform delivers it today (gpu.tf:1:1); ...`: what to do before its declaration goes."""
    name = word(item.document.metadata.get("name")) or item.release_name or item.chart
    keep = found.keep.format(name=name, file=item.document.path)
    place = item.document.source.locate(item.pointer).span
    return f"{found.called} delivers it today ({place}), and its removal {found.removed}: {keep}"


def _entries() -> Iterator[dict[str, Any]]:
    yield from store.read_yaml("deliverers.yaml")["deliverers"].values()


def _declares(entry: dict[str, Any], item: ChartInstallation) -> bool:
    document, name = item.document, item.document.path.rpartition("/")[2]
    if document.kind:
        return document.kind in entry.get("kinds", ())
    return (
        name in entry.get("files", ())
        or name.endswith(tuple(entry.get("suffixes", ())))
        or name.startswith(tuple(entry.get("stems", ())))
        or not set(entry.get("modules", ())).isdisjoint(split(item.pointer))
    )


def _read(entry: dict[str, Any]) -> Deliverer:
    return Deliverer(**{name: entry[name] for name in ("called", "page", "removed", "keep", "source")})
