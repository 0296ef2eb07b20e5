"""Use case: the shards of one run put together, to what the run over all clusters would have said."""

from __future__ import annotations

import datetime as dt
from contextlib import nullcontext
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from poolsmith.app.check_project import outcome_of
from poolsmith.app.facts import with_facts
from poolsmith.app.generate import compare_all, told, unwritten, write
from poolsmith.app.judge import judge
from poolsmith.app.run import Known, open_run
from poolsmith.app.shard_part import CHECK, GENERATE, Question, ShardError, ShardPart, files_of, question, read_part
from poolsmith.app.sharded import question_of, run_for
from poolsmith.diagnostics import UsageError
from poolsmith.diagnostics.listing import listed
from poolsmith.diagnostics.printable import printable
from poolsmith.policies.apply import ACCEPTABLE, JudgingOptions, strictly
from poolsmith.policies.revision import base_at

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from poolsmith.app.generate_result import GenerateResult
    from poolsmith.app.run import Run
    from poolsmith.policies.base_revision import BaseRevision

_FEW = 8


@with_facts
def merge(root: Path, paths: Sequence[Path], *, writes: bool = False) -> GenerateResult:
    """The JSON reports of all shards of a run, over the files that they were made from.

    Shards of `generate` have written their clusters; what spans clusters is written now, which has to be asked for.
    Raises UsageError, NoInputError, ShardError, WriteError.
    """
    parts = _whole({str(path): read_part(_text_of(path), printable(str(path))) for path in paths})
    asked = parts[0].question
    if writes != (asked.work == GENERATE):
        raise UsageError(
            "these are shards of `generate`, which have written their clusters: --write writes what spans them"
            if asked.work == GENERATE
            else f"--write is for shards of `generate`; these are of `{asked.work}`, which writes nothing"
        )
    if asked.work == CHECK:
        return _check(root, parts, asked)
    run = open_run(root)
    known = _known(run, parts, question(run.project, asked.work))
    if writes:
        return told(run, write(run, lambda: known.results).result)
    totals = compare_all(run, known.results)
    return told(run, unwritten(run, totals, totals.outcome()))


def _check(root: Path, parts: Sequence[ShardPart], asked: Question) -> GenerateResult:
    """By the day of the shard that was the last to begin."""
    try:
        today = max(dt.date.fromisoformat(part.question.today) for part in parts)
    except ValueError:
        raise ShardError("the day of a shard is none") from None
    if not set(asked.accepted) <= set(ACCEPTABLE):
        raise ShardError("a shard accepts what nobody can accept")
    with _base(root, asked.base) as base:
        judging = JudgingOptions(today=today, base=base, strict=asked.strict, accepted=frozenset(asked.accepted))
        run = run_for(root, judging)
        judged = judge(run, judging, _known(run, parts, question_of(run, judging)))
        outcome = outcome_of(judged.result)
        return replace(judged.result, outcome=strictly(outcome) if asked.strict else outcome)


def _base(root: Path, commit: str) -> AbstractContextManager[BaseRevision | None]:
    return base_at(root, commit) if commit else nullcontext()


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} can't be read: {getattr(error, 'strerror', None) or error}") from None


def _whole(parts: dict[str, ShardPart]) -> tuple[ShardPart, ...]:
    """In order. Raises ShardError where they are not all shards of one run, each once."""
    (first_path, first), *others = parts.items()
    by_number: dict[int, str] = {first.shard.number: first_path}
    for path, part in others:
        unlike = _unlike(first.question, part.question)
        if part.shard.of != first.shard.of:
            unlike = f"one of {part.shard.of} shards, and one of {first.shard.of}"
        if unlike:
            raise ShardError(f"{printable(path)} and {printable(first_path)} are of different runs: {unlike}")
        if part.shard.number in by_number:
            there = printable(by_number[part.shard.number])
            raise ShardError(f"{printable(path)} and {there} are both shard {part.shard}")
        by_number[part.shard.number] = path
    of = first.shard.of
    lacking = [str(number) for number in range(1, of + 1) if number not in by_number]
    if lacking or len(by_number) != of:
        raise ShardError(
            f"of {of} shards {listed(lacking, _FEW)} are not among the files; nothing is told of their clusters"
        )
    return tuple(parts[by_number[number]] for number in range(1, of + 1))


def _unlike(one: Question, other: Question) -> str:
    """What two questions have otherwise; empty for nothing. Days may differ: a run may begin before midnight."""
    for item in fields(Question):
        ours, theirs = getattr(one, item.name), getattr(other, item.name)
        if ours != theirs and item.name != "today":
            return f"{item.name} is {_shown(theirs)} in the one, and {_shown(ours)} in the other"
    return ""


def _shown(value: Any) -> str:
    return f"`{printable(str(value))}`" if value not in ("", ()) else "none"


def _known(run: Run, parts: Sequence[ShardPart], here: Question) -> Known:
    """What the shards found out, once it is certain that they looked at these very files. Raises ShardError."""
    if unlike := _unlike(here, parts[0].question):
        raise ShardError(f"the shards are of other files or of another poolsmith: {unlike} here")
    results, reviews = {}, {}
    for part in parts:
        names = [item.result.name for item in part.clusters]
        if names != sorted(files.name for files in part.shard.part(run.selected)):
            raise ShardError(f"shard {part.shard} has other clusters than those of its part: {listed(names, _FEW)}")
        for item in part.clusters:
            name = item.result.name
            if item.files != files_of(run.project, name):
                raise ShardError(
                    f"shard {part.shard} is of other files: profiles/{name} or output/clusters/{name} is not what it "
                    "looked at; merge in a checkout of the commit that the shards had"
                )
            results[name], reviews[name] = item.result, item.review
    return Known(results, reviews)
