"""Rules over the setup of one cluster: drivers, toolkits, nodes and what stands beside them."""

from poolsmith.core.late import late_submodules

__getattr__ = late_submodules(__name__)
