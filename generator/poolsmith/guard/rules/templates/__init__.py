"""Rules over descriptions of nodes by themselves, whatever pools there are."""

from poolsmith.core.late import late_submodules

__getattr__ = late_submodules(__name__)
