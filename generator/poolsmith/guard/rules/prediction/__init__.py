"""Rules over what a cluster's profiles produce."""

from poolsmith.core.late import late_submodules

__getattr__ = late_submodules(__name__)
