"""Whose facts hold: those of a project's packs beside the built-in ones, for as long as a use case runs."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import update_wrapper
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar, cast

from poolsmith.core.facts.packs import FOLDER, FORM_ERRORS, NO_PACKS, active, using

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.facts.packs import Packs

P = ParamSpec("P")
T = TypeVar("T")


def packs_of(root: Path) -> tuple[Packs, tuple[Diagnostic, ...]]:
    """The packs that a project takes, and what is wrong with the others."""
    if not os.path.lexists(f"{root}/{FOLDER}"):
        return NO_PACKS, ()
    from poolsmith.core.sources.input_tree import InputTree  # on demand
    from poolsmith.gpu.catalog.pack_files import find_packs  # on demand

    found = find_packs(InputTree(root))
    return found.packs, found.problems


@contextmanager
def facts_of(root: Path) -> Iterator[None]:
    """What is wrong with a pack is told where the project's files are judged; here it just does not count."""
    packs, _ = packs_of(root)
    if packs == active():
        yield
        return
    with using(packs):
        try:
            yield
        except FORM_ERRORS as error:
            if not packs:
                raise
            from poolsmith.core.diagnostics import PoolsmithError  # on demand
            from poolsmith.core.diagnostics.message_text import listed  # on demand

            names = listed([pack.name for pack in packs.packs])
            raise PoolsmithError(
                f"the facts of a pack have a form that can't be used: {type(error).__name__}; nothing was written. "
                f"Take the pack out, or make it again with `poolsmith catalog import`: {names}"
            ) from error


def with_facts(use_case: Callable[Concatenate[Path, P], T]) -> Callable[Concatenate[Path, P], T]:
    """A use case of a project, by its root, as a part of the public API: it brings the project's facts itself."""

    def run(root: Path, *args: P.args, **kwargs: P.kwargs) -> T:
        with facts_of(root):
            return use_case(root, *args, **kwargs)

    return cast("Callable[Concatenate[Path, P], T]", update_wrapper(run, use_case))
