"""Layouts of one's own for the MIG manager, without the one that nodes are given by default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.pointer import join, value_at
from poolsmith.core.sources.yaml_reader import read_if_yaml
from poolsmith.gpu.catalog.node_labels import MIG_CONFIG
from poolsmith.guard.rules.setup.device_plugin_config import config_map

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo.of("PSM335")
NEEDS = ()
_CONFIG = "migManager.config"
_FILE = "config.yaml"
_LAYOUTS = "mig-configs"
_DEFAULT = "all-disabled"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    if view.values is None or view.flag("migManager.enabled") is False or _all_ask(view):
        return
    name, default = view.value(f"{_CONFIG}.name"), view.value(f"{_CONFIG}.default")
    if not isinstance(name, str) or not name or default not in (None, _DEFAULT):
        return
    made = view.value(f"{_CONFIG}.create") is True
    there = None if made else config_map(view, name)
    data = view.value(f"{_CONFIG}.data") if made else there.data.get("data") if there is not None else None
    text = data.get(_FILE) if isinstance(data, dict) else None
    layouts = _layouts(text)
    if layouts is None or _DEFAULT in layouts:
        return
    written = view.values.written(join("", *_CONFIG.split("."), "data", _FILE)) if made else None
    if there is not None and there.source is not None:
        written = there.source, join("/data", _FILE)
    place = view.value_location(f"{_CONFIG}.name")
    if written is not None:
        place = InnerText(*written, str(text), None).locate(join("", _LAYOUTS))
    shown = f"`{_CONFIG}.data`" if made else f"ConfigMap/{shorten(name)}"
    yield Finding(
        message=f"the layouts in {shown} have no `{_DEFAULT}`, which nodes are given by default",
        place=place,
        help=f'add `{_DEFAULT}: [{{devices: all, mig-enabled: false}}]`, or write `{_CONFIG}.default: ""`',
    )


def _all_ask(view: SetupView) -> bool:
    """Whether each node is known, and asks for a layout itself: then none is given the default."""
    return bool(view.nodes) and all(MIG_CONFIG in node.labels for node in view.nodes or ())


def _layouts(text: Any) -> Any:
    """None where they can't be read, or something still fills them in."""
    if not isinstance(text, str) or "{{" in text or "${" in text:
        return None
    layouts = value_at(next(iter(read_if_yaml(text)), None), (_LAYOUTS,))
    return layouts if isinstance(layouts, dict) and layouts else None
