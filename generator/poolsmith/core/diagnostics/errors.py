"""What is raised when a run cannot go on.

Findings about a user's input are values (Diagnostic), collected and sorted. These exceptions mean that
there is nothing to collect: only `cli` turns them into an exit code.
"""

from __future__ import annotations


class PoolsmithError(Exception):
    """Root of everything that poolsmith raises on purpose."""

    exit_code = 1


class UsageError(PoolsmithError):
    """A flag or the project root is not what it should be."""

    exit_code = 2


class NoInputError(PoolsmithError):
    """There is nothing to work on, and a green run over nothing would be a lie."""

    exit_code = 3


class WriteError(PoolsmithError):
    """The output could not be written; what stood there before still stands."""


class WorkersLostError(PoolsmithError):
    """Who worked on a part of the clusters is gone, and trying again did not help; nothing is told of the rest."""
