"""CEL as Kubernetes admission policies use it, checked and evaluated offline."""

from poolsmith.cel.bindings import Bindings
from poolsmith.cel.compiled import Compiled
from poolsmith.cel.engine import engine_problem
from poolsmith.cel.environment import CelEnvironment, Scope
from poolsmith.cel.errors import CelError, NotEvaluated, UnknownKubernetes
from poolsmith.cel.syntax import CelCompileError, CompileIssue

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
