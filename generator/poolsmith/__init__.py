"""poolsmith: GPU node-pool profiles in, committed GitOps manifests out."""

__version__ = "0.1.0"
TOOL = "poolsmith " + __version__
