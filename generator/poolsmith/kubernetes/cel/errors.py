"""What can go wrong when an expression is evaluated."""

from __future__ import annotations


class CelError(Exception):
    """An error of CEL itself, as the API server would have it: `no such key: x`."""


class NoFieldsError(CelError):
    """A field was asked of something that is no map; the engine does not say which."""


class NoRangeError(CelError):
    """A loop over something that is neither list nor map; the engine does not say what."""


class NotEvaluated(Exception):  # noqa: N818
    """Nobody can say the result here: a limit, a gap of the engine, or no engine at all."""


class UnknownKubernetes(Exception):  # noqa: N818
    """A Kubernetes version whose CEL is not known."""
