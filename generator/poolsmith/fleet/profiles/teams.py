"""Kind TeamList: which team may bring which clusters and bases into the fleet."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.core.shape.field import DNS_LABEL, spec
from poolsmith.core.shape.kind_document import load_kind_document

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.shape.kind_document import KindDocument
    from poolsmith.core.sources.input_tree import InputTree

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
