"""The code book, as far as no rule file holds it: reading, shape, compatibility, values, output, policies.

Codes are grouped by hundred; numbers are never reused. Rules that judge manifests hold their own entry
beside their code; `app` joins both.
"""

from poolsmith.diagnostics.codes.admission import ADMISSION
from poolsmith.diagnostics.codes.beside import BESIDE
from poolsmith.diagnostics.codes.change import CHANGE
from poolsmith.diagnostics.codes.compatibility import COMPATIBILITY
from poolsmith.diagnostics.codes.delivery import DELIVERY
from poolsmith.diagnostics.codes.driver import DRIVER
from poolsmith.diagnostics.codes.hygiene import HYGIENE
from poolsmith.diagnostics.codes.live import LIVE
from poolsmith.diagnostics.codes.outside import OUTSIDE
from poolsmith.diagnostics.codes.packs import PACKS
from poolsmith.diagnostics.codes.policy import POLICY
from poolsmith.diagnostics.codes.privilege import PRIVILEGE
from poolsmith.diagnostics.codes.reading import READING
from poolsmith.diagnostics.codes.review import REVIEW
from poolsmith.diagnostics.codes.rings import RINGS
from poolsmith.diagnostics.codes.runtime import RUNTIME
from poolsmith.diagnostics.codes.scheduling import SCHEDULING
from poolsmith.diagnostics.codes.schema import SCHEMA
from poolsmith.diagnostics.codes.shape import SHAPE
from poolsmith.diagnostics.codes.supply import SUPPLY
from poolsmith.diagnostics.codes.teams import TEAMS

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
