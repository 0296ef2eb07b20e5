"""What a shard found out, as its JSON report carries it to the merge.

Each cluster's result stands with a digest of the files that it follows from, and the merge takes none whose files are
others on its side. Texts are masked as in every report. What is read is JSON, held against the form of each record:
somebody who can replace a report can lie about the clusters in it, and can do nothing else.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith import __version__
from poolsmith.app.cluster_judgement import Judgement
from poolsmith.app.cluster_result import ClusterResult
from poolsmith.app.folder import FolderFindings, FolderResult
from poolsmith.app.project_parts import CLUSTERS, PROFILES, shared_input, together
from poolsmith.app.shard import Shard
from poolsmith.diagnostics import Diagnostic, PoolsmithError, Severity
from poolsmith.diagnostics.masking import masked
from poolsmith.diagnostics.outcome import Skipped, Unevaluated
from poolsmith.diagnostics.span import Location, Position, Span
from poolsmith.ledger.grants.use import GrantUse, LedgerUse
from poolsmith.ledger.privilege import Privilege
from poolsmith.output.fleet import FleetEntry
from poolsmith.policies.admission_findings import Sight
from poolsmith.record import record
from poolsmith.rules.schema.object_schemas import SchemaResult
from poolsmith.sources.file_states import content_digest, folder_state
from poolsmith.sources.record_json import RecordError, RecordReader, as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from poolsmith.app.project import Project

CHECK, COMPARE, GENERATE = "check", "generate --check", "generate"
"""What is asked of shards: the commands."""
_MOST_BYTES = 1 << 30
"""Of the results of one shard."""
_EXACT = (FleetEntry,)
"""What the bytes of output/fleet/ follow from is not masked: it is committed there."""


class ShardError(PoolsmithError):
    """A report is no part of the run that is to be put together."""


@record
class Question:
    """What was asked: the same of all shards, but for the day.

    `clusters` is how many the project has, `shared` a digest of what all of them follow from, `base` the commit of
    `--policies-from`. Empty texts stand for what was not asked for.
    """

    tool: str
    catalog: str
    work: str
    clusters: int
    shared: str
    today: str = ""
    strict: bool = False
    base: str = ""
    accepted: tuple[str, ...] = ()


@record
class ClusterPart:
    """One cluster: `files` is a digest of its profiles and its output, `review` what its change would gain."""

    files: str
    result: ClusterResult
    review: tuple[Diagnostic, ...] = ()


@record
class ShardPart:
    """All that one shard found out."""

    shard: Shard
    question: Question
    clusters: tuple[ClusterPart, ...]


_READER = RecordReader(
    (
        *(
            Shard,
            Question,
            ClusterPart,
            ShardPart,
            ClusterResult,
            Judgement,
            FolderResult,
            FolderFindings,
            SchemaResult,
        ),
        *(Diagnostic, Severity, Location, Span, Position, Skipped, Unevaluated),
        *(GrantUse, LedgerUse, Privilege, FleetEntry, Sight),
    ),
    never=("Staged", "SchemaVerdict", "KnownSecrets"),
)


def question(project: Project, work: str, **more: Any) -> Question:
    """Of a project as it stands; `more` are fields of a Question. Raises OSError."""
    return Question(
        tool=__version__,
        catalog=project.catalog.digest,
        work=work,
        clusters=len(project.fleet.clusters),
        shared=shared_input(str(project.root)),
        **more,
    )


def files_of(project: Project, name: str) -> str:
    """A digest of what one cluster's result follows from, beside what all share. Raises OSError."""
    folders = (f"{project.root}/{PROFILES}/{name}", f"{project.root}/{CLUSTERS}/{name}")
    return together(*(content_digest(folder, folder_state(folder)) for folder in folders))


def part_of(
    project: Project,
    shard: Shard,
    asked: Question,
    results: Iterable[ClusterResult],
    reviews: Mapping[str, tuple[Diagnostic, ...]],
) -> dict[str, Any]:
    """What stands below `shard` in a JSON report. Raises OSError."""
    clusters = tuple(
        ClusterPart(files=files_of(project, item.name), result=_shown(item), review=reviews.get(item.name, ()))
        for item in sorted(results, key=lambda item: item.name)
    )
    text = json.dumps(as_json(clusters, _remembered(masked), _EXACT), separators=(",", ":"))
    packed = zlib.compress(text.encode())
    return {
        "number": shard.number,
        "of": shard.of,
        "work": asked.work,
        "clusters": [item.result.name for item in clusters],
        "question": json.dumps(as_json(asked)),
        "results": base64.b64encode(packed).decode(),
    }


def _shown(result: ClusterResult) -> ClusterResult:
    """Without secrets of the files that something is about, which a finding would leave out of its text later."""
    judged = result.judgement
    if judged is None or not any(item.place.secrets for item in judged.unevaluated):
        return result
    shown = tuple(
        replace(item, what=item.place.secrets.without(item.what), place=replace(item.place, source_line=None))
        for item in judged.unevaluated
    )
    return replace(result, judgement=replace(judged, unevaluated=shown))


def read_part(text: str, shown: str) -> ShardPart:
    """Of a JSON report. Raises ShardError; `shown` is what the file is called."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise ShardError(f"{shown} is no JSON report; `--shard N/M --format json` prints one") from None
    held = body.get("shard") if isinstance(body, dict) else None
    if not isinstance(held, dict):
        raise ShardError(f"{shown} is no report of a shard; `--shard N/M --format json` prints one")
    try:
        asked = json.loads(_text(held, "question"))
        clusters = json.loads(_unpacked(_text(held, "results")))
        return _READER.read(ShardPart, [[held.get("number"), held.get("of")], asked, clusters])
    except (ValueError, RecursionError, zlib.error) as error:
        why = f" ({error})" if isinstance(error, RecordError) else ""
        raise ShardError(f"{shown} is damaged, or of another version of poolsmith{why}") from None


def _text(body: dict[str, Any], key: str) -> str:
    found = body.get(key)
    if not isinstance(found, str):
        raise RecordError(f"no {key}")
    return found


def _unpacked(text: str) -> bytes:
    """Raises ValueError, zlib.error."""
    try:
        packed = base64.b64decode(text, validate=True)
    except binascii.Error:
        raise RecordError("no results") from None
    inflating = zlib.decompressobj()
    found = inflating.decompress(packed, _MOST_BYTES)
    if not inflating.eof:
        raise RecordError("the results are cut off, or too large")
    return found


def _remembered(change: Callable[[str], str]) -> Callable[[str], str]:
    """The same function; most texts of a fleet stand there many times."""
    known: dict[str, str] = {}

    def changed(text: str) -> str:
        found = known.get(text)
        if found is None:
            found = known[text] = change(text)
        return found

    return changed
