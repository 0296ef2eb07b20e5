"""Who delivers an installation today, and what becomes of it when its declaration is removed.

Source: `data/deliverers.yaml`, each with its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import word
from poolsmith.core.sources.pointer import split
from poolsmith.gpu.catalog.engines import engine_facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.kubernetes.repository.delivered import ChartInstallation


@record
class Deliverer:
    """`removed`, `moved` and `keep` are the ends of sentences; `page` is the heading of docs/takeover.md that has the
    steps. `kept` are paths of a declaration with the value that keeps a release whose declaration is removed."""

    called: str
    page: str
    removed: str
    keep: str
    source: str
    moved: str = ""
    kept: tuple[tuple[Sequence[str], Any], ...] = ()
    leaves: bool = False
    """Its removal does nothing by itself."""
    by_folder: bool = False
    """It is known by the folder of its file."""

    def keep_words(self, item: ChartInstallation) -> str:
        """What to do before the declaration goes."""
        name = word(item.document.metadata.get("name")) or item.release_name or item.chart
        return self.keep.format(name=name, file=item.document.path)


def deliverers() -> tuple[Deliverer, ...]:
    return tuple(map(_read, _entries()))


def deliverer_of(item: ChartInstallation) -> Deliverer | None:
    """By the object or the file that declares it; None of values alone, which say nothing of it."""
    return next((_read(entry) for entry in _entries() if _declares(entry, item)), None)


def _removal_words(item: ChartInstallation, found: Deliverer) -> str:
    """`Terraform delivers it today (gpu.tf:1:1); ...`: what to do before its declaration goes."""
    place = item.document.source.locate(item.pointer).span
    return f"{found.called} delivers it today ({place}), and its removal {found.removed}: {found.keep_words(item)}"


def owner_lines(item: ChartInstallation, today: str | None, plan: ClusterPlan, names: str) -> Iterator[str]:
    """Who delivers it today, where that is another one afterwards, or another object of the same engine: what its end
    does, and the step before it. `today` is the engine, None where it is neither Flux nor Argo CD; `names` ends the
    name of the generated object."""
    found, own = deliverer_of(item), word(item.document.metadata.get("name"))
    engine, generated = plan.cluster.spec.delivery.engine.value, f"{plan.cluster.metadata.name}-{names}"
    if found is None:
        yield "unknown delivery: nothing says who installs it today; docs/takeover.md has the steps for each who may"
    elif today != engine:
        steps = f"docs/takeover.md#{found.page} has the steps"
        yield f"differs delivery: {_removal_words(item, found)}. {engine_facts(engine)['name']} follows; {steps}"
    elif own != generated:
        yield (
            f"differs {item.document.kind}: {own} becomes {generated}. The removal of {own} {found.removed}: "
            f"{found.keep_words(item)}; docs/takeover.md#{found.page} has the steps"
            f"{_TRACKED.format(generated) if today == 'argocd' else ''}"
        )


_TRACKED = ". Until they are done, {} syncs nothing: the objects keep the tracking of the other one"


def _entries() -> Iterator[dict[str, Any]]:
    yield from store.read_yaml("deliverers.yaml")["deliverers"].values()


def declares_by_name(path: str) -> bool:
    """Whether a file of this name may declare an installation."""
    name = path.rpartition("/")[2]
    return name.endswith(_MANIFESTS) or any(_is_named(entry, name) for entry in _entries())


_MANIFESTS = (".yaml", ".yml", ".json")


def _is_named(entry: dict[str, Any], name: str) -> bool:
    return (
        name in entry.get("files", ())
        or name.endswith(tuple(entry.get("suffixes", ())))
        or name.startswith(tuple(entry.get("stems", ())))
    )


def _declares(entry: dict[str, Any], item: ChartInstallation) -> bool:
    document, name = item.document, item.document.path.rpartition("/")[2]
    if document.kind:
        return document.kind in entry.get("kinds", ())
    return _is_named(entry, name) or not set(entry.get("modules", ())).isdisjoint(split(item.pointer))


_FIELDS = ("called", "page", "removed", "keep", "source", "moved", "leaves", "by_folder")


def _read(entry: dict[str, Any]) -> Deliverer:
    kept = tuple((tuple(path), value) for path, value in entry.get("kept", ()))
    return Deliverer(**{name: entry[name] for name in _FIELDS if name in entry}, kept=kept)
