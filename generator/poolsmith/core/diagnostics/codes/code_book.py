"""The code book of findings that no rule file holds; `app` joins it with those of rules."""

from __future__ import annotations

from poolsmith.core.diagnostics.codes.change import CHANGE, REVIEW
from poolsmith.core.diagnostics.codes.compatibility import COMPATIBILITY
from poolsmith.core.diagnostics.codes.engines import ENGINES
from poolsmith.core.diagnostics.codes.hygiene import HYGIENE
from poolsmith.core.diagnostics.codes.live import LIVE
from poolsmith.core.diagnostics.codes.node_software import DRIVER, RUNTIME, SCHEDULING
from poolsmith.core.diagnostics.codes.outside import BESIDE, OUTSIDE, SUPPLY
from poolsmith.core.diagnostics.codes.policy import ADMISSION, POLICY
from poolsmith.core.diagnostics.codes.privilege import PRIVILEGE
from poolsmith.core.diagnostics.codes.reading import PACKS, READING, TEAMS
from poolsmith.core.diagnostics.codes.schema import SCHEMA
from poolsmith.core.diagnostics.codes.shape import ASSUMED, DELIVERY, RINGS, SHAPE

CODE_BOOK = (
    *READING,
    *PACKS,
    *TEAMS,
    *SHAPE,
    *RINGS,
    *COMPATIBILITY,
    *DELIVERY,
    *RUNTIME,
    *SCHEDULING,
    *BESIDE,
    *LIVE,
    *DRIVER,
    *SCHEMA,
    *PRIVILEGE,
    *HYGIENE,
    *POLICY,
    *SUPPLY,
    *CHANGE,
    *REVIEW,
    *OUTSIDE,
    *ADMISSION,
    *ASSUMED,
    *ENGINES,
)
