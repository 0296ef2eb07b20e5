"""Names for the codes that no module of a rule holds: reading, shape, compatibility, values, output, policies.

Codes are grouped by hundred; numbers are never reused. A run loads the groups that it says something of.
"""

from poolsmith.core.late import late_submodules

__getattr__ = late_submodules(__name__)
