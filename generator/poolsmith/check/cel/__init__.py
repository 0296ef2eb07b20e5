"""CEL as Kubernetes admission policies use it, checked and evaluated offline.

Floor: check.
"""

from poolsmith.check.cel.bindings import Bindings
from poolsmith.check.cel.compiled import Compiled
from poolsmith.check.cel.engine import engine_problem
from poolsmith.check.cel.environment import CelEnvironment, Scope
from poolsmith.check.cel.errors import CelError, NotEvaluated, UnknownKubernetes
from poolsmith.check.cel.syntax import CelCompileError, CompileIssue

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
