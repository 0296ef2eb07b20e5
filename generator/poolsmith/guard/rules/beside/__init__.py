"""Rules over what stands beside the GPU stack: the files of who makes the nodes, and of the network's operator."""

from poolsmith.core.late import late_submodules

__getattr__ = late_submodules(__name__)
