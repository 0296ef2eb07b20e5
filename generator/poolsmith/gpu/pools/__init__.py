"""What a pool is, from whichever surface, and the rules over it."""

from poolsmith.core.late import late_submodules

__getattr__ = late_submodules(__name__)
