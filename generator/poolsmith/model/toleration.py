"""Taints and tolerations, as the scheduler and the eviction of NoExecute decide. Floor: model.

Both are plain mappings, as they stand in objects and in Helm values.
Source: Kubernetes, staging/src/k8s.io/component-helpers/scheduling/corev1 and Toleration.ToleratesTaint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NO_EXECUTE = "NoExecute"
KEEPS_AWAY = frozenset(("NoSchedule", NO_EXECUTE))
"""Effects that keep pods off a node; PreferNoSchedule is a preference."""
_EQUAL = frozenset(("", "Equal"))
_COMPARES = frozenset(("Gt", "Lt"))


def tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool | None:
    """Whether one toleration matches one taint; None where it compares numbers, which depends on the cluster.

    No key matches all keys, but with `Exists` only; no effect matches all effects.
    """
    key, operator = _text(toleration, "key"), _text(toleration, "operator")
    if key not in ("", _text(taint, "key")) or _text(toleration, "effect") not in ("", _text(taint, "effect")):
        return False
    if operator == "Exists":
        return True
    if not key:
        return False
    if operator in _COMPARES:
        return None
    return operator in _EQUAL and _text(toleration, "value") == _text(taint, "value")


def stays(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool | None:
    """As `tolerates`, but for pods that are to stay: NoExecute evicts what tolerates it for some seconds only."""
    if _text(taint, "effect") == NO_EXECUTE and toleration.get("tolerationSeconds") is not None:
        return False
    return tolerates(toleration, taint)


def keeps_away(taint: Mapping[str, Any]) -> bool:
    """Whether a pod without a toleration can't run on a node with this taint."""
    return _text(taint, "effect") in KEEPS_AWAY


def covered(taint: Mapping[str, Any], tolerations: Iterable[Mapping[str, Any]]) -> bool | None:
    """Whether pods with these tolerations may run, and stay, in spite of one taint; None: nobody can tell."""
    if not keeps_away(taint):
        return True
    answers = {stays(item, taint) for item in tolerations}
    return True if True in answers else None if None in answers else False


def shown_taint(taint: Mapping[str, Any]) -> str:
    """As kubectl writes it: key=value:effect."""
    value = _text(taint, "value")
    return f"{_text(taint, 'key')}{'=' + value if value else ''}:{_text(taint, 'effect')}"


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key)
    return "" if value is None else str(value)
