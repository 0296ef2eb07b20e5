"""CEL as Kubernetes admission policies use it, checked and evaluated offline."""

from poolsmith.kubernetes.cel.bindings import Bindings
from poolsmith.kubernetes.cel.compiled import Compiled
from poolsmith.kubernetes.cel.engine import engine_problem
from poolsmith.kubernetes.cel.environment import CelEnvironment, Scope
from poolsmith.kubernetes.cel.errors import CelError, NotEvaluated, UnknownKubernetes
from poolsmith.kubernetes.cel.syntax import CelCompileError, CompileIssue

__all__ = [
    "Bindings",
    "CelCompileError",
    "CelEnvironment",
    "CelError",
    "CompileIssue",
    "Compiled",
    "NotEvaluated",
    "Scope",
    "UnknownKubernetes",
    "engine_problem",
]
