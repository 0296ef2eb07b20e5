"""A grant that nothing needs, or a part of one."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.guard.ledger.grants.grant import written_privileges
from poolsmith.guard.ledger.grants.matching import glob_matches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.ledger.grants.grant_files import LoadedGrant
    from poolsmith.guard.ledger.grants.grant_use import GrantReview
    from poolsmith.guard.ledger.privilege import Privilege

RULE = RuleInfo.of("PSM411")


def check(review: GrantReview) -> Iterator[Finding[Location]]:
    if not review.complete:
        return
    used = review.use.use.grants
    for index, loaded in review.numbered():
        if index in used and not _is_for_blind(review, loaded):
            yield from _parts(review, index, loaded)
        elif index not in used and not is_undecided(review, index, loaded):
            yield Finding(
                message=f"grant `{loaded.grant.name}` is not needed: {_why(review, index, loaded)}",
                place=loaded.file.locate("/metadata/name"),
                subject=loaded.grant.name,
                help="correct its names, or delete it",
            )


def is_undecided(review: GrantReview, index: int, loaded: LoadedGrant) -> bool:
    """Whether the grant may be for something that could not be foretold of one of its clusters."""
    return index not in review.use.use.met and any(
        glob_matches(pattern, cluster) for pattern in loaded.grant.spec.clusters for cluster in review.use.unknown
    )


def _is_for_blind(review: GrantReview, loaded: LoadedGrant) -> bool:
    """Whether one of its clusters is on a release of which nobody knows what it runs: any part may be for that."""
    return any(glob_matches(pattern, name) for pattern in loaded.grant.spec.clusters for name in review.use.blind)


def _why(review: GrantReview, index: int, loaded: LoadedGrant) -> str:
    spec = loaded.grant.spec
    if not any(glob_matches(pattern, cluster) for pattern in spec.clusters for cluster in review.use.names):
        return f"no cluster is named {listed(spec.clusters, 4) or 'by it'}"
    if index not in review.use.use.met:
        return f"no workload of its clusters is named `{spec.workload}`"
    return f"`{spec.workload}` holds nothing of it in these pools, containers and images that no other grant allows"


def _parts(review: GrantReview, index: int, loaded: LoadedGrant) -> Iterator[Finding[Location]]:
    use, spec = review.use.use, loaded.grant.spec
    idle: defaultdict[int, list[Privilege]] = defaultdict(list)
    for token, (entry, privilege) in enumerate(loaded.grant.tokens):
        if (index, token) not in use.exact and (index, token) not in use.wider:
            idle[entry].append(privilege)
    for entry, privileges in idle.items():
        yield _unused(loaded, "privileges", entry, written_privileges(privileges)[0])
    fields = {
        "containers": (spec.containers, use.containers),
        "images": (spec.images, use.repositories),
        "pools": (spec.pools, use.pools),
        "clusters": (spec.clusters, review.use.clusters),
    }
    for field, (items, needed) in fields.items():
        for entry, item in enumerate(items):
            if (index, item) not in needed:
                yield _unused(loaded, field, entry, item)


_NEEDED = {
    "privileges": "nothing that the grant is for holds it, or another grant allows just that",
    "containers": "no container of that name needs the grant",
    "images": "no container with that image needs the grant",
    "pools": "on no such pool anything needs the grant",
    "clusters": "in no such cluster anything needs the grant",
}


def _unused(loaded: LoadedGrant, field: str, entry: int, text: str) -> Finding[Location]:
    return Finding(
        message=f"grant `{loaded.grant.name}` names `{text}` in `{field}` without need: {_NEEDED[field]}",
        place=loaded.file.locate(f"/spec/{field}/{entry}"),
        subject=loaded.grant.name,
        help=f"correct it, or delete it from `{field}`",
    )
