"""Sources: bytes and files, in and out. YAML as Kubernetes reads it; trees written atomically."""

from poolsmith.core.late import late_submodules

__getattr__ = late_submodules(__name__)
