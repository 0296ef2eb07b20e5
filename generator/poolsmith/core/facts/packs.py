"""Packs: facts of releases that come beside the built-in ones. What they are, and which of them hold right now."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

P = ParamSpec("P")
T = TypeVar("T")

FOLDER = "profiles/_catalog"
"""Of a project: a folder for each pack, and their lock."""
LOCK_NAME, MANIFEST = "lock.yaml", "pack.yaml"
ENTRIES = ("charts/gpu-operator", "crds", "gpu_cluster", "nvidia_driver", "operands", "projection")
"""Folders of entries that are whole by themselves, in the data folder and in a pack."""
FACTS, VALUES = "facts", "values"
"""Folders of a pack whose entries go into shared files: what only people know, and value paths."""
FOLDERS = tuple(sorted((*ENTRIES, FACTS, VALUES)))
TABLES = "tables"
"""Folder of a pack whose files add rows to tables, or correct them."""
OTHER_CHARTS = ("charts/dcgm-exporter", "charts/kata-deploy")
"""Folders of charts beside the operator's, with an entry for each version."""
STACK_CHARTS = "stack_charts"
"""Folder with a folder for each chart beside the operator's: which values a version of it reads."""

FORM_ERRORS = (LookupError, TypeError, ValueError, AttributeError, StopIteration)
"""What readers raise over an entry of another form than they know."""


@record(eq=False)
class Pack:
    """One pack, checked. `files` are contents by path in it; `path` and `sha256` are those of its manifest."""

    name: str
    version: str
    source: str
    path: str
    sha256: str
    releases: tuple[str, ...]
    files: Mapping[str, bytes]

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that it has rows of."""
        return tuple(sorted(path[len(TABLES) + 1 : -5] for path in self.files if path.startswith(f"{TABLES}/")))

    @property
    def charts(self) -> tuple[tuple[str, str], ...]:
        """The charts beside the operator's whose values it knows, each with a version."""
        found = (path[:-5].split("/") for path in self.files if path.startswith(f"{STACK_CHARTS}/"))
        return tuple(sorted((chart, version) for _, chart, version in found))

    def table(self, name: str) -> dict[str, Any]:
        """Empty where the pack has no rows of it."""
        return self.entry(TABLES, name)

    def has(self, folder: str, release: str) -> bool:
        return f"{folder}/{release}.json" in self.files

    def entry(self, folder: str, release: str) -> dict[str, Any]:
        """Empty where the pack has none."""
        import json  # on demand: few have packs

        content = self.files.get(f"{folder}/{release}.json")
        found: dict[str, Any] = {} if content is None else json.loads(content)
        return found


class Packs:
    """All packs of a project. Two are equal when they hold the same bytes."""

    def __init__(self, packs: tuple[Pack, ...] = ()) -> None:
        self.packs = packs
        self._key = tuple(sorted(pack.sha256 for pack in packs))

    def __bool__(self) -> bool:
        return bool(self.packs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Packs) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def of(self, release: str) -> Pack | None:
        """The pack that a release comes from; None for a built-in one."""
        return next((pack for pack in self.packs if release in pack.releases), None)

    def content(self, path: str) -> bytes | None:
        """A file by its path in the data folder."""
        return next((pack.files[path] for pack in self.packs if path in pack.files), None)

    def names(self, folder: str) -> frozenset[str]:
        """Releases, or versions of a chart, with an entry in a folder."""
        found = (path.rpartition("/") for pack in self.packs for path in pack.files)
        return frozenset(name.removesuffix(".json") for parent, _, name in found if parent == folder)

    def behind(self, release: str) -> tuple[Pack, ...]:
        """The packs that decide what is known of a release: its own, and those with rows of tables for all of them."""
        return tuple(pack for pack in self.packs if release in pack.releases or pack.tables)

    def digest(self, release: str, built_in: str) -> str:
        """The hash of the facts of a release: the built-in ones, and those of packs behind it."""
        packs = self.behind(release)
        if not packs:
            return built_in
        sums = "\0".join(sorted(pack.sha256 for pack in packs))
        return "sha256:" + hashlib.sha256(f"{built_in}\0{sums}".encode()).hexdigest()


NO_PACKS = Packs()
_ACTIVE: ContextVar[Packs] = ContextVar("packs", default=NO_PACKS)
# NOTE: facts are looked up by release in every package. A context hands a project's packs to all of them for one run,
# and leaves nothing behind; what is remembered of a look-up is remembered by the packs that it was made with.


def active() -> Packs:
    """The packs of the run that asks."""
    return _ACTIVE.get()


@contextmanager
def using(packs: Packs) -> Iterator[Packs]:
    """Within it, the releases of these packs are known beside the built-in ones, and of no others."""
    token = _ACTIVE.set(packs)
    try:
        yield packs
    finally:
        _ACTIVE.reset(token)


def hold(packs: Packs) -> None:
    """For the rest of this process, which works for another one."""
    _ACTIVE.set(packs)


def remembered(function: Callable[P, T]) -> Callable[P, T]:
    """`functools.cache` for what follows from the catalog: by the arguments, and by the packs that hold."""

    def with_packs(packs: Packs, *args: P.args, **kwargs: P.kwargs) -> T:
        del packs
        return function(*args, **kwargs)

    known = cache(with_packs)

    @wraps(function)
    def found(*args: P.args, **kwargs: P.kwargs) -> T:
        return known(_ACTIVE.get(), *args, **kwargs)  # type: ignore[arg-type]  # hashable, as `cache` demands

    return found
