"""What `kustomize build` makes of the kustomizations of a repository, with the line that decides each value."""

from poolsmith.core.late import late_submodules

__getattr__ = late_submodules(__name__)
