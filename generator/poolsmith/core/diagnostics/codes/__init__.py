"""The code book, as far as no rule file holds it: reading, shape, compatibility, values, output, policies.

Codes are grouped by hundred; numbers are never reused. Rules that judge manifests hold their own entry
beside their code; `app` joins both.
"""

from poolsmith.core.diagnostics.codes.admission import ADMISSION
from poolsmith.core.diagnostics.codes.beside import BESIDE
from poolsmith.core.diagnostics.codes.change import CHANGE
from poolsmith.core.diagnostics.codes.compatibility import COMPATIBILITY
from poolsmith.core.diagnostics.codes.delivery import DELIVERY
from poolsmith.core.diagnostics.codes.driver import DRIVER
from poolsmith.core.diagnostics.codes.hygiene import HYGIENE
from poolsmith.core.diagnostics.codes.live import LIVE
from poolsmith.core.diagnostics.codes.outside import OUTSIDE
from poolsmith.core.diagnostics.codes.packs import PACKS
from poolsmith.core.diagnostics.codes.policy import POLICY
from poolsmith.core.diagnostics.codes.privilege import PRIVILEGE
from poolsmith.core.diagnostics.codes.reading import READING
from poolsmith.core.diagnostics.codes.review import REVIEW
from poolsmith.core.diagnostics.codes.rings import RINGS
from poolsmith.core.diagnostics.codes.runtime import RUNTIME
from poolsmith.core.diagnostics.codes.scheduling import SCHEDULING
from poolsmith.core.diagnostics.codes.schema import SCHEMA
from poolsmith.core.diagnostics.codes.shape import SHAPE
from poolsmith.core.diagnostics.codes.supply import SUPPLY
from poolsmith.core.diagnostics.codes.teams import TEAMS

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
)
