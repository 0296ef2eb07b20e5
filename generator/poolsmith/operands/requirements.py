"""Requests and limits of the operands' containers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.operands.quantity import amount, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_KINDS = ("limits", "requests")


def requirements(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Limits and requests of a custom resource, where it has any, as the operator writes them."""
    return {
        kind: {name: canonical(value) for name, value in amounts.items()}
        for kind in _KINDS
        if (amounts := wanted.get(kind))
    }


def largest(each: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """For a container that must fit beside any of several: the most that one of them asks for.

    A limit grows with the largest request; where nobody has a limit, none is made up.
    """
    result: dict[str, dict[str, str]] = {}
    for wanted in each:
        for kind, amounts in requirements(wanted).items():
            merged = result.setdefault(kind, {})
            for name, value in amounts.items():
                if name not in merged or amount(value) > amount(merged[name]):
                    merged[name] = value
    limits = result.get("limits", {})
    for name, value in result.get("requests", {}).items():
        if name in limits and amount(value) > amount(limits[name]):
            limits[name] = value
    return result
