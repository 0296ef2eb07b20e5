"""Rules over ledgers and grants, one file each."""

from poolsmith.core.late import late_submodules

__getattr__ = late_submodules(__name__)
