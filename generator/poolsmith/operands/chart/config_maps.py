"""The ConfigMaps that the chart itself makes from values, which the operator then finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.catalog.config_maps import read_config_map_rules
from poolsmith.operands.chart.go_template import TemplateError, is_true, look_up, printed

if TYPE_CHECKING:
    from poolsmith.catalog.config_maps import ConfigMapRule

CHART_FILE = "<a file of the chart>"


def chart_config_maps(release: str, values: dict[str, Any], namespace: str) -> tuple[dict[str, Any], ...]:
    """For `values` as templates see them, over the chart's defaults; what Helm could not render is left out."""
    made = (_config_map(rule, values, namespace) for rule in read_config_map_rules(release))
    return tuple(item for item in made if item is not None)


def _config_map(rule: ConfigMapRule, values: dict[str, Any], namespace: str) -> dict[str, Any] | None:
    try:
        block = look_up(values, rule.path)
    except TemplateError:
        return None
    if not isinstance(block, dict) or not is_true(block.get("create")):
        return None
    data = block.get("data")
    name = printed(block.get("name")) or rule.default_name
    if not name or (not is_true(data) and not rule.without_data):
        return None
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": _data(rule, data),
    }


def _data(rule: ConfigMapRule, data: Any) -> dict[str, str]:
    if rule.key is not None:
        return {rule.key: printed(data) if is_true(data) else CHART_FILE}
    return {key: printed(text) for key, text in data.items()} if isinstance(data, dict) else {}
