"""Requests and limits of the operands' containers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.kube import NotModelled
from poolsmith.kubernetes.quantity import QuantityError, canonical_quantity, quantity_amount

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from decimal import Decimal

_KINDS = ("limits", "requests")
_LARGEST = 2**63 - 1


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
                if name not in merged or _amount(value) > _amount(merged[name]):
                    merged[name] = value
    limits = result.get("limits", {})
    for name, value in result.get("requests", {}).items():
        if name in limits and _amount(value) > _amount(limits[name]):
            limits[name] = value
    return result


def canonical(value: Any) -> str:
    """`0.5` is 500m, `1024Mi` is 1Gi. Raises NotModelled for what is none, or beyond 63 bits."""
    if abs(_amount(value)) >= _LARGEST:
        raise _none(value)
    try:
        return canonical_quantity(str(value))
    except QuantityError:
        raise _none(value) from None


def _amount(value: Any) -> Decimal:
    try:
        return quantity_amount(str(value))
    except QuantityError:
        raise _none(value) from None


def _none(value: Any) -> NotModelled:
    return NotModelled(f"a quantity that cannot be read: {str(value)[:40]}")
