"""Rules over Helm values, one file each; `registry.py` beside this folder lists them."""

from poolsmith.core.late import late_submodules

__getattr__ = late_submodules(__name__)
