"""The native engine behind a narrow interface: the one module that knows cel-expr-python.

Type checks are ours, so the engine gets lowered text without them, in one environment for every Kubernetes version: an
activation made for an object serves every policy. Imported when first asked.
"""

from __future__ import annotations

import importlib
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.kubernetes.cel.errors import CelError, NoFieldsError, NoRangeError, NotEvaluated
from poolsmith.kubernetes.cel.functions.registry import FUNCTIONS, Function
from poolsmith.kubernetes.cel.functions.values import NO_OVERLOAD, ImpreciseError, TooLargeError, type_name
from poolsmith.kubernetes.cel.go_text import printable
from poolsmith.kubernetes.cel.program import LATER, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

VARIABLES = ("object", "oldObject", "request", "params", "namespaceObject")
_LOCKED = "`pip install --require-hashes -r requirements-run.lock`"
_INSTALL = f"install it with {_LOCKED} (wheels for glibc 2.28+, macOS, Windows; not musl)"
_AUTHORIZER = "it asks the authorizer, which only a cluster can answer"
_MACROS = "name: kubernetes\nextensions:\n  - name: two-var-comprehensions\n"
_MOST_PLANNED = 256
_MODULES = (
    "cel_expr_python.cel",
    "cel_expr_python.ext.ext_bindings",
    "cel_expr_python.ext.ext_optional",
    "re2",
)
_NO_KEY = pattern(r"Key not found in map : (.*)", re.DOTALL)
_NO_INDEX = pattern(r"Index error: index=(-?\d+) size=\d+")
_OVERLOAD = (
    "No matching overloads",
    "Invalid container type",
    "Index error: expected",
)
_GAPS = ("No value with name", "Unimplemented", "Non-CEL value type", "Unexpected value type")
_OPERATOR = pattern(
    r"No matching overloads found : (?:(?P<function>[^ (]+)\((?P<first>\w+)|\((?P<target>\w+)\)\.(?P<method>\w+)\()"
)
_ORDERED = frozenset({"bool", "bytes", "double", "duration", "int64", "string", "timestamp", "uint64"})
_TYPED = pattern(r"(?<=^sum)_.*|(?<=^min)_.*|(?<=^max)_.*")
_KINDS = {"int64": "int", "uint64": "uint"}
_SIZED = frozenset({"bytes", "list", "map", "string"})
_ABLE = {
    "_+_": frozenset({"bytes", "double", "duration", "int64", "list", "string", "timestamp", "uint64"}),
    "_-_": frozenset({"double", "duration", "int64", "timestamp", "uint64"}),
    "_*_": frozenset({"double", "int64", "uint64"}),
    "_/_": frozenset({"double", "int64", "uint64"}),
    "_%_": frozenset({"int64", "uint64"}),
    "_<_": _ORDERED,
    "_<=_": _ORDERED,
    "_>_": _ORDERED,
    "_>=_": _ORDERED,
    "size": _SIZED,
}
_WORDS = {
    "divide by zero": "division by zero",
    "String to Timestamp conversion failed": "type conversion error from 'string' to 'google.protobuf.Timestamp'",
    "String to Duration conversion failed": "type conversion error from 'string' to 'google.protobuf.Duration'",
    "Index error: expected integer type, got string": "unsupported index type 'string' in list",
}


@lru_cache(maxsize=1)
def engine_problem() -> str | None:
    """None, or why nothing can be evaluated and what to install."""
    for name in _MODULES:
        try:
            importlib.import_module(name)
        except ImportError as error:
            return f"the CEL engine is not installed ({name.split('.')[0]}: {error}); {_INSTALL}"
    return None


class Program:
    """An expression that the engine has planned; failures and unknowns: what our functions met meanwhile."""

    __slots__ = ("_expression", "_failures", "_unknowns")

    def __init__(self, expression: Any, failures: list[str], unknowns: list[str]) -> None:
        self._expression = expression
        self._failures = failures
        self._unknowns = unknowns

    def evaluate(self, activation: Any) -> Any:
        """A plain value; raises CelError for an error of CEL, NotEvaluated where the engine gives up."""
        failed, unknown = len(self._failures), len(self._unknowns)
        try:
            value = self._expression.eval(activation)
            if len(self._failures) > failed:
                raise NotEvaluated(self._failures[-1])
            kind = value.type().name()
            if kind == "BOOL" or kind == "STRING":  # noqa: PLR1714
                return value.value()
            if kind != "ERROR":
                return _plain(value)
            if len(self._unknowns) > unknown:
                raise NotEvaluated(self._unknowns[-1])
            raise _error(str(value.value()))
        except RuntimeError as error:
            raise NotEvaluated(printable(_limit(str(error)))) from None
        except (TypeError, ValueError, MemoryError, OverflowError, SystemError) as error:
            raise NotEvaluated(f"the engine cannot hand over the result ({type(error).__name__})") from None
        finally:
            del self._failures[failed:]
            del self._unknowns[unknown:]


class CelEngine:
    """One environment with all that any supported Kubernetes version has."""

    def __init__(self) -> None:
        cel, bindings, optional, _ = (importlib.import_module(name) for name in _MODULES)
        kinds = {
            "bool": cel.Type.BOOL,
            "int": cel.Type.INT,
            "uint": cel.Type.UINT,
            "double": cel.Type.DOUBLE,
            "string": cel.Type.STRING,
            "timestamp": cel.Type.TIMESTAMP,
            "duration": cel.Type.DURATION,
            "dyn": cel.Type.DYN,
        }
        self._failures: list[str] = []
        self._unknowns: list[str] = []
        self._asked: list[Callable[[str], Any]] = []
        self._planned: dict[str, Program] = {}
        overloads: dict[str, list[Any]] = {}
        ours = (Function(LATER, 1, "dyn", self.later), Function(UNKNOWN, 0, "dyn", self.unknown))
        for one in (*FUNCTIONS, *ours):
            parameters = [kinds["dyn"]] * one.count
            run = _guarded(one, self._failures)
            made = cel.Overload(f"{one.name}_{one.count}", kinds[one.result], parameters, False, run)
            overloads.setdefault(one.name, []).append(made)
        declared = [cel.FunctionDecl(name, found) for name, found in overloads.items()]
        self._environment = cel.NewEnv(
            config=cel.NewEnvConfigFromYaml(_MACROS),
            variables=dict.fromkeys(VARIABLES, kinds["dyn"]),
            extensions=[
                optional.ExtOptional(),
                bindings.ExtBindings(),
                cel.CelExtension("kubernetes", declared),
            ],
        )

    def unknown(self) -> Any:
        """What only a cluster knows: an error that holds back the result unless something else decides it."""
        self._unknowns.append(_AUTHORIZER)
        raise CelError(_AUTHORIZER)

    def later(self, number: Any) -> Any:
        """A part of an expression that was too deep, from whoever evaluates it now."""
        return self._asked[-1](number)

    def asking(self, ask: Callable[[str], Any], program: Program, activation: Any) -> Any:
        """Evaluates a program whose deep parts `ask` computes."""
        self._asked.append(ask)
        try:
            return program.evaluate(activation)
        finally:
            self._asked.pop()

    def plan(self, text: str) -> Program:
        """The same for every Kubernetes, which this environment knows nothing of.

        Raises NotEvaluated when the engine cannot take the text.
        """
        if text not in self._planned:
            while len(self._planned) >= _MOST_PLANNED:
                del self._planned[next(iter(self._planned))]
            self._planned[text] = self._plan(text)
        return self._planned[text]

    def _plan(self, text: str) -> Program:
        try:
            return Program(self._environment.compile(text, disable_check=True), self._failures, self._unknowns)
        except (RuntimeError, TypeError, ValueError) as error:
            raise NotEvaluated(f"the engine cannot take the expression: {str(error).splitlines()[0][:200]}") from None

    def activation(self, values: Mapping[str, Any]) -> Any:
        """Values of VARIABLES; only the parts that expressions read are converted."""
        return self._environment.Activation(values)


def _plain(value: Any) -> Any:
    """A result without optionals; the engine's own conversion of those ends the process."""
    kind = value.type().name()
    if kind.startswith("LIST"):
        return [_plain(one) for one in value.value()]
    if kind.startswith("MAP"):
        return {key: _plain(one) for key, one in value.value().items()}
    if kind == "ERROR":
        raise TypeError("an optional")
    return value.plain_value()


def _guarded(one: Function, failures: list[str]) -> Callable[..., Any]:
    """The function with Kubernetes' words for a wrong type; anything unforeseen is no error of CEL, and kept.

    The engine never frees what it hands over, so that lists and maps are emptied when they have served.
    """

    def run(*given: Any) -> Any:
        try:
            return one.run(*given)
        except CelError as error:
            if str(error) == NO_OVERLOAD and one.name not in (LATER, "k_same", "k_error"):
                names = ", ".join(map(type_name, given))
                raise CelError(f"{NO_OVERLOAD}: {_TYPED.sub('', one.name.removeprefix('k_'))}({names})") from None
            raise
        except Exception as error:
            why = f"failed: {type(error).__name__}"
            if isinstance(error, TooLargeError | ImpreciseError):
                why = f"would {'make' if isinstance(error, TooLargeError) else 'lose'} {error}"
            failures.append(f"{one.name.removeprefix('k_')}() {why}")
            raise
        finally:
            for value in given:
                if isinstance(value, list | dict):
                    value.clear()

    return run


@lru_cache(maxsize=1)
def engine() -> CelEngine:
    """The engine of this process; raises NotEvaluated when none is installed."""
    problem = engine_problem()
    if problem is not None:
        raise NotEvaluated(problem)
    return CelEngine()


def _error(text: str) -> CelError | NotEvaluated:
    message = text.partition(": ")[2] or text
    found = _NO_KEY.search(message)
    if found is not None:
        return CelError(f"no such key: {_unquoted(found.group(1))}")
    found = _NO_INDEX.search(message)
    if found is not None:
        return CelError(f"index out of bounds: {found.group(1)}")
    if "Applying SELECT" in message or "Invalid container type" in message:
        return NoFieldsError(NO_OVERLOAD)
    if any(word in message for word in _GAPS):
        return NotEvaluated(printable(f"the engine lacks something that the expression needs: {message[:200]}"))
    if message in _WORDS:
        return CelError(_WORDS[message])
    if "<iter_range>" in message:
        return NoRangeError(NO_OVERLOAD)
    found = _OPERATOR.search(message)
    if found is not None:
        name = found.group("function") or found.group("method")
        kind = found.group("first") or found.group("target")
        if name == "_[_]":
            return NoFieldsError(NO_OVERLOAD)
        if name in ("hasValue", "value"):
            return CelError(f"{NO_OVERLOAD}: {name}({_KINDS.get(kind, kind)})")
        able = _ABLE.get(name)
        return CelError(NO_OVERLOAD if able is None or kind in able else f"{NO_OVERLOAD}: {name}")
    return CelError(NO_OVERLOAD if any(word in message for word in _OVERLOAD) else message)


def _limit(text: str) -> str:
    if "Iteration budget" in text:
        return "the engine stops after 10,000 loop steps"
    return f"the engine gave up: {text.splitlines()[0][:200] if text else 'no reason given'}"


def _unquoted(text: str) -> str:
    return text[1:-1] if text[:1] == text[-1:] == '"' else text
