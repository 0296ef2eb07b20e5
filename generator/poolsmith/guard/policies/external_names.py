"""Kind ExternalNames: names that something here needs and that come from outside, each with who supplies it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose
from poolsmith.core.diagnostics.codes import shape as shape_codes
from poolsmith.core.diagnostics.codes.outside import (
    EXPIRED_EXTERNAL_NAME,
    UNEXPLAINED_EXTERNAL_NAME,
    UNUSED_EXTERNAL_NAME,
)
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.record import record
from poolsmith.core.shape.documents import load_kind_document
from poolsmith.core.shape.field import spec
from poolsmith.core.shape.review import DATE, PROSE, day_of, is_placeholder
from poolsmith.guard.ledger.grants.matching import glob_matches

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.shape.documents import KindDocument
    from poolsmith.core.sources.input_tree import InputTree

EXTERNAL = "ExternalNames"
_NAME = r"[^\s\x00-\x1f\x7f*?]{1,253}"
_EXPLAINED = ("supplier", "reason", "owner")


@record
class ExternalName:
    """One name, and who answers for it."""

    kind: str = spec(
        "Kind of what is needed.", pattern=r"[A-Z][A-Za-z]{0,62}", form="a kind", examples=("ConfigMap", "Namespace")
    )
    name: str = spec("Exactly its name; no wildcards.", pattern=_NAME, form="a name", examples=("gpu-licence",))
    namespace: str | None = spec(
        "Its namespace, where it has one. Default: any.", default=None, pattern=_NAME, form="a DNS label"
    )
    clusters: tuple[str, ...] = spec(
        "Folders of the clusters that it is in, or the last parts of their paths; `*` stands for any letters.",
        default=("*",),
        pattern=r"[A-Za-z0-9*?._][-A-Za-z0-9.*?_/ ]{0,252}",
        form="a folder, or a pattern with `*` and `?`",
        examples=(["prod-*"],),
        unique=True,
    )
    supplier: str = spec("Who or what makes it.", default="", pattern=PROSE, examples=("Terraform, repository infra",))
    reason: str = spec("Why it comes from outside.", default="", pattern=PROSE)
    owner: str = spec("The team that is responsible.", default="", pattern=PROSE, examples=("gpu-platform",))
    expires: str = spec(
        "The last day on which it is valid.", pattern=DATE, form="a day such as 2027-06-30", examples=("2027-06-30",)
    )


@record
class ExternalNamesSpec:
    """All names that come from outside of this repository."""

    names: tuple[ExternalName, ...] = spec("The names.", default=())


@record(kw_only=False)
class LoadedName:
    """An entry that can hold, and where it stands."""

    name: ExternalName
    last_day: dt.date
    place: Location

    def is_for(self, kind: str, name: str, namespace: str | None, cluster: str) -> bool:
        """Whether the entry is about a need of a cluster, whatever the day."""
        own = self.name
        if (own.kind, own.name) != (kind, name) or (own.namespace and namespace and own.namespace != namespace):
            return False
        return any(glob_matches(glob, text) for glob in own.clusters for text in (cluster, cluster.rpartition("/")[2]))


class ExternalBook:
    """The entries of a repository, and which of them something asked for."""

    def __init__(self, entries: Iterable[LoadedName], today: dt.date | None) -> None:
        self._today = today
        self._entries: dict[tuple[str, str], list[LoadedName]] = {}
        for entry in entries:
            self._entries.setdefault((entry.name.kind, entry.name.name), []).append(entry)
        self._used: set[int] = set()

    def has(self, kind: str, name: str, namespace: str | None, cluster: str) -> bool:
        """Whether an entry that still holds says that it comes from outside."""
        found = [item for item in self._entries.get((kind, name), ()) if item.is_for(kind, name, namespace, cluster)]
        self._used.update(map(id, found))
        return not all(self._is_past(item) for item in found)

    def problems(self, *, complete: bool) -> Iterator[Diagnostic]:
        """Entries past their day; of a `complete` run those that nothing asked for."""
        for item in (entry for entries in self._entries.values() for entry in entries):
            shown = f"{item.name.kind}/{shorten(item.name.name)}"
            if self._is_past(item):
                message = f"that {shown} comes from outside was valid until {item.last_day}"
                yield diagnose(EXPIRED_EXTERNAL_NAME, message, item.place, subject=shown)
            elif complete and id(item) not in self._used:
                message = f"nothing here needs {shown} from outside"
                yield diagnose(UNUSED_EXTERNAL_NAME, message, item.place, subject=shown)

    def _is_past(self, item: LoadedName) -> bool:
        return self._today is not None and self._today > item.last_day


def load_external(tree: InputTree, path: str) -> tuple[tuple[LoadedName, ...], tuple[Diagnostic, ...]]:
    """The entries that can hold, and what is wrong with the others."""
    document, problems = load_kind_document(tree, path, EXTERNAL, ExternalNamesSpec)
    if document is None:
        return (), problems
    sound: list[LoadedName] = []
    found = [*problems]
    for index, name in enumerate(document.spec.names):
        wrong = list(_problems(name, document, f"/spec/names/{index}"))
        found += wrong
        if not wrong and (last_day := day_of(name.expires)) is not None:
            sound.append(LoadedName(name, last_day, document.file.locate(f"/spec/names/{index}")))
    return tuple(sound), tuple(found)


def _problems(name: ExternalName, document: KindDocument[ExternalNamesSpec], at: str) -> Iterator[Diagnostic]:
    shown = f"{name.kind}/{shorten(name.name)}"
    for field in _EXPLAINED:
        if is_placeholder(getattr(name, field)):
            message = f"the entry of {shown} has no {field}"
            yield diagnose(UNEXPLAINED_EXTERNAL_NAME, message, document.file.locate(f"{at}/{field}"), subject=shown)
    if day_of(name.expires) is None:
        message = f"`{name.expires}` is no day of the calendar"
        place = document.file.locate(f"{at}/expires")
        yield diagnose(shape_codes.INVALID_VALUE, message, place, help="write a day such as 2027-06-30")
