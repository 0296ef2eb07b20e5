"""Use case: findings in anyone's files that somebody accepts for now, by a baseline or by waivers."""

from __future__ import annotations

import datetime as dt
import os
from contextlib import nullcontext
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import UsageError, sorted_unique
from poolsmith.core.diagnostics.outcome import Outcome, Skipped
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.sources.input_tree import InputTree
    from poolsmith.guard.policies.baseline import PlacedEntry, Rewritten
    from poolsmith.guard.policies.baseline_file import BaselineEntry

IN_POLICIES = "policies/baseline.yaml"
BESIDE_OTHERS = ".poolsmith-baseline.yaml"
"""Of a repository that has no folder `policies/`."""
WAIVERS = "policies/waivers.yaml"
FROM = "--baseline-from"
_FEW = 5


@record
class AcceptingOptions:
    """What is accepted, on which day of UTC. `file`: another baseline. `write`: where to write one; empty for where it
    is looked for, None for nowhere. `revision`: baseline and waivers of this git revision, and none of the checkout.
    `flags` are the names of those flags of the run that make it find more."""

    file: Path | None = None
    is_off: bool = False
    revision: str | None = None
    write: str | None = None
    flags: tuple[str, ...] = ()
    today: dt.date = field(default_factory=lambda: dt.datetime.now(dt.UTC).date())


def with_accepted(outcome: Outcome, root: Path, paths: Sequence[Path], options: AcceptingOptions) -> Outcome:
    """The outcome of `paths` with findings marked that waivers or the baseline accept.

    Raises UsageError for flags that contradict each other, a file that can't be written, or no such revision.
    """
    _refuse_both(options)
    with _folder(root, options) as folder:
        if os.path.lexists(folder / WAIVERS):
            outcome = _with_waivers(outcome, folder, options.today)
        wanted = _wanted(root, folder, options)
        seen = _Seen(root, paths)
        if options.write is not None:
            return _written(outcome, root, wanted, seen, options)
        return outcome if wanted is None else _with_baseline(outcome, *wanted, seen, options)


def _refuse_both(options: AcceptingOptions) -> None:
    if options.is_off and options.file is not None:
        raise UsageError("--baseline and --no-baseline contradict each other")
    if options.write is None:
        return
    if options.revision is not None:
        raise UsageError(f"--write-baseline writes into the checkout; leave out {FROM}")
    if options.is_off:
        raise UsageError("--write-baseline and --no-baseline contradict each other")
    if options.write and options.file is not None:
        raise UsageError("--baseline and --write-baseline name a file each; name one")
    if options.write and Path(options.write).is_dir():
        raise UsageError(
            "--write-baseline takes the name of a file after `=`; write it behind the paths, or --write-baseline=FILE"
        )


def _folder(root: Path, options: AcceptingOptions) -> AbstractContextManager[Path]:
    """Where waivers and the baseline are read."""
    if options.revision is None:
        return nullcontext(root)
    from poolsmith.core.sources.git import Git
    from poolsmith.guard.policies.revision import folder_with, tree_at  # on demand

    git = Git(root, FROM)
    tree = tree_at(git, git.commit(options.revision))
    names = {IN_POLICIES, BESIDE_OTHERS, WAIVERS, *filter(None, [_below(root, options.file)])}
    files = {name: tree.files[f"{tree.prefix}{name}"] for name in names if f"{tree.prefix}{name}" in tree.files}
    return folder_with(git, files)


def _below(root: Path, file: Path | None) -> str:
    """The path from the root, with forward slashes; empty for what is elsewhere."""
    if file is None:
        return ""
    path, top = os.path.abspath(file), os.path.abspath(root)  # noqa: PTH100 - resolve() would follow links
    return os.path.relpath(path, top).replace(os.sep, "/") if path.startswith(f"{top.rstrip(os.sep)}{os.sep}") else ""


def _wanted(root: Path, folder: Path, options: AcceptingOptions) -> tuple[InputTree, str] | None:
    """The tree and the path of the baseline; None where there is none. What is to be written need not be there."""
    from poolsmith.core.sources.input_tree import InputTree  # on demand

    named = Path(options.write) if options.write else options.file
    if options.is_off:
        return None
    if named is not None:
        path = _below(root, named)
        if options.revision is not None and not path:
            raise UsageError(f"--baseline {named} is not below the root, where {FROM} reads it")
        tree, path = (InputTree(folder), path) if path else (InputTree(named.parent), named.name)
        if options.write is None and options.revision is None and not os.path.lexists(tree.root / path):
            raise UsageError(f"--baseline {named}: there is no such file")
        return tree, path
    there = [name for name in (IN_POLICIES, BESIDE_OTHERS) if os.path.lexists(folder / name)]
    if len(there) > 1:
        raise UsageError(f"there are two baselines, {there[0]} and {there[1]}; keep one, or name it with --baseline")
    if there:
        return InputTree(folder), there[0]
    if options.write is None:
        return None
    return InputTree(root), IN_POLICIES if (root / "policies").is_dir() else BESIDE_OTHERS


class _Seen:
    """Which files of the named folders a run has looked at. Not every rule can judge a single file.

    Of a partial run, without the flags that the baseline was written with, none counts.
    """

    def __init__(self, root: Path, paths: Sequence[Path]) -> None:
        self.is_partial = False
        folders = [path for path in paths if path.is_dir()]
        self._is_whole = any(path.resolve() == root.resolve() for path in folders)
        self._starts = tuple(f"{_below(root, path)}/" for path in folders if _below(root, path))

    def __call__(self, file: str) -> bool:
        return not self.is_partial and (self._is_whole or file.startswith(self._starts))


def _with_waivers(outcome: Outcome, folder: Path, today: dt.date) -> Outcome:
    """Only waivers of what this run finds: the others are for the project's own check."""
    from poolsmith.guard.policies.policies import Policies  # on demand
    from poolsmith.guard.policies.waivers import apply_waivers, subject_of

    waivers, problems = Policies(folder).waivers
    there = {(item.code, subject_of(item)) for item in outcome.diagnostics}
    mine = [item for item in waivers if (item.rule.code, item.waiver.subject) in there]
    judged = apply_waivers(outcome.diagnostics, mine, today=today, complete=False)
    return replace(outcome, diagnostics=sorted_unique((*judged, *problems)))


@record(kw_only=False)
class _Found:
    """What a file holds; nothing where it has problems."""

    entries: tuple[PlacedEntry, ...] = ()
    flags: tuple[str, ...] = ()
    problems: tuple[Diagnostic, ...] = ()


def _read(tree: InputTree, path: str) -> _Found:
    from poolsmith.core.shape.documents import load_kind_document
    from poolsmith.guard.policies.baseline import entries_of  # on demand
    from poolsmith.guard.policies.baseline_file import BASELINE, BaselineSpec

    document, problems = load_kind_document(tree, path, BASELINE, BaselineSpec)
    if document is None:
        return _Found(problems=problems)
    return _Found(entries_of(document), document.spec.flags, problems)


def _with_baseline(outcome: Outcome, tree: InputTree, path: str, seen: _Seen, options: AcceptingOptions) -> Outcome:
    found = _read(tree, path)
    seen.is_partial = not set(found.flags) <= set(options.flags)
    outcome = replace(outcome, diagnostics=(*outcome.diagnostics, *found.problems))
    return _applied(outcome, found.entries, path, seen, options.today)


def _applied(
    outcome: Outcome, entries: Sequence[PlacedEntry], path: str, seen: Callable[[str], bool], today: dt.date
) -> Outcome:
    from poolsmith.core.diagnostics.message_text import counted  # on demand
    from poolsmith.guard.policies.baseline import accept

    result = accept(outcome.diagnostics, entries, today=today, was_looked_at=seen)
    said = f"{path} accepts {counted(result.count, 'finding')}"
    said += f", until {result.last_day} at the latest" if result.count else ""
    said += f"; {result.without_reason:,} of them without a reason of their own" if result.without_reason else ""
    said += "; --no-baseline shows them" if result.count else ""
    reason = f"{path} accepts that it can't be read"
    return replace(
        outcome,
        diagnostics=sorted_unique(result.diagnostics),
        facts=(*outcome.facts, said),
        skipped=(*outcome.skipped, *(Skipped(item.primary.span.path, reason) for item in result.unread)),
        not_evaluated=outcome.not_evaluated + len(result.unread),
    )


def _written(
    outcome: Outcome, root: Path, wanted: tuple[InputTree, str] | None, seen: _Seen, options: AcceptingOptions
) -> Outcome:
    """The baseline written anew, and the outcome as it is with that."""
    from poolsmith.core.sources.input_tree import MAX_PROFILE_BYTES
    from poolsmith.guard.policies.baseline import rewritten
    from poolsmith.guard.policies.baseline_file import baseline_text
    from poolsmith.interface.app.report_files import replace_file  # on demand

    assert wanted is not None, "there is always a place to write to"
    tree, path = wanted
    is_there = os.path.lexists(tree.root / path)
    found = _read(tree, path) if is_there else _Found()
    if found.problems:
        return replace(outcome, diagnostics=sorted_unique((*outcome.diagnostics, *found.problems)))
    seen.is_partial = not set(found.flags) <= set(options.flags)
    old = [placed.entry for placed in found.entries]
    flags = found.flags if seen.is_partial else options.flags
    result = rewritten(outcome.diagnostics, old, today=options.today, was_looked_at=seen)
    content = baseline_text(result.entries, flags).encode()
    if len(content) > MAX_PROFILE_BYTES:
        number = f"{len(result.entries):,}"
        raise UsageError(f"--write-baseline: {number} entries are more than a file holds; check fewer paths")
    if tuple(old) != result.entries or found.flags != flags or not is_there:
        absolute = os.path.abspath(tree.root / path)  # noqa: PTH100 - as above
        replace_file(root, absolute, content, "--write-baseline")
    found = _read(tree, path)
    judged = _applied(
        replace(outcome, diagnostics=(*outcome.diagnostics, *found.problems)), found.entries, path, seen, options.today
    )
    missing = " ".join(flag for flag in found.flags if flag not in options.flags)
    partly = (f"   nothing was removed: {path} was written with {missing}",) if seen.is_partial else ()
    told = (*_summary(result, path), *partly)
    return replace(judged, facts=(*outcome.facts, *told, *judged.facts[len(outcome.facts) :]))


def _summary(result: Rewritten, path: str) -> Iterator[str]:
    yield f"{path} has {len(result.entries):,} {'entry' if len(result.entries) == 1 else 'entries'}"
    parts = (("added", result.added), ("removed", result.removed), ("left as it was, expired", result.expired))
    for word, entries in parts:
        yield from (f"   {word}: {_shown(entry)}" for entry in entries[:_FEW])
        if len(entries) > _FEW:
            yield f"   {word}: {len(entries) - _FEW:,} more"


def _shown(entry: BaselineEntry) -> str:
    times = f" ({entry.count} times)" if entry.count > 1 else ""
    return f"{entry.rule} in {entry.file}{times}, until {entry.expires}"
