"""The ConfigMaps that a release's chart renders from values."""

from __future__ import annotations

from functools import cache

from poolsmith.catalog import store
from poolsmith.catalog.versions import covers
from poolsmith.record import record


@record
class ConfigMapRule:
    """`path` leads to the block of values with create, name and data; `key` is set where data is one text."""

    path: tuple[str, ...]
    default_name: str = ""
    key: str | None = None
    without_data: bool = False


@cache
def read_config_map_rules(release: str) -> tuple[ConfigMapRule, ...]:
    return tuple(
        ConfigMapRule(
            path=tuple(rule["values"].split(".")),
            default_name=rule.get("defaultName", ""),
            key=rule.get("key"),
            without_data=rule.get("withoutData", False),
        )
        for rule in store.read_yaml("projection/config_maps.yaml")["configMaps"]
        if covers(rule, release)
    )
