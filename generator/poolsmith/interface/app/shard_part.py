"""What a shard found out, as its JSON report carries it to the merge: a line of JSON for each cluster.

Each cluster's result stands with a digest of the files that it follows from, and the merge takes none whose files are
different on its side. What is shown to people is masked as in every report; names stay as they are. What is read is
checked against the form of each record, and against what a shard may say: of its own clusters only, and nothing that no
shard finds out. Somebody who can replace a report can lie about the clusters in it. What follows from profiles alone,
such as output/fleet/, is found out by the merge itself.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith import __version__
from poolsmith.core.diagnostics import Diagnostic, PoolsmithError, Severity
from poolsmith.core.diagnostics.diagnostic import OPEN, Location, Position, Span
from poolsmith.core.diagnostics.known_rules import known_rules
from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.diagnostics.outcome import LEFT_OUT_FOR_ERRORS, Skipped, Unevaluated
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.shape.field import DNS_LABEL, matches
from poolsmith.core.sources.record_json import RecordError, RecordReader, as_json
from poolsmith.guard.ledger.grants.grant_use import GrantUse, LedgerUse
from poolsmith.guard.ledger.privilege import Privilege
from poolsmith.guard.policies.admission_findings import Sight
from poolsmith.guard.rules.schema.object_schemas import SchemaResult
from poolsmith.interface.app.cluster_judgement import Judgement
from poolsmith.interface.app.memory import CLUSTERS, PROFILES, content_of, shared_input, together
from poolsmith.interface.app.run import ClusterResult
from poolsmith.project.run.generated_folder import FolderFindings, FolderResult
from poolsmith.project.run.run_options import Shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from poolsmith.guard.ledger.grants.grant import PrivilegeGrant
    from poolsmith.project.run.project import Project


_COUNTED = pattern(r"[A-Za-z][A-Za-z -]{0,60}")
_VERSION = pattern(r"(?:v?\d{1,4}(?:\.\d{1,4}){1,3}(?:-[a-z0-9.]{1,20})?)?")


def unfit(result: ClusterResult, review: tuple[Diagnostic, ...], *, is_judged: bool) -> str:
    """Why it can't be what a shard found out; empty for nothing."""
    folder, judged = result.folder, result.judgement
    if not all(matches(DNS_LABEL, name) for name in result.admission or ()):
        return "a namespace that is none"
    if (judged is not None) is not (is_judged and folder is not None) or (review and not is_judged):
        return "a cluster that was judged in another way than the others"
    findings = folder.findings if folder is not None else None
    if folder is not None and (findings is not None) is not is_judged and not (is_judged and folder.diagnostics):
        return "a folder that was judged in another way than the others"
    if findings is not None and not _is_of_schemas(findings.schemas):
        return "versions of schemas that there are none of"
    told = (*result.diagnostics, *review, *(folder.diagnostics if folder is not None else ()))
    if not all(map(_is_of_a_rule, (*told, *(findings.diagnostics if findings is not None else ())))):
        return "a finding of no rule, or one that somebody has waived"
    return _unfit_judgement(result.name, judged) if judged is not None else ""


def _is_of_a_rule(item: Diagnostic) -> bool:
    rule = known_rules().get(item.code)
    return rule is not None and (rule.code, rule.name) == (item.code, item.name) and item.status == OPEN


def _is_of_schemas(item: SchemaResult) -> bool:
    return all(_VERSION.fullmatch(version) is not None for version in (item.kubernetes, item.operator or ""))


def _unfit_judgement(name: str, judged: Judgement) -> str:
    use = judged.grant_use
    if use is None or use.cluster != name or any(item.cluster not in ("", name) for item in judged.unevaluated):
        return "a cluster that speaks for another one"
    if any(item.what == LEFT_OUT_FOR_ERRORS for item in judged.skipped):
        return "a cluster that was judged, and left out"
    return "" if all(map(_COUNTED.fullmatch, judged.checked)) else "a count of nothing that is counted"


def knows_grants(judged: Judgement | None, grants: Sequence[PrivilegeGrant]) -> bool:
    """Whether what a cluster needs of grants are grants that there are."""
    use = judged.grant_use.use if judged is not None and judged.grant_use is not None else None
    return use is None or all(_is_there(place, grants) for place in _places(use))


def _places(use: LedgerUse) -> Iterator[tuple[int, int]]:
    """Of grants, and of their tokens; 0 stands for the grant as a whole."""
    yield from use.exact
    yield from use.wider
    named: Iterable[int] = (grant for found in (use.containers, use.repositories, use.pools) for grant, _ in found)
    yield from ((grant, 0) for grant in (*named, *use.met))


def _is_there(place: tuple[int, int], grants: Sequence[PrivilegeGrant]) -> bool:
    grant, token = place
    return grant < len(grants) and (token == 0 or token < len(grants[grant].tokens))


CHECK, COMPARE, GENERATE = "check", "generate --check", "generate"
"""What is asked of shards: the commands."""
_MOST_OF_ONE = 8 << 20
"""Bytes of the result of one cluster: thousands of findings."""
_MOST, _MOST_MORE = 8 << 20, 512 << 10
"""Bytes of the results of a shard: so many, and so many more for each of its clusters."""
_CHUNK = 1 << 16
_REVISION = pattern(r"(?:[0-9a-f]{40}|[0-9a-f]{64})?")
_SUBJECTS = ("", "commit", "index")
_DAY = pattern(r"(?:\d{4}-\d\d-\d\d)?")
_NAMES: dict[type, frozenset[str]] = {
    ClusterResult: frozenset(("name", "used_bases")),
    Diagnostic: frozenset(("code", "name", "subject")),
    GrantUse: frozenset(("cluster",)),
    Unevaluated: frozenset(("cluster",)),
    Span: frozenset(("path",)),
}
"""Fields that something is found by. They are names of files and of what profiles declare, and no secrets."""


class ShardError(PoolsmithError):
    """A report is no part of the run that is to be put together."""


@record
class ShardQuestion:
    """What was asked: the same of all shards, but for the day.

    `clusters` is how many the project has, `shared` a digest of what all of them follow from, `base` the commit of
    `--policies-from`, `subject` what was judged where that is not the work tree. Empty texts stand for what was not
    asked for.
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
    subject: str = ""

    def __post_init__(self) -> None:
        """Raises ValueError for what nobody asks."""
        if self.work not in (CHECK, COMPARE, GENERATE):
            raise ValueError("no work of shards")
        if _DAY.fullmatch(self.today) is None or _REVISION.fullmatch(self.base) is None:
            raise ValueError("no day, or no commit")
        if self.subject not in _SUBJECTS:
            raise ValueError("nothing that is judged")


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
    question: ShardQuestion
    clusters: tuple[ClusterPart, ...]


_READER = RecordReader(
    (
        *(
            Shard,
            ShardQuestion,
            ClusterPart,
            ShardPart,
            ClusterResult,
            Judgement,
            FolderResult,
            FolderFindings,
            SchemaResult,
        ),
        *(Diagnostic, Severity, Location, Span, Position, Skipped, Unevaluated),
        *(GrantUse, LedgerUse, Privilege, Sight),
    ),
    never=("Staged", "SchemaVerdict", "KnownSecrets", "FleetEntry"),
)


def question(project: Project, work: str, **more: Any) -> ShardQuestion:
    """Of a project as it stands; `more` are fields of a Question."""
    return ShardQuestion(
        tool=__version__,
        catalog=project.catalog.digest,
        work=work,
        clusters=len(project.fleet.clusters),
        shared=shared_input(str(project.root)),
        **more,
    )


def files_of(project: Project, name: str) -> str:
    """A digest of what one cluster's result follows from, beside what all share and what `beside` tells."""
    folders = (f"{project.root}/{PROFILES}/{name}", f"{project.root}/{CLUSTERS}/{name}")
    return together(*map(content_of, folders))


def with_beside(project: Project, digest: str, beside: tuple[str, ...]) -> str:
    """The digest of a cluster, with that of the files beside the stack that its profile names, if any."""
    return together(digest, *(content_of(f"{project.root}/{path}") for path in beside)) if beside else digest


def part_of(
    project: Project,
    shard: Shard,
    asked: ShardQuestion,
    files: Mapping[str, str],
    results: Iterable[ClusterResult],
    reviews: Mapping[str, tuple[Diagnostic, ...]],
) -> dict[str, Any]:
    """What stands below `shard` in a JSON report. `files` are digests by cluster, from before the work."""
    hidden, packing, packed = _remembered(masked), zlib.compressobj(), bytearray()
    found = sorted(results, key=lambda item: item.name)
    for item in found:
        digest = with_beside(project, files[item.name], item.beside)
        part = ClusterPart(files=digest, result=_shown(item), review=reviews.get(item.name, ()))
        line = json.dumps(as_json(part, hidden, _NAMES), separators=(",", ":"))
        packed += packing.compress(f"{line}\n".encode())
    packed += packing.flush()
    return {
        "number": shard.number,
        "of": shard.of,
        "work": asked.work,
        "clusters": [item.name for item in found],
        "question": json.dumps(as_json(asked)),
        "results": base64.b64encode(packed).decode(),
    }


def _shown(result: ClusterResult) -> ClusterResult:
    """Without what stands in it twice, and without secrets of the files that something is about, which a finding would
    leave out of its text later."""
    folder, judged = result.folder, result.judgement
    if folder is not None and folder.findings is not None:
        schemas = replace(folder.findings.schemas, diagnostics=(), verdicts=(), half=frozenset())
        result = replace(result, folder=replace(folder, findings=replace(folder.findings, schemas=schemas)))
    if judged is None:
        return result
    unevaluated = tuple(
        replace(item, what=item.place.secrets.without(item.what), place=replace(item.place, source_line=None))
        if item.place.secrets
        else item
        for item in judged.unevaluated
    )
    return replace(result, judgement=replace(judged, diagnostics=(), unevaluated=unevaluated))


def read_part(text: str, shown: str, clusters: int) -> ShardPart:
    """Of a JSON report. Raises ShardError; `shown` is what the file is called, `clusters` how many the project has."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise ShardError(f"{shown} is no JSON report; `--shard N/M --format json` prints one") from None
    held = body.get("shard") if isinstance(body, dict) else None
    if not isinstance(held, dict):
        raise ShardError(f"{shown} is no report of a shard; `--shard N/M --format json` prints one")
    try:
        shard = _READER.read(Shard, [held.get("number"), held.get("of")])
        asked = _READER.read(ShardQuestion, json.loads(_text(held, "question")))
        most = len(shard.part(range(clusters)))
        return ShardPart(shard=shard, question=asked, clusters=tuple(_parts(_text(held, "results"), asked.work, most)))
    except (ValueError, RecursionError, zlib.error) as error:
        why = f" ({error})" if isinstance(error, RecordError) else ""
        raise ShardError(f"{shown} is damaged, or of another version of poolsmith{why}") from None


def _parts(text: str, work: str, most: int) -> Iterator[ClusterPart]:
    """Of at the most so many clusters. Raises RecordError, ValueError, zlib.error."""
    for count, line in enumerate(_lines(text, _MOST + most * _MOST_MORE)):
        if count == most:
            raise RecordError(f"results of more clusters than the {most} of its part")
        part = _READER.read(ClusterPart, json.loads(line))
        if why := unfit(part.result, part.review, is_judged=work == CHECK):
            raise RecordError(why)
        yield part


def _text(body: dict[str, Any], key: str) -> str:
    found = body.get(key)
    if not isinstance(found, str):
        raise RecordError(f"no {key}")
    return found


def _lines(text: str, most: int) -> Iterator[bytes]:
    """One for each cluster. Raises RecordError, zlib.error."""
    try:
        packed = base64.b64decode(text, validate=True)
    except binascii.Error:
        raise RecordError("no results") from None
    held = bytearray()
    for part in _inflated(packed):
        most -= len(part)
        held += part
        lines = held.split(b"\n")
        if most < 0 or any(len(line) > _MOST_OF_ONE for line in lines):
            raise RecordError("the results are larger than those of so many clusters may be")
        held = lines.pop()
        yield from map(bytes, lines)
    if held:
        raise RecordError("the results are cut off")


def _inflated(packed: bytes) -> Iterator[bytes]:
    """In parts of a bounded size. Raises RecordError, zlib.error."""
    inflating = zlib.decompressobj()
    for start in range(0, len(packed), _CHUNK):
        left = packed[start : start + _CHUNK]
        while left and not inflating.eof:
            yield inflating.decompress(left, _CHUNK)
            left = inflating.unconsumed_tail
    if not inflating.eof:
        raise RecordError("the results are cut off")


def _remembered(change: Callable[[str], str]) -> Callable[[str], str]:
    """The same function; most texts of a fleet stand there many times."""
    known: dict[str, str] = {}

    def changed(text: str) -> str:
        found = known.get(text)
        if found is None:
            found = known[text] = change(text)
        return found

    return changed
