"""Use case: a few files of anyone's repository, as a hook names them, each for the release that it is for.

Of other files only those are read that stand near, and say what the named ones are for. Findings are told of the named
ones alone.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import NoInputError, UsageError
from poolsmith.core.diagnostics.listing import counted
from poolsmith.core.diagnostics.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_ABOUT_GPUS = re.compile(
    rb"nvidia|gpu|node-?feature|dcgm|kata|cuda|(?m:^(?:driver|toolkit|operator|mig|cdi|validator|nfd):)",
    re.IGNORECASE,
)
"""What texts have in them that may be of the stack. The last are keys of values, which do not say what they are for."""


def check_named_files(
    root: Path, paths: Sequence[Path], judge: Callable[[Sequence[Path], frozenset[str]], Outcome]
) -> Outcome:
    """`judge` reads files, and tells findings of those whose shown paths it is given.

    Files that have nothing to do with GPUs are counted. Raises UsageError for what is no file.
    """
    for path in paths:
        if path.is_dir() or not os.path.lexists(path):
            raise UsageError(f"--hook takes files, and `{path}` is none")
    about = [path for path in paths if _is_about_gpus(path)]
    said = f"{len(about):,} of {counted(len(paths), 'file')} may have to do with GPUs"
    if not about:
        return Outcome(checked={"manifest files": 0}, facts=(said,))
    from poolsmith.kubernetes.repository.near_files import NearFiles  # on demand
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

    files = RepositoryFiles(root, paths)
    near = NearFiles(os.path.abspath(root), files)  # noqa: PTH100 - resolve() would follow links
    named = {files.shown(path): path for path in about}
    others = dict.fromkeys(found for path in named for found in near.of(path) if found not in named)
    try:
        outcome = judge([*named.values(), *(root / path for path in others)], frozenset(named))
    except NoInputError:
        outcome = Outcome(checked={"manifest files": len(named)})
    return replace(outcome, facts=(*outcome.facts, said))


def _is_about_gpus(path: Path) -> bool:
    """By its name or its text; what can't be read may be."""
    if _ABOUT_GPUS.search(os.fsencode(path)):
        return True
    try:
        return not path.is_file() or _ABOUT_GPUS.search(path.read_bytes()) is not None
    except OSError:
        return True
