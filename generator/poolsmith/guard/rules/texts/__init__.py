"""Rules over texts of the stack, wherever they stand: in ConfigMaps, values, patches, files; known by their shape."""

from poolsmith.core.late import late_submodules

__getattr__ = late_submodules(__name__)
