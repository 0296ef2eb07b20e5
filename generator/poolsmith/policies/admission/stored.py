"""An object as the API server holds it when policies are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.policies.admission.normalise import normalise, normalised

if TYPE_CHECKING:
    from collections.abc import Mapping


def as_stored(body: Mapping[str, Any], kubernetes: str) -> dict[str, Any]:
    """The object with the empties of native kinds gone and quantities canonical; others as they are written."""
    return normalise(dict(body), kubernetes)


def unreadable(body: Mapping[str, Any], kubernetes: str) -> str | None:
    """Why the API server could not even read the object; it is judged as it is written all the same."""
    return normalised(dict(body), kubernetes).reason
