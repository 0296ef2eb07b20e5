"""Texts of configurations by construction: a sound one, and each place of it with one thing wrong."""

from __future__ import annotations

import copy
import json
import random
from itertools import permutations
from typing import TYPE_CHECKING, Any

from poolsmith.gpu.catalog.gpu_clusters import read_dra

if TYPE_CHECKING:
    from collections.abc import Iterator

_SWITCH, _BY_CHANCE = ("true", "false"), 300

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
CIRCUMSTANCES: dict[str, dict[str, str]] = {
    "operator": {"CAPABILITY": "8.0", "MIG_STRATEGY": "single", "MPS_ROOT": "/run/nvidia/mps"},
    "operator, mixed": {"CAPABILITY": "9.0", "MIG_STRATEGY": "mixed", "MPS_ROOT": "/run/nvidia/mps"},
    "chart": {"CAPABILITY": "7.5", "MPS_ROOT": "/run/nvidia/mps"},
    "chart, Volta": {"CAPABILITY": "7.0", "MPS_ROOT": "/run/nvidia/mps"},
    "by hand": {"CAPABILITY": "8.9"},
}
"""Variables of a device plugin, and the compute capability of its GPUs."""
PLUGIN_WORDS: dict[str, tuple[Any, ...]] = {
    "migStrategy": ("none", "single", "mixed", "Mixed", "all", ""),
    "deviceDiscoveryStrategy": ("auto", "nvml", "NVML", "wsl", ""),
    "mpsRoot": ("/mps", ""),
    "plugin.deviceListStrategy": (
        "envvar",
        ["envvar", "envvar"],
        ["cdi-cri", "cdi-annotations"],
        "cdi",
        "envvar,cdi-cri",
        [],
        "",
    ),
    "plugin.deviceIDStrategy": ("uuid", "index", "UUID", "name", ""),
    "plugin.sharedDevicesAllocationPolicy": ("distributed", "packed", "spread", ""),
}
CHANNELS = ([], [0], [1], [0, 0], [0, 1], [-1], None)
GPU, SLICE = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"
REPLICAS = (2, 4, 16, 17, 48, 49, 1000)
PROFILES = ("0g.1gb", "1g.5gb", "1c.2g.10gb", "2c.1g.5gb", "1g.5gb+me", "1g.5gb.me", "1g.5gb-me", "8g.80gb", "g.5gb")


def texts(name: str) -> tuple[str, ...]:
    """Each once, in the order in which they are made."""
    base = BASES[name]
    made = [base, *changed(base), None, [], "x"]
    if name == "mig_layouts":
        layouts = [{"devices": "all", "mig-enabled": True, "mig-devices": {profile: 1}} for profile in PROFILES]
        made += [{"version": "v1", "mig-configs": {"a": [layout]}} for layout in layouts]
    return tuple(dict.fromkeys(map(json.dumps, made)))


def plugin_starts() -> tuple[str, ...]:
    """Texts that the device plugin reads, one word, number or section otherwise in each."""
    made: list[Any] = [None, {}]
    for dotted, words in PLUGIN_WORDS.items():
        for word in words:
            flags: Any = word
            for step in reversed(dotted.split(".")):
                flags = {step: flags}
            made += [{"flags": flags}, {"flags": flags, "sharing": _shared(mps=2)}]
    made += [{"imex": {"channelIDs": channels}} for channels in CHANNELS]
    made += [{"sharing": _shared(**{way: number})} for way in ("timeSlicing", "mps") for number in REPLICAS]
    made += [{"sharing": sharing} for sharing in _sharings()]
    for pattern in ("*", "GPU", "A100*"):
        made.append({"resources": {"gpus": [{"pattern": pattern, "name": "other"}]}})
    made.append({"resources": {"mig": [{"pattern": "1g*", "name": "slice"}]}})
    return tuple(json.dumps(text) for text in made)


def gate_texts() -> tuple[str, ...]:
    """Of the DRA driver's feature gates: each, each pair with the first one on, and some by chance."""
    known = [*read_dra().gates, *read_dra().gate_groups]
    made = ["", "Nope=true", *(f"{name}={on}" for name in known for on in _SWITCH), f"{known[0].lower()}=true"]
    made += [f"{one}=true,{other}={on}" for one, other in permutations(known, 2) for on in _SWITCH]
    chance = random.Random(0)
    for _ in range(_BY_CHANCE):
        some = chance.sample(known, chance.randint(3, 6))
        made.append(",".join(f"{name}={chance.choice(_SWITCH)}" for name in some))
    return tuple(dict.fromkeys(made))


def _shared(**replicas: int) -> dict[str, Any]:
    return {way: {"resources": [{"name": GPU, "replicas": number}]} for way, number in replicas.items()}


def _sharings() -> Iterator[dict[str, Any]]:
    yield _shared(timeSlicing=4, mps=4)
    yield {**_shared(timeSlicing=4), "mps": None}
    yield {**_shared(mps=4), "timeSlicing": {"resources": [{"name": SLICE, "replicas": 2}]}}
    for way in ("timeSlicing", "mps"):
        for name, number in ((SLICE, 4), (SLICE, 49), ("gpu", 4), ("nvidia.com/other", 49), ("gpu.shared", 3)):
            yield {way: {"resources": [{"name": name, "replicas": number}]}}
        for number in (2, 49):
            yield {way: {"resources": [{"name": GPU, "replicas": 2}, {"name": SLICE, "replicas": number}]}}
        yield {way: {"resources": [{"name": GPU, "replicas": 2}, {"name": GPU, "replicas": 3}]}}
        for more in (
            {},
            {"rename": "half"},
            {"rename": "gpu.shared"},
            {"devices": [0]},
            {"devices": 1},
            {"devices": "all"},
        ):
            for settings in ({}, {"renameByDefault": True}, {"failRequestsGreaterThanOne": False}):
                yield {way: {**settings, "resources": [{"name": GPU, "replicas": 4, **more}]}}


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
