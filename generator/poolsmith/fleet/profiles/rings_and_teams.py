"""Kinds RingOrder and TeamList: the order in which clusters get new releases, and which team may bring which profiles.

A team brings clusters and bases into the fleet.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose
from poolsmith.core.diagnostics.codes import shape as codes
from poolsmith.core.diagnostics.message_text import did_you_mean, shorten
from poolsmith.core.record import record, replace
from poolsmith.core.shape.documents import load_kind_document
from poolsmith.core.shape.field import DNS_LABEL, spec
from poolsmith.core.sources.pointer import join
from poolsmith.fleet.profiles.cluster import REVISION, REVISION_FORM

if TYPE_CHECKING:
    from poolsmith.core.shape.documents import FileSink, KindDocument
    from poolsmith.core.sources.input_tree import InputTree
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.fleet.profiles.cluster import ClusterSpec


RING_ORDER = "RingOrder"
_RING = "/spec/ring"


@record
class RingOrderSpec:
    """The rings. Clusters without a ring are outside of the order."""

    order: tuple[str, ...] = spec(
        "The rings; what is new reaches the first one first.",
        pattern=DNS_LABEL,
        form="a DNS label",
        examples=(["lab", "canary", "stable"],),
        unique=True,
    )
    revisions: dict[str, str] = spec(
        "Ring to the revision that its clusters are delivered from, instead of `delivery.revision` of each.",
        default={},
        keys=DNS_LABEL,
        pattern=REVISION,
        form=REVISION_FORM,
        examples=({"stable": "refs/heads/stable"},),
    )


@record
class Rings:
    """What a project says of rings. `order` is None without a file, and with one that has mistakes."""

    order: RingOrderSpec | None = None
    file: SourceFile | None = None
    is_there: bool = False
    problems: tuple[Diagnostic, ...] = ()

    def delivered(self, found: ClusterSpec, sink: FileSink) -> ClusterSpec:
        """A cluster's spec with the revision of its ring; mistakes go to `sink`."""
        if found.ring is None or (self.order is None and self.is_there):
            return found
        if self.order is None or found.ring not in self.order.order:
            message = f"there is no ring `{shorten(found.ring)}`" + (
                "" if self.is_there else ": there is no profiles/_rings.yaml"
            )
            advice = (
                did_you_mean(found.ring, self.order.order)
                if self.order is not None
                else ("write profiles/_rings.yaml of kind RingOrder, with `spec.order: [lab, canary, stable]`")
            )
            sink.report(codes.UNKNOWN_RING, _RING, message, advice)
            return found
        revision = self.order.revisions.get(found.ring)
        if revision is None:
            return found
        for key, written in (
            ("revision", sink.written("/spec/delivery/revision") is not None),
            ("sourceRef", found.delivery.source_ref is not None),
        ):
            if written:
                message = f"the ring `{found.ring}` is delivered from {revision}, and the cluster has its own `{key}`"
                advice = f"delete `{key}`, so that the cluster goes with its ring; or delete the cluster's `ring`"
                sink.report(codes.TWO_REVISIONS, f"/spec/delivery/{key}", message, advice)
        return replace(found, delivery=replace(found.delivery, revision=revision))

    def sets_revision(self, found: ClusterSpec) -> bool:
        """Whether the output of a cluster depends on the file."""
        return self.order is not None and found.ring in self.order.revisions


NO_RINGS = Rings()


def load_rings(tree: InputTree, path: str) -> Rings:
    """The order when it is sound, and all that is wrong with it."""
    document, problems = load_kind_document(tree, path, RING_ORDER, RingOrderSpec)
    if document is None:
        return Rings(is_there=True, problems=problems)
    file, known = document.file, document.spec
    unknown = tuple(
        diagnose(
            codes.UNKNOWN_RING,
            f"`revisions` names the ring `{shorten(name)}`, which `order` does not have",
            file.locate(join("/spec/revisions", name)),
            help=did_you_mean(name, known.order),
            subject=path,
        )
        for name in known.revisions
        if name not in known.order
    )
    return Rings(order=None if unknown else known, file=file, is_there=True, problems=unknown)


TEAMS = "TeamList"
_PATTERN = r"[a-z0-9*]([-a-z0-9*]{0,62})"
_FORM = "a name, with `*` for any letters"


@record
class Team:
    """One team with a repository of its own."""

    name: str = spec("Name of the team.", pattern=DNS_LABEL, form="a DNS label", examples=("vision",))
    clusters: tuple[str, ...] = spec(
        "Clusters that it may bring; `*` stands for any letters.",
        pattern=_PATTERN,
        form=_FORM,
        examples=(["vision-*"],),
        unique=True,
    )
    bases: tuple[str, ...] = spec(
        "Bases that it may bring; `*` stands for any letters.",
        default=(),
        pattern=rf"{_PATTERN}(@[0-9A-Za-z.*-]{{1,32}})?",
        form=_FORM,
        examples=(["vision-*"],),
        unique=True,
    )

    def may_bring(self, kind: str, name: str) -> bool:
        """`kind` is clusters or bases."""
        return any(fnmatchcase(name, pattern) for pattern in (self.clusters if kind == "clusters" else self.bases))


@record
class TeamListSpec:
    """All teams. What none of them may bring is the platform's own."""

    teams: tuple[Team, ...] = spec("The teams.")


def load_teams(tree: InputTree, path: str) -> tuple[KindDocument[TeamListSpec] | None, tuple[Diagnostic, ...]]:
    """The list when it is sound, and all that is wrong with it."""
    return load_kind_document(tree, path, TEAMS, TeamListSpec)
