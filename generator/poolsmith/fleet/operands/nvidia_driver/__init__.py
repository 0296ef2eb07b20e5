"""What the operator creates for NVIDIADriver objects, and which node each of them serves."""

from poolsmith.fleet.operands.nvidia_driver.conflicts import assign_owners
from poolsmith.fleet.operands.nvidia_driver.nvidia_driver_expansion import DriverExpansion, expand_drivers

__all__ = ["DriverExpansion", "assign_owners", "expand_drivers"]
