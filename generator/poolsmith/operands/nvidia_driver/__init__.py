"""What the operator creates for NVIDIADriver objects, and which node each of them serves."""

from poolsmith.operands.nvidia_driver.expand import DriverExpansion, expand_drivers
from poolsmith.operands.nvidia_driver.owners import assign_owners

__all__ = ["DriverExpansion", "assign_owners", "expand_drivers"]
