"""A change as it was judged, as a file: what it does, and the digests of all that was read for it.

Whoever applies it later can hold the file against what is checked out then: the plan that somebody looked at is the one
that is applied, or it is named what differs. The seal tells a file that was edited, not one that somebody made anew:
who made it is told by the provenance of the run that stored it.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.message_text import joined, printable, shorten
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.guard.policies.revision import GitFile

KIND, VERSION = "poolsmith plan", 1
MOST_BYTES = 64 << 20
_DEPTH = {"output": 3, "profiles": 2}
"""Parts of a path by which files have a digest together; one elsewhere."""
_FEW = 4


@record
class SavedPlan:
    """`base` and `head` are commits, empty for a work tree; `clusters` those that alone were judged, none for all.

    `digests` are SHA-256 by folder: of a cluster's profiles or output, of the policies. `verdict` is the line of what
    matters.
    """

    base: str
    head: str
    verdict: str
    clusters: tuple[str, ...]
    digests: Mapping[str, str]


def digests_of(files: Mapping[str, GitFile]) -> dict[str, str]:
    """SHA-256 of names, modes and ids of contents, by folder."""
    found: dict[str, Any] = {}
    for path, file in sorted(files.items()):
        parts = path.split("/")
        folder = "/".join(parts[: min(_DEPTH.get(parts[0], 1), len(parts) - 1)])
        found.setdefault(folder, hashlib.sha256()).update(f"{path}\0{file.mode}\0{file.blob}\n".encode())
    return {folder: digest.hexdigest() for folder, digest in found.items()}


def plan_text(plan: SavedPlan, change: Mapping[str, Any]) -> str:
    """JSON, ASCII; it ends in a newline. `change` is the body of the JSON report."""
    body = {
        "kind": KIND,
        "version": VERSION,
        "base": plan.base,
        "head": plan.head,
        "verdict": plan.verdict,
        "clusters": list(plan.clusters),
        "digests": dict(sorted(plan.digests.items())),
        "change": change,
    }
    return json.dumps({**body, "seal": _seal(body)}, indent=2, default=str) + "\n"


def _seal(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def read_plan(text: str, name: str) -> SavedPlan:
    """Raises UsageError for what is no plan, of another version, or altered."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(f"{name} is no plan: it is not JSON; `poolsmith diff --save` writes one") from None
    if not isinstance(body, dict) or body.get("kind") != KIND:
        raise UsageError(f"{name} is no plan; `poolsmith diff --save` writes one")
    if body.get("version") != VERSION:
        raise UsageError(f"{name} has version {shorten(str(body.get('version')))} of the format; this is {VERSION}")
    seal = body.pop("seal", None)
    if seal != _seal(body):
        raise UsageError(f"{name} was altered after it was saved: its seal is not that of its contents")
    try:
        return SavedPlan(
            base=str(body["base"]),
            head=str(body["head"]),
            verdict=str(body["verdict"]),
            clusters=tuple(map(str, body["clusters"])),
            digests={str(folder): str(digest) for folder, digest in body["digests"].items()},
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{name} is no plan: {error!s} is missing or of another form") from None


def refused(plan: SavedPlan, name: str, now: Mapping[str, str], commit: str, cluster: str | None) -> str:
    """Why the plan is not that of what is checked out; empty where it is. `commit` is empty outside of git."""
    if plan.clusters and cluster is not None and cluster not in plan.clusters:
        return (
            f"{name} judges {joined([f'`{shorten(item)}`' for item in plan.clusters], _FEW)}, not `{shorten(cluster)}`"
        )
    differs = sorted(folder for folder in {*plan.digests, *now} if plan.digests.get(folder) != now.get(folder))
    if not differs:
        return ""
    what = joined([f"`{printable(shorten(folder))}`" for folder in differs], _FEW)
    verb = "differs" if len(differs) == 1 else "differ"
    if plan.head and commit and plan.head != commit:
        return f"{name} is for commit {plan.head[:12]}, and {commit[:12]} is checked out: {what} {verb}"
    return f"{name} is stale: {what} {verb} from what it judged; judge the change again with `poolsmith diff --save`"
