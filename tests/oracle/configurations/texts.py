"""Texts of configurations by construction: a sound one, and each place of it with one thing wrong."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = (None, True, False, 0, 1, -1, 1.5, 4096, "", "all", "x", "60s", [], ["x"], [0], [0, 0], ["all"], {}, {"x": 1})
MIG: dict[str, Any] = {
    "version": "v1",
    "mig-configs": {
        "off": [{"devices": "all", "mig-enabled": False}],
        "one": [
            {
                "devices": [0, 1],
                "device-filter": ["0x20B210DE"],
                "mig-enabled": True,
                "mig-devices": {"1g.10gb": 2, "1g.10gb+me": 1, "3g.40gb": 1},
            },
            {"device-filter": "0x20B510DE", "devices": [2], "mig-enabled": False, "mig-devices": {}},
        ],
    },
}
DISCOVERY: dict[str, Any] = {
    "core": {
        "sleepInterval": "60s",
        "labelSources": ["pci", "-cpu"],
        "featureSources": ["all"],
        "labelWhiteList": "",
        "noPublish": False,
        "klog": {"v": "0", "logtostderr": True},
    },
    "sources": {
        "pci": {"deviceClassWhitelist": ["03", "0200"], "deviceLabelFields": ["vendor"]},
        "usb": {"deviceClassWhitelist": ["0e"], "deviceLabelFields": ["class"]},
        "cpu": {"cpuid": {"attributeBlacklist": ["BMI1"], "attributeWhitelist": []}},
        "kernel": {"kconfigFile": "/boot/config", "configOpts": ["NO_HZ"]},
    },
}
BASES = {"mig_layouts": MIG, "discovery_config": DISCOVERY}
PROFILES = ("0g.1gb", "1g.5gb", "1c.2g.10gb", "2c.1g.5gb", "1g.5gb+me", "1g.5gb.me", "1g.5gb-me", "8g.80gb", "g.5gb")


def texts(name: str) -> tuple[str, ...]:
    """Each once, in the order in which they are made."""
    base = BASES[name]
    made = [base, *changed(base), None, [], "x"]
    if name == "mig_layouts":
        layouts = [{"devices": "all", "mig-enabled": True, "mig-devices": {profile: 1}} for profile in PROFILES]
        made += [{"version": "v1", "mig-configs": {"a": [layout]}} for layout in layouts]
    return tuple(dict.fromkeys(map(json.dumps, made)))


def changed(base: Any) -> Iterator[Any]:
    """Each place without its value, with another one, under another name; and each mapping with a key more."""
    for steps in places(base):
        *above, last = steps
        for word in WORDS:
            tree, node = _at(base, above)
            node[last] = copy.deepcopy(word)
            yield tree
        tree, node = _at(base, above)
        value = node.pop(last)
        yield copy.deepcopy(tree)
        if isinstance(last, str):
            for name in (last.upper(), last + "s", last[:-1]):
                tree, node = _at(base, above)
                del node[last]
                node[name] = value
                yield tree
        if isinstance(value, dict):
            tree, node = _at(base, steps)
            node["more"] = 1
            yield tree


def places(node: Any, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if above:
        yield above
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for step, value in items:
        yield from places(value, (*above, step))


def _at(base: Any, steps: list[str | int] | tuple[str | int, ...]) -> tuple[Any, Any]:
    """A copy, and what stands there in it."""
    tree = copy.deepcopy(base)
    node = tree
    for step in steps:
        node = node[step]
    return tree, node
