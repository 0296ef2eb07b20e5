"""Every function and macro of CEL in Kubernetes, by the minor that has it first, as the API server declares them.

Source: k8s.io/apiserver 0.34.1 `pkg/cel/environment` with cel-go 0.26 for 1.23 to 1.34, and the cel-go release that
minor was built with for what came later to a library (`optFlatMap`, `unwrapOpt`, `first`, `last`).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.kubernetes.cel.cel_types import Type, read_type, split_types

if TYPE_CHECKING:
    from collections.abc import Iterator

MACROS: dict[tuple[str, int], int] = {
    ("has", 1): 23,
    ("all", 2): 23,
    ("exists", 2): 23,
    ("exists_one", 2): 23,
    ("filter", 2): 23,
    ("map", 2): 23,
    ("map", 3): 23,
    ("optMap", 2): 28,
    ("optFlatMap", 2): 29,
    ("all", 3): 32,
    ("exists", 3): 32,
    ("existsOne", 3): 32,
    ("exists_one", 3): 32,
    ("transformList", 3): 32,
    ("transformList", 4): 32,
    ("transformMap", 3): 32,
    ("transformMap", 4): 32,
    ("transformMapEntry", 3): 32,
    ("transformMapEntry", 4): 32,
    ("sortBy", 2): 34,
}
SYNTAX = {"optional": 28, "quoted": 99}
IDENTIFIERS = {"authorizer": 27, "namespaceObject": 28, "variables": 28}
_COMPARED = ("bool", "int", "uint", "double", "string", "bytes", "Timestamp", "Duration")
_NUMBERS = ("double", "uint", "int")
_FUNCTIONS = Path(__file__).with_name("functions.txt")


@record(kw_only=False)
class Overload:
    """One signature: the receiver, if any, is the first argument; since: the first minor."""

    name: str
    member: bool
    arguments: tuple[Type, ...]
    result: Type
    since: int


@cache
def overloads() -> dict[str, tuple[Overload, ...]]:
    """All overloads of all versions, by function name, in the order in which they are tried."""
    out: dict[str, list[Overload]] = {}
    since = 0
    for line in _FUNCTIONS.read_text("utf-8").splitlines():
        if line.startswith("["):
            since = int(line.strip("[]"))
        name, _, signatures = line.partition(" = ") if since else ("", "", "")
        for one in signatures.split("; ") if signatures else ():
            out.setdefault(name, []).append(_overload(name, one, since))
    for name in ("_<_", "_<=_", "_>_", "_>=_"):
        out[name] = [_overload(name, f"({one}, {other}) bool", since) for one, other, since in _comparisons()]
    return {name: tuple(found) for name, found in out.items()}


def _comparisons() -> Iterator[tuple[str, str, int]]:
    for one in _COMPARED:
        yield one, one, 23
        yield from ((one, other, 28) for other in _NUMBERS if one in _NUMBERS and other != one)


def _overload(name: str, text: str, since: int) -> Overload:
    head, _, result = text.rpartition(") ")
    depth = 1
    at = len(head)
    while depth:
        at -= 1
        depth += (head[at] == ")") - (head[at] == "(")
    receiver = head[:at].removesuffix(".")
    arguments = split_types(head[at + 1 :])
    words = [receiver, *arguments] if receiver else arguments
    return Overload(name, bool(receiver), tuple(map(read_type, words)), read_type(result), since)
