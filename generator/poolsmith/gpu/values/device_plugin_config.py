"""A configuration of the device plugin: whether the plugin would start with it, and what of its sharing it ignores.

The mistakes are those at which the plugin's own code stops. Field names match in any case, those of sharing do not;
unknown fields are ignored. With a sharing section in the wrong place the plugin starts, and shares in another way than
was meant, or not at all.
"""

from __future__ import annotations

import re
from functools import cache, reduce
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.message_text import did_you_mean, kind_of, nearest, shorten
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import is_older
from poolsmith.core.pattern import pattern as compiled_later
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import MISSING
from poolsmith.gpu.catalog.device_plugin import most_clients
from poolsmith.gpu.catalog.gpu_requests import GPU, MIG, SHARED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator


SHARING = ("timeSlicing", "mps")
_NAME = compiled_later(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_DURATION = compiled_later(r"[-+]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_UUID = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_DEVICE = compiled_later(rf"\d+|\d+:\d+|GPU-{_UUID}|MIG-{_UUID}|MIG-GPU-{_UUID}/\d+/\d+", re.ASCII)
_PLUGIN = compiled_later(r"v\d+\.\d+\.\d+", re.ASCII)
_LARGEST_INT = 1 << 63


@record(kw_only=False)
class ConfigMistake:
    """At `path`, dotted, of the configuration's text."""

    path: str
    message: str
    help: str


def config_mistakes(config: Any, plugin: str | None) -> tuple[ConfigMistake, ...]:
    """What makes the plugin stop when it reads `config`, the first document of a text.

    `plugin` is its version, such as v0.17.4; where it is not known, only what every version refuses is told.
    """
    found = _PLUGIN.match(plugin or "")
    return tuple(_Reading(found.group() if found else None).mistakes(config))


def start_mistakes(
    config: Any, plugin: str | None, strategy: str | None, capabilities: Collection[str] = ()
) -> tuple[ConfigMistake, ...]:
    """What makes the plugin or its MPS daemon stop after it has read `config`: words, and numbers of clients.

    `strategy` is that of MIG which a variable gives, which counts for more than the text's; empty where none does, None
    where nobody knows. `capabilities` are those of the GPUs that are shared, as far as they are known.
    """
    found = _PLUGIN.match(plugin or "")
    overridden = () if strategy == "" else (_STRATEGY,)
    words = _Reading(found.group() if found else None).words(config, overridden)
    return (*words, *_excluded(config, strategy), *_clients(config, capabilities))


_STRATEGY = "flags.migStrategy"


def _excluded(config: Any, strategy: str | None) -> Iterator[ConfigMistake]:
    excluded = configuration_facts()["mpsExcludesStrategy"]
    effective = _field(_field(config, "flags"), "migStrategy") if strategy == "" else strategy
    if effective == excluded and shares_by_mps(config):
        yield ConfigMistake(
            "sharing.mps",
            f"MPS does not go with the MIG strategy `{excluded}`",
            "share these GPUs by time slicing, or partition all GPUs of a node alike",
        )


def wrong_word(name: str, value: str, plugin: str | None) -> ConfigMistake | None:
    """What the plugin refuses of a flag, which may be called `MIG_STRATEGY`, `--mig-strategy` or `migStrategy`."""
    plain, facts = name.replace("-", "").replace("_", "").lower(), configuration_facts()
    for dotted in facts["words"]:
        if dotted.rpartition(".")[2].lower() == plain:
            given: Any = value.split(",") if facts["fields"][dotted]["type"] == "texts" else value
            for step in reversed(dotted.split(".")):
                given = {step: given}
            found = _PLUGIN.match(plugin or "")
            return next(_Reading(found.group() if found else None).words(given, ()), None)
    return None


def _clients(config: Any, capabilities: Collection[str]) -> Iterator[ConfigMistake]:
    """Of several entries the last one counts, and only full GPUs have a daemon."""
    most = min(map(most_clients, capabilities), default=most_clients(None))
    numbers = [
        (index, _whole(item.get("replicas")))
        for index, item in enumerate(replicated(config) if shares_by_mps(config) else ())
        if isinstance(item, dict) and resource_of(item.get("name")) == GPU
    ]
    for index, number in numbers[-1:]:
        if number is not None and number > most:
            yield ConfigMistake(
                f"sharing.mps.resources[{index}].replicas",
                f"{number} replicas are more than the {most} clients that an MPS server has",
                f"write at most `replicas: {most}`, or share by `timeSlicing`",
            )


def shares_by_mps(config: Any) -> bool:
    """Whether MPS is what shares the GPUs; it has precedence."""
    return isinstance(_field(_field(config, "sharing"), "mps"), dict) and bool(replicated(config))


def replicated(config: Any) -> list[Any]:
    """The entries of the one section of sharing that counts: that of MPS, where there is one."""
    resources = _section(config)[1].get("resources")
    return resources if isinstance(resources, list) else []


def _section(config: Any) -> tuple[str, dict[str, Any]]:
    sharing = _field(config, "sharing")
    for name in reversed(SHARING):
        if isinstance(found := _field(sharing, name), dict):
            return name, found
    return "", {}


def renamed(config: Any) -> dict[str, str]:
    """Under which names shared resources are offered, by their own."""
    if _section(config)[1].get("renameByDefault") is not True:
        return {}
    names = [resource_of(item.get("name")) for item in replicated(config) if isinstance(item, dict)]
    return {name: f"{name}{SHARED}" for name in names}


def resource_of(name: Any) -> str:
    """A resource with its prefix, as the plugin completes it."""
    prefix = f"{configuration_facts()['resourcePrefix']}/"
    return str(name) if str(name).startswith(prefix) else prefix + str(name)


@cache
def configuration_facts() -> dict[str, Any]:
    facts: dict[str, Any] = store.read_yaml("device_plugin.yaml")["configuration"]
    return facts


def _field(mapping: Any, name: str) -> Any:
    """As encoding/json finds the field of a structure: its own name first, then any case of it."""
    if not isinstance(mapping, dict):
        return None
    if name in mapping:
        return mapping[name]
    return next((value for key, value in mapping.items() if str(key).lower() == name.lower()), None)


def _whole(value: Any) -> int | None:
    """A number as sigs.k8s.io/yaml hands it to an int; None where it does not fit."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not (value.is_integer() and abs(value) < _LARGEST_INT):
        return None
    return int(value) if -_LARGEST_INT <= value < _LARGEST_INT else None


@record(kw_only=False)
class _Reading:
    """One configuration, for one version of the plugin."""

    plugin: str | None

    def mistakes(self, config: Any) -> Iterator[ConfigMistake]:
        if config is None:
            return
        if not isinstance(config, dict):
            yield ConfigMistake("", f"it is {kind_of(config)}, not a mapping", "write `version: v1`, and what it sets")
            return
        version, right = _field(config, "version"), configuration_facts()["version"]
        if version not in (None, "", right):
            yield ConfigMistake("version", f"the plugin does not know version `{shorten(str(version))}`", "write `v1`")
        sharing = _field(config, "sharing")
        yield from self._structure("sharing", sharing)
        for name in SHARING:
            yield from self._replicated(f"sharing.{name}", sharing, name)
        yield from self._resources(_field(config, "resources"))
        yield from self._fields(config)

    def words(self, config: Any, overridden: Collection[str]) -> Iterator[ConfigMistake]:
        """Words that the plugin refuses once it has put everything together."""
        for dotted, fact in configuration_facts()["words"].items():
            if dotted in overridden or self._is_older(fact.get("since")):
                continue
            node: Any = config
            for step in dotted.split("."):
                node = _field(node, step)
            if "lists" in fact:
                if isinstance(node, list) and node not in fact["lists"]:
                    message = f"the plugin does not take `{shorten(str(node))}`"
                    yield ConfigMistake(dotted, message, f"write `{fact['lists'][-1]}`, or remove it")
                continue
            for word in node if isinstance(node, list) else [node]:
                if isinstance(word, str) and word not in fact["words"]:
                    message = f"the plugin does not know `{shorten(word)}`"
                    yield ConfigMistake(dotted, message, did_you_mean(word, fact["words"]))

    def _structure(self, path: str, value: Any) -> Iterator[ConfigMistake]:
        if value is not None and not isinstance(value, dict):
            yield ConfigMistake(path, f"it is {kind_of(value)}, not a mapping", "write a mapping, or remove it")

    def _fields(self, config: dict[str, Any]) -> Iterator[ConfigMistake]:
        """Flags and IMEX channels, with the structures around them."""
        wrong: set[str] = set()
        for dotted, fact in configuration_facts()["fields"].items():
            if self._is_older(fact.get("since")):
                continue
            *above, last = dotted.split(".")
            node: Any = config
            for depth, step in enumerate(above):
                node, path = _field(node, step), ".".join(above[: depth + 1])
                if node is not None and not isinstance(node, dict):
                    if path not in wrong:
                        wrong.add(path)
                        yield from self._structure(path, node)
                    node = None
            value = _field(node, last)
            if value is not None and not _TYPES[fact["type"]](value):
                yield ConfigMistake(dotted, f"it is {kind_of(value)}", f"write {_WORDS[fact['type']]}")
            elif value == "infinite" and fact["type"] == "duration" and self.plugin and self._is_older(self._infinite):
                yield ConfigMistake(dotted, f"the plugin knows `infinite` from {self._infinite} on", "write 60s")

    @property
    def _infinite(self) -> str:
        since: str = configuration_facts()["infiniteSince"]
        return since

    def _is_older(self, since: str | None) -> bool:
        """Whether the plugin is older; one that nobody knows may be."""
        return since is not None and (self.plugin is None or is_older(self.plugin, since))

    def _replicated(self, path: str, sharing: Any, name: str) -> Iterator[ConfigMistake]:
        shared = _field(sharing, name)
        present = isinstance(sharing, dict) and any(str(key).lower() == name.lower() for key in sharing)
        if not present or (shared is None and name == "mps"):
            return
        if shared is not None and not isinstance(shared, dict):
            yield from self._structure(path, shared)
            return
        shared = shared or {}
        for flag in _FLAGS:
            if (value := shared.get(flag)) is not None and not isinstance(value, bool):
                yield ConfigMistake(f"{path}.{flag}", f"it is {kind_of(value)}", "write true or false")
        resources = shared.get("resources")
        if resources is not None and not isinstance(resources, list):
            yield ConfigMistake(f"{path}.resources", f"it is {kind_of(resources)}, not a list", _EXAMPLE)
        elif not resources:
            yield ConfigMistake(path, "it names no resources", f"{_EXAMPLE}, or remove `{name}`")
        else:
            for index, item in enumerate(resources):
                yield from self._resource(f"{path}.resources[{index}]", item)

    def _resource(self, path: str, item: Any) -> Iterator[ConfigMistake]:
        if item is not None and not isinstance(item, dict):
            yield from self._structure(path, item)
            return
        item = item or {}
        for key, advice in (("name", "write `name: nvidia.com/gpu`"), ("replicas", "write `replicas: 2` or more")):
            if key in item:
                continue
            misspelt = next((other for other in map(str, item) if nearest(other, (key,), certain=True)), None)
            if misspelt is None:
                yield ConfigMistake(path, f"it has no `{key}`", advice)
            else:
                lacks = f"the resource has no `{key}`"
                yield ConfigMistake(f"{path}.{misspelt}", lacks, did_you_mean(misspelt, (key,)))
        for key in ("name", "rename"):
            if (reason := self._name(item.get(key, MISSING))) is not None:
                yield ConfigMistake(f"{path}.{key}", reason, "write a name like `nvidia.com/gpu`")
        if "replicas" in item:
            replicas, least = item["replicas"], configuration_facts()["leastReplicas"]
            number = 0 if replicas is None else _whole(replicas)
            if number is None:
                yield ConfigMistake(f"{path}.replicas", f"it is {kind_of(replicas)}", "write a whole number")
            elif number < least:
                why = f"{number} replicas are refused; the least number is {least}"
                advice = f"write `replicas: {least}` or more, or remove the resource"
                yield ConfigMistake(f"{path}.replicas", why, advice)
        if (reason := _devices(item.get("devices", "all"))) is not None:
            yield ConfigMistake(f"{path}.devices", reason, "write `devices: all`, or leave it out")

    def _name(self, name: Any) -> str | None:
        if name is MISSING:
            return None
        if name is not None and not isinstance(name, str):
            return f"it is {kind_of(name)}, not a string"
        full = resource_of(name or "")
        longest = configuration_facts()["longestResource"]
        if len(full) > longest:
            return f"`{shorten(full)}` has more than {longest} characters"
        if not _NAME.fullmatch(full.partition("/")[2]):
            return f"`{shorten(full)}` is no name of a resource"
        return None

    def _resources(self, resources: Any) -> Iterator[ConfigMistake]:
        yield from self._structure("resources", resources)
        for kind in ("gpus", "mig") if isinstance(resources, dict) else ():
            items = _field(resources, kind)
            if items is not None and not isinstance(items, list):
                yield ConfigMistake(f"resources.{kind}", f"it is {kind_of(items)}, not a list", "write a list")
            for index, item in enumerate(items if isinstance(items, list) else ()):
                path = f"resources.{kind}[{index}]"
                fields = item if isinstance(item, dict) else {}
                reason = self._name(fields.get("name", MISSING))
                pattern = fields.get("pattern")
                if not {"pattern", "name"} <= set(fields) or reason is not None:
                    reason = reason or "it needs `pattern` and `name`"
                    yield ConfigMistake(path, reason, "write `{pattern: '*', name: gpu}`")
                elif pattern is not None and not isinstance(pattern, str):
                    yield ConfigMistake(f"{path}.pattern", f"it is {kind_of(pattern)}", "quote it")


_EXAMPLE = "write `resources: [{name: nvidia.com/gpu, replicas: 4}]`"


def _devices(devices: Any) -> str | None:
    if isinstance(devices, str) or devices is None:
        return None if devices == "all" else f"`{shorten(devices or 'null')}` is not `all`"
    if isinstance(devices, list):
        wrong = next((item for item in devices if not _is_device(item)), None)
        return None if wrong is None else f"{shorten(str(wrong))} is no index and no UUID of a GPU"
    number = _whole(devices)
    return None if number is not None and number > 0 else "it is no count of GPUs"


def _is_device(item: Any) -> bool:
    if isinstance(item, str):
        return _DEVICE.fullmatch(item) is not None
    number = _whole(item)
    return item is None or (number is not None and number >= 0)


def is_duration(value: Any) -> bool:
    """As time.ParseDuration and encoding/json have it: nanoseconds, or a text like `60s`."""
    if isinstance(value, str):
        return _DURATION.fullmatch(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "text": _is_text,
    "flag": lambda value: isinstance(value, bool),
    "texts": lambda value: _is_text(value) or (isinstance(value, list) and all(map(_is_text, value))),
    "numbers": lambda value: isinstance(value, list) and all(_whole(item) is not None for item in value),
    "duration": lambda value: value == "infinite" or is_duration(value),
}
_WORDS = {
    "text": "a text; quote it",
    "flag": "true or false",
    "texts": "a text, or a list of texts",
    "numbers": "a list of whole numbers",
    "duration": "a duration like 60s",
}


_FLAGS = ("renameByDefault", "failRequestsGreaterThanOne")
_OF_A_WAY = (*_FLAGS, "resources")


def passed_over(config: Any, plugin: str | None) -> Iterator[tuple[str, str]]:
    """Dotted paths of what the plugin does not read, each with what to do: it says nothing of fields that it lacks.
    What stands in the place of a key that it needs is a mistake."""
    told = {mistake.path for mistake in config_mistakes(config, plugin)}
    found = _PLUGIN.match(plugin or "")
    for path, advice in (*misplaced(config), *_without_effect(config, plugin)):
        told.add(path)
        yield path, advice
    for path, known in _unread(config, found.group() if found else None):
        if path not in told:
            yield path, did_you_mean(path.rpartition(".")[2], known)


def _unread(config: Any, plugin: str | None) -> Iterator[tuple[str, list[str]]]:
    """Fields that no structure of the plugin's has, with those of the structure; of a known version, its own."""
    facts = configuration_facts()
    newer = [
        path for path, fact in facts["fields"].items() if plugin and "since" in fact and is_older(plugin, fact["since"])
    ]
    known: dict[str, list[str]] = {"": ["version", *facts["sections"]]}
    for path in (*(path for path in facts["fields"] if path not in newer), *facts["exact"]):
        steps = path.split(".")
        for depth, step in enumerate(steps):
            names = known.setdefault(".".join(steps[:depth]), [])
            names += [] if step.removesuffix("[]") in names else [step.removesuffix("[]")]
    exact = {path.rpartition(".")[0] for path in facts["exact"]}
    pending: list[tuple[str, str, Any]] = [("", "", config)]
    while pending:
        shape, path, node = pending.pop()
        if isinstance(node, list):
            pending.extend((f"{shape}[]", f"{path}[{index}]", item) for index, item in enumerate(node))
        if not isinstance(node, dict) or shape not in known:
            continue
        for key, below in node.items():
            name = next((field for field in known[shape] if _is_field(str(key), field, shape in exact)), None)
            place = f"{path}.{key}" if path else str(key)
            if name is None:
                yield place, known[shape]
            else:
                pending.append((f"{shape}.{name}" if shape else name, place, below))


def _names_count(plugin: str | None) -> bool:
    """Whether names of one's own may count: a plugin that is newer than all that were read."""
    found = _PLUGIN.match(plugin or "")
    return found is not None and is_older(configuration_facts()["namesIgnoredUntil"], found.group())


def unnamed(config: Any, plugin: str | None) -> dict[int, str]:
    """Names that entries of sharing give to resources and the plugin passes over, by the entry's index."""
    if _names_count(plugin):
        return {}
    names, found = renamed(config), {}
    for index, item in enumerate(replicated(config)):
        if isinstance(item, dict) and item.get("rename"):
            given, name = resource_of(item["rename"]), resource_of(item.get("name"))
            if given != names.get(name, name):
                found[index] = given
    return found


def _without_effect(config: Any, plugin: str | None) -> Iterator[tuple[str, str]]:
    """What the plugin reads and puts aside, but for what says the same as it does.

    Source: NVIDIA/k8s-device-plugin@v0.20.0:api/config/v1/config.go (DisableResourceNamingInConfig), sharing.go
    """
    (way, _), sharing = _section(config), _field(config, "sharing")
    if way == "mps" and _field(_field(sharing, "timeSlicing"), "resources"):
        yield "sharing.timeSlicing", "keep one of the two: `sharing.mps` counts for more"
    yield from _ignored(config, plugin)
    if _names_count(plugin):
        return
    for index in unnamed(config, plugin):
        at = f"sharing.{way}.resources[{index}].rename"
        yield at, f"`renameByDefault: true` adds `{SHARED}`; nothing else does"
    for index, item in enumerate(replicated(config)):
        if isinstance(item, dict) and item.get("devices", "all") not in ("all", None):
            at = f"sharing.{way}.resources[{index}].devices"
            yield at, "each GPU of the node is shared; give other nodes a configuration of their own"
    for kind, prefix in (("gpus", GPU), ("mig", MIG)):
        items = _field(_field(config, "resources"), kind)
        for index, item in enumerate(items if isinstance(items, list) else ()):
            name = resource_of(item.get("name")) if isinstance(item, dict) else prefix
            if not name.startswith(prefix):
                yield f"resources.{kind}[{index}].name", "remove it: resources have no names of your own"


def _ignored(config: Any, plugin: str | None) -> Iterator[tuple[str, str]]:
    found = _PLUGIN.match(plugin or "")
    for path, row in configuration_facts()["ignored"].items():
        is_said = reduce(_field, path.split("."), config) is row["is"]
        if is_said and found is not None and is_older(found.group(), row["before"]):
            yield path, row["do"]


def _is_field(key: str, field: str, is_exact: bool) -> bool:
    return key == field or (not is_exact and key.lower() == field.lower())


def misplaced(config: Any) -> Iterator[tuple[str, str]]:
    """Settings of sharing that stand elsewhere, each with the place for it."""
    if not isinstance(config, dict):
        return
    sharing, flags = config.get("sharing"), config.get("flags")
    for where, body in (("", config), ("flags.", flags if isinstance(flags, dict) else {})):
        for key in _FLAGS:
            if key in body:
                yield f"{where}{key}", f"move it below `sharing.timeSlicing` or `sharing.mps`: `{key}` is theirs"
        for key in SHARING:
            if key in body:
                yield f"{where}{key}", f"move it below `sharing`: `sharing: {{{key}: ...}}`"
    if not isinstance(sharing, dict):
        return
    for key in _OF_A_WAY:
        if key in sharing:
            yield f"sharing.{key}", f"move it below `sharing.timeSlicing` or `sharing.mps`: `{key}` is theirs"
    for way in SHARING:
        resources = sharing[way].get("resources") if isinstance(sharing.get(way), dict) else None
        for index, item in enumerate(resources if isinstance(resources, list) else ()):
            for key in _FLAGS if isinstance(item, dict) else ():
                if key in item:
                    at = f"sharing.{way}.resources[{index}].{key}"
                    yield at, f"move it to `sharing.{way}.{key}`, for all of them"
