"""Where a generated value came from."""

from __future__ import annotations

from typing import NamedTuple

from poolsmith.core.record import record


class FromProfile(NamedTuple):
    """Written by a user: file and JSON pointer. A tuple, because ledgers ask for hundreds of thousands of them."""

    path: str
    pointer: str

    def __str__(self) -> str:
        return f"{self.path}#{self.pointer}"


@record(kw_only=False)
class FromCatalog:
    """A fact of the catalog: its entry, and the public source of the fact."""

    entry: str
    source: str = ""

    def __str__(self) -> str:
        return f"catalog {self.entry}"


@record(kw_only=False)
class Derived:
    """Followed from other values, in the pass that is named, for the reason given in one sentence."""

    derivation: str
    because: str
    inputs: tuple[Origin, ...] = ()

    def __str__(self) -> str:
        return f"{self.derivation}: {self.because}"


Origin = FromProfile | FromCatalog | Derived


def profile_inputs(origin: Origin) -> tuple[FromProfile, ...]:
    """The profile lines that an origin goes back to, each once, in order."""
    if isinstance(origin, FromProfile):
        return (origin,)
    if isinstance(origin, Derived):
        return tuple(dict.fromkeys(line for part in origin.inputs for line in profile_inputs(part)))
    return ()
