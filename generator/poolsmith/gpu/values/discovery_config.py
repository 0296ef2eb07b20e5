"""Configurations of Node Feature Discovery's worker and master: fields that nobody reads, sources that nobody has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.message_text import kind_of, nearest, shorten
from poolsmith.core.record import record
from poolsmith.gpu.catalog.operand_inputs import operand_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

WORKER, MASTER = "worker", "master"
_SOURCES = ("cpu", "custom", "fake", "kernel", "local", "memory", "network", "pci", "storage", "system", "usb")
"""kubernetes-sigs/node-feature-discovery@v0.13.0 to v0.19.0: source/"""
_PCI_FIELDS = ("class", "vendor", "device", "subsystem_vendor", "subsystem_device")
"""source/pci/pci.go: mandatoryDevAttrs and optionalDevAttrs."""
_CONFIGURED = ("custom",)
"""Sources whose configuration has another form than fields."""
_MOST = 100
"""No configuration has more fields at its top."""
_LISTS_OF_SOURCES = ("featureSources", "labelSources", "sources")


@record(kw_only=False)
class DiscoveryMistake:
    """`steps` lead to its place in the configuration."""

    steps: tuple[str | int, ...]
    message: str
    help: str
    stops: bool = False


def looks_like(component: str, config: Any) -> bool:
    """Whether a mapping is such a configuration: each key is one of it, or close to one, and one is exact."""
    if not isinstance(config, dict) or not config or not all(isinstance(key, str) for key in config):
        return False
    if component == WORKER:
        return config.keys() <= {"core", "sources"} and any(_has_known(key, config[key]) for key in config)
    known = _below(f"{MASTER}.")
    return len(config) <= _MOST and any(key.lower() in known for key in config)


def _has_known(section: str, body: Any) -> bool:
    known = _below(f"{WORKER}.{section}.") if section == "core" else dict.fromkeys(_SOURCES, "")
    return isinstance(body, dict) and any(str(key).lower() in known for key in body)


def discovery_mistakes(component: str, config: Any, tag: str | None) -> Iterator[DiscoveryMistake]:
    """`tag` is the version that reads it; None where nobody says it."""
    if not isinstance(config, dict):
        return
    if component == MASTER:
        yield from _fields(config, MASTER, (), tag)
        return
    for key in config:
        if str(key).lower() not in ("core", "sources"):
            match = nearest(str(key), ("core", "sources"))
            yield _unread((key,), f"did you mean `{match}`?" if match else "remove it")
    core, sources = config.get("core"), config.get("sources")
    if isinstance(core, dict):
        yield from _fields(core, f"{WORKER}.core", ("core",), tag)
        yield from _lists(core)
    for name, body in sources.items() if isinstance(sources, dict) else ():
        if name not in _SOURCES:
            match = nearest(str(name), _SOURCES)
            yield _unread(
                ("sources", name), f"did you mean `{match}`?" if match else "remove it: there is no such source"
            )
        elif isinstance(body, dict) and name not in _CONFIGURED:
            yield from _fields(body, f"{WORKER}.sources.{name}", ("sources", name), tag)
    yield from _label_fields(sources)


def _fields(
    body: dict[str, Any], above: str, steps: tuple[str | int, ...], tag: str | None
) -> Iterator[DiscoveryMistake]:
    inputs, known = operand_inputs("discovery"), _below(f"{above}.")
    for key, value in body.items():
        name = known.get(str(key).lower())
        place = (*steps, key)
        if name is None:
            match = nearest(str(key), list(known.values()))
            yield _unread(place, f"did you mean `{match}`?" if match else "remove it")
        elif tag is not None and not inputs.is_read(f"{above}.{name}", tag):
            told = inputs.told(f"{above}.{name}", tag)
            yield DiscoveryMistake(place, f"Node Feature Discovery {tag} does not read `{name}`: {told}", "remove it")
        elif isinstance(value, dict) and _below(f"{above}.{name}."):
            yield from _fields(value, f"{above}.{name}", place, tag)


def _lists(core: dict[str, Any]) -> Iterator[DiscoveryMistake]:
    for key in _LISTS_OF_SOURCES:
        value = core.get(key)
        if value is not None and not isinstance(value, list):
            message = f"`{key}` is {kind_of(value)}; the worker stops at what is no list"
            yield DiscoveryMistake(("core", key), message, f"write `{key}: [{shorten(str(value))}]`", True)
        for index, item in enumerate(value if isinstance(value, list) else ()):
            if isinstance(item, str) and item.removeprefix("-") not in (*_SOURCES, "all"):
                match = nearest(item.removeprefix("-"), _SOURCES)
                help_text = f"did you mean `{match}`?" if match else "remove it"
                yield DiscoveryMistake(("core", key, index), f"there is no source `{shorten(item)}`", help_text)


def _label_fields(sources: Any) -> Iterator[DiscoveryMistake]:
    pci = sources.get("pci") if isinstance(sources, dict) else None
    fields = pci.get("deviceLabelFields") if isinstance(pci, dict) else None
    for index, item in enumerate(fields if isinstance(fields, list) else ()):
        if isinstance(item, str) and item not in _PCI_FIELDS:
            match = nearest(item, _PCI_FIELDS)
            place = ("sources", "pci", "deviceLabelFields", index)
            yield DiscoveryMistake(
                place,
                f"a PCI device has no `{shorten(item)}`: the worker leaves it out of the label",
                f"did you mean `{match}`?" if match else "remove it",
            )


def _unread(steps: tuple[str | int, ...], help_text: str) -> DiscoveryMistake:
    return DiscoveryMistake(steps, f"Node Feature Discovery does not read `{shorten(str(steps[-1]))}` here", help_text)


def _below(above: str) -> dict[str, str]:
    """The fields right below a structure, by their names in lower case: encoding/json matches any case."""
    names = (name.removeprefix(above) for name in operand_inputs("discovery").names if name.startswith(above))
    return {name.lower(): name for name in names if "." not in name}
