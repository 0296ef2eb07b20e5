"""Use case: what `generate` would change. The generator is loaded only for what is not remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.interface.app.memory import COMPARING, recall
from poolsmith.interface.app.progress import Progress, silent
from poolsmith.project.run.facts import with_facts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from poolsmith.interface.app.generate_result import GenerateResult
    from poolsmith.project.output.crew import Workers
    from poolsmith.project.output.result_store import ResultStore


@with_facts
def compare(
    root: Path,
    *,
    clusters: Sequence[str] = (),
    jobs: int | Workers = 1,
    progress: Progress = silent,
    store: ResultStore | None = None,
    rehash: bool = False,
    output_at: Path | None = None,
) -> GenerateResult:
    """What `generate` would change; nothing is written below `root`.

    With a store, clusters whose bytes are those of an earlier run are not generated again. `rehash`: all bytes are
    read again, whatever the file system says of them. `output_at` as for `generate`. Raises UsageError, NoInputError.
    """
    store = store if output_at is None else None
    memory = recall(store, root, COMPARING, clusters, rehash=rehash)
    if memory is not None and (known := memory.result()) is not None:
        return known
    from poolsmith.interface.app.generate import compare_anew  # the whole generator

    return compare_anew(root, clusters=clusters, jobs=jobs, progress=progress, memory=memory, output_at=output_at)
