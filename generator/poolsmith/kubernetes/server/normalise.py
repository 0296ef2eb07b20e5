"""An object as CEL sees it in the API server: native kinds have been through their Go types.

Empty fields that are left out when empty are gone, explicit pointers stay, what is never left out appears, quantities
are canonical, fields that the version does not have are dropped. Nothing is defaulted: see `defaulting`.
Of custom resources only the metadata goes through a Go type.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.message_text import cut_inside, printable
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.kubernetes.server.go_types import readers
from poolsmith.kubernetes.server.go_values import NotThisType
from poolsmith.kubernetes.server.kubernetes_types import OBJECT_META, known_minors

if TYPE_CHECKING:
    from collections.abc import Mapping

_MINOR = pattern(r"v?1\.(\d{1,4})(?:\.\d{1,9})?", re.ASCII)
_LONGEST_REASON = 300


@record(kw_only=False)
class Normalised:
    """`reason` says why the API server can't read the object, which is then as it was given. `native`: a known kind."""

    object: Any
    native: bool
    reason: str | None = None


def as_stored(body: Mapping[str, Any], kubernetes: str) -> dict[str, Any]:
    """`body` as a version of Kubernetes (1.34) shows it to CEL. Never changed itself; parts may be shared."""
    result: dict[str, Any] = normalised(dict(body), kubernetes).object
    return result


def normalised(body: Any, kubernetes: str) -> Normalised:
    """The same, and whether the kind is known and the object readable; takes anything."""
    made = readers(minor_of(kubernetes))
    struct = made.types.kinds.get(_kind(body))
    try:
        if struct is not None:
            return Normalised(made.of_struct(struct)(body), native=True)
        if isinstance(body, dict) and isinstance(body.get("metadata"), dict):
            metadata = made.of_struct(OBJECT_META)(body["metadata"])
            if metadata.get("creationTimestamp", "") is None:
                del metadata["creationTimestamp"]
            return Normalised({**body, "metadata": metadata}, native=False)
    except NotThisType as problem:
        if struct is None:
            problem.steps.append("metadata")
        return Normalised(body, struct is not None, cut_inside(printable(str(problem)), _LONGEST_REASON))
    return Normalised(body, native=False)


def _kind(body: Any) -> tuple[str, str]:
    if not isinstance(body, dict):
        return "", ""
    api_version, kind = body.get("apiVersion"), body.get("kind")
    return (api_version, kind) if isinstance(api_version, str) and isinstance(kind, str) else ("", "")


@lru_cache(maxsize=64)
def minor_of(kubernetes: str) -> int:
    """What nobody can read counts as the newest version."""
    found = _MINOR.fullmatch(kubernetes)
    return int(found[1]) if found is not None else known_minors()[1]
