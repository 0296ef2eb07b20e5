"""Rules over the charts that a repository installs: their versions, and what a chart alone does not do."""

from poolsmith.core.late import late_submodules

__getattr__ = late_submodules(__name__)
