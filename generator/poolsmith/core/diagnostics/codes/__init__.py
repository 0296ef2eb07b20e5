"""The codes of findings that no rule file holds: reading, shape, compatibility, values, output, policies.

Codes are grouped by hundred; numbers are never reused. Rules that judge manifests hold their own entry
beside their code. A run loads the groups that it says something of.
"""

from poolsmith.core.late import late_submodules

__getattr__ = late_submodules(__name__)
