"""Rules that relabel metrics, as they come out of the operator.

It reads them into a type and writes them anew, without the fields that are empty. Source: NVIDIA/gpu-operator at
v26.7.0, vendor/github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1, RelabelConfig.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.nested import copied

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_DROPPED_WHEN_EMPTY = ("sourceLabels", "targetLabel", "regex", "modulus", "action")


def relabelings(rules: Iterable[Mapping[str, Any] | None]) -> list[dict[str, Any]]:
    """Each rule as it is written; one that is null says nothing."""
    return [
        {
            key: copied(value)
            for key, value in (rule or {}).items()
            if value is not None and (value or key not in _DROPPED_WHEN_EMPTY)
        }
        for rule in rules
    ]
