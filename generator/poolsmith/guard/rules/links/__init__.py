"""Rules over everything that reaches one cluster: what something needs by a name, and what supplies it."""

from poolsmith.core.late import late_submodules

__getattr__ = late_submodules(__name__)
