"""The names that charts derive from their release, as Helm's starter chart does."""

from __future__ import annotations

from typing import Any

from poolsmith.operands.chart.go_template import TemplateError, is_true, look_up

LONGEST = 63


def chart_name(chart: str, values: dict[str, Any]) -> str:
    """The chart's name, or what `nameOverride` says. Raises TemplateError."""
    return _short(_override(values, "nameOverride") or chart)


def full_name(chart: str, values: dict[str, Any], helm_release: str) -> str:
    """What names of objects begin with: not twice the same, where the release is called like the chart.

    Raises TemplateError.
    """
    own = _override(values, "fullnameOverride")
    if own:
        return _short(own)
    name = _override(values, "nameOverride") or chart
    return _short(helm_release if name in helm_release else f"{helm_release}-{name}")


def _override(values: dict[str, Any], key: str) -> str:
    value = look_up(values, (key,))
    if not is_true(value):
        return ""
    if not isinstance(value, str):
        raise TemplateError(f"at <.Values.{key}>: trunc takes a string")
    return value


def _short(name: str) -> str:
    return name[:LONGEST].removesuffix("-")
