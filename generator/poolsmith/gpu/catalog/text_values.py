"""What a boolean or an integer of the operator's chart becomes that is written as text, by release.

Recorded by `tests/tools/record_text_values.py` from what Helm renders: most templates print it as it is, and then it is
read as what it says.
"""

from __future__ import annotations

from enum import StrEnum

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.gpu.catalog.value_effects import at_release

PLACE = "values/texts.json"


class Becomes(StrEnum):
    ITSELF = "itself"
    TRUE = "true"
    """A template asks for it, and every text that is not empty is true."""
    REFUSED = "refused"
    """It stays a text, which the API server refuses."""


def text_becomes(release: str, path: str) -> Becomes:
    """Of a dotted path; refused, as nothing else is known, where it is not recorded."""
    return Becomes(_words(release).get(path) or Becomes.REFUSED)


@remembered
def _words(release: str) -> dict[str, str]:
    return at_release(store.read_json(PLACE), release)
