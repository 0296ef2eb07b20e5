"""Taints and tolerations, as the scheduler and the eviction of NoExecute decide.

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


class Tolerations:
    """Many of them, asked about many taints: found by their keys."""

    def __init__(self, tolerations: Iterable[Any] = ()) -> None:
        """What is no mapping tolerates nothing."""
        self._by_key: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
        self._count = 0
        for item in tolerations:
            self.add(item)

    def add(self, toleration: Any) -> None:
        if isinstance(toleration, dict):
            self._by_key.setdefault(_text(toleration, "key"), []).append((self._count, toleration))
        self._count += 1

    def cover(self, taint: Mapping[str, Any]) -> bool | None:
        """As `covered`."""
        keys = dict.fromkeys(("", _text(taint, "key")))
        return covered(taint, (item for key in keys for _, item in self._by_key.get(key, ())))

    def near(self, taint: Mapping[str, Any]) -> tuple[int, str] | None:
        """Position and value of one that would match if its value were the taint's."""
        key = _text(taint, "key")
        for position, item in self._by_key.get(key, ()) if key else ():
            wanted = {**item, "value": _text(taint, "value")}
            if _text(item, "operator") in _EQUAL and tolerates(wanted, taint):
                return position, _text(item, "value")
        return None


def shown_taint(taint: Mapping[str, Any]) -> str:
    """As kubectl writes it: key=value:effect."""
    value = _text(taint, "value")
    return f"{_text(taint, 'key')}{'=' + value if value else ''}:{_text(taint, 'effect')}"


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key)
    return "" if value is None else str(value)
