"""Configurations of Node Feature Discovery's worker and master: fields that nobody reads, sources that nobody has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.message_text import kind_of, nearest, shorten
from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.gpu.catalog.operand_inputs import operand_inputs
from poolsmith.gpu.values.device_plugin_config import is_duration
from poolsmith.gpu.values.text_mistake import TextMistake

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


def discovery_mistakes(component: str, config: Any, tag: str | None) -> Iterator[TextMistake]:
    """`tag` is the version that reads it; None where nobody says it."""
    if not isinstance(config, dict):
        if config is not None:
            message = f"it is {kind_of(config)}; the {component} stops at what is no mapping"
            yield TextMistake((), message, "write the fields below their sections", Severity.ERROR)
        return
    if component == MASTER:
        yield from _fields(config, MASTER, (), tag)
        return
    for key, value in config.items():
        section = str(key).lower()
        if section not in ("core", "sources"):
            match = nearest(str(key), ("core", "sources"))
            yield _unread((key,), f"did you mean `{match}`?" if match else "remove it")
        else:
            yield from _of_kind(f"{WORKER}.{section}", value, (key,))
    core, sources = _section(config, "core"), _section(config, "sources")
    yield from _fields(core, f"{WORKER}.core", ("core",), tag)
    yield from _lists(core)
    for name, body in sources.items():
        if name not in _SOURCES:
            match = nearest(str(name), _SOURCES)
            yield _unread(
                ("sources", name), f"did you mean `{match}`?" if match else "remove it: there is no such source"
            )
        elif name not in _CONFIGURED:
            yield from _of_kind(f"{WORKER}.sources.{name}", body, ("sources", name))
            if isinstance(body, dict):
                yield from _fields(body, f"{WORKER}.sources.{name}", ("sources", name), tag)
        elif name in _CONFIGURED:
            from poolsmith.gpu.values.feature_rules import rule_mistakes  # on demand

            for item in (*_of_rules(body, tag), *rule_mistakes(body, tag, None)):
                yield replace(item, steps=("sources", name, *item.steps))
    yield from _label_fields(sources)


def _fields(body: dict[str, Any], above: str, steps: tuple[str | int, ...], tag: str | None) -> Iterator[TextMistake]:
    inputs, known = operand_inputs("discovery"), _below(f"{above}.")
    for key, value in body.items():
        name = known.get(str(key).lower())
        place = (*steps, key)
        if name is None:
            match = nearest(str(key), list(known.values()))
            yield _unread(place, f"did you mean `{match}`?" if match else "remove it")
        elif tag is not None and not inputs.is_read(f"{above}.{name}", tag):
            told = inputs.told(f"{above}.{name}", tag)
            yield TextMistake(place, f"Node Feature Discovery {tag} does not read `{name}`: {told}", "remove it")
        else:
            yield from _of_kind(f"{above}.{name}", value, place)
            if isinstance(value, dict) and _below(f"{above}.{name}."):
                yield from _fields(value, f"{above}.{name}", place, tag)


def _of_rules(rules: Any, tag: str | None) -> Iterator[TextMistake]:
    """Fields of the source's own rules; those of a NodeFeatureRule are its definition's."""
    inputs, known = operand_inputs("discovery"), _below("rule.")
    for index, rule in enumerate(rules if isinstance(rules, list) else ()):
        for key in rule if isinstance(rule, dict) else ():
            name = known.get(str(key).lower())
            if name is None:
                match = nearest(str(key), list(known.values()))
                yield _unread((index, key), f"did you mean `{match}`?" if match else "remove it")
            elif tag is not None and not inputs.is_read(f"rule.{name}", tag):
                told = inputs.told(f"rule.{name}", tag)
                message = f"Node Feature Discovery {tag} does not read `{name}` of a rule: {told}"
                yield TextMistake((index, key), message, _INSTEAD.get(name, "remove it"))


_INSTEAD = {"matchOn": "write the same with `matchFeatures`, and the label under `labels`"}


def _section(config: dict[Any, Any], name: str) -> dict[Any, Any]:
    """Its fields, whatever case its name has."""
    found = next((value for key, value in config.items() if str(key).lower() == name), None)
    return found if isinstance(found, dict) else {}


def _of_kind(name: str, value: Any, steps: tuple[str | int, ...]) -> Iterator[TextMistake]:
    """Whether a field takes the value; what nobody knows of a field is unknown."""
    kind = field_kinds().get(name)
    if kind is None or _KINDS[kind][0](value):
        return
    field, wanted = name.rpartition(".")[2], _KINDS[kind][1]
    component = name.partition(".")[0]
    message = f"`{field}` is {_shown(value)}; the {component} stops at what is no {wanted}"
    example = f"[{shorten(str(value))}]" if kind == "texts" and _is_scalar(value) else _EXAMPLES.get(kind)
    yield TextMistake(steps, message, f"write `{field}: {example}`" if example else f"write a {wanted}", Severity.ERROR)


def _shown(value: Any) -> str:
    return f"`{shorten(value)}`" if isinstance(value, str) and value else kind_of(value)


@remembered
def field_kinds() -> dict[str, str]:
    kinds = store.read_yaml("discovery_fields.yaml")["kinds"]
    return {name: kind for kind, names in kinds.items() for name in names}


def _is_scalar(value: Any) -> bool:
    return value is not None and not isinstance(value, dict | list)


def _are_scalars(value: Any) -> bool:
    items = value.values() if isinstance(value, dict) else value
    return all(item is None or _is_scalar(item) for item in items)


_EXAMPLES = {"duration": "60s", "flag": "true"}
_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "duration": (is_duration, "duration"),
    "flag": (lambda value: isinstance(value, bool | None), "flag"),
    "number": (lambda value: isinstance(value, int | None) and not isinstance(value, bool), "whole number"),
    "word": (lambda value: isinstance(value, str | None), "text"),
    "text": (lambda value: value is None or _is_scalar(value), "text"),
    "texts": (lambda value: value is None or (isinstance(value, list) and _are_scalars(value)), "list"),
    "words": (lambda value: value is None or (isinstance(value, dict) and _are_scalars(value)), "mapping to texts"),
    "mapping": (lambda value: isinstance(value, dict | None), "mapping"),
}


def _lists(core: dict[str, Any]) -> Iterator[TextMistake]:
    for key in _LISTS_OF_SOURCES:
        value = core.get(key)
        for index, item in enumerate(value if isinstance(value, list) else ()):
            if isinstance(item, str) and item.removeprefix("-") not in (*_SOURCES, "all"):
                match = nearest(item.removeprefix("-"), _SOURCES)
                help_text = f"did you mean `{match}`?" if match else "remove it"
                yield TextMistake(("core", key, index), f"there is no source `{shorten(item)}`", help_text)


def _label_fields(sources: Any) -> Iterator[TextMistake]:
    pci = sources.get("pci") if isinstance(sources, dict) else None
    fields = pci.get("deviceLabelFields") if isinstance(pci, dict) else None
    for index, item in enumerate(fields if isinstance(fields, list) else ()):
        if isinstance(item, str) and item not in _PCI_FIELDS:
            match = nearest(item, _PCI_FIELDS)
            place = ("sources", "pci", "deviceLabelFields", index)
            yield TextMistake(
                place,
                f"a PCI device has no `{shorten(item)}`: the worker leaves it out of the label",
                f"did you mean `{match}`?" if match else "remove it",
            )


def _unread(steps: tuple[str | int, ...], help_text: str) -> TextMistake:
    return TextMistake(steps, f"Node Feature Discovery does not read `{shorten(str(steps[-1]))}` here", help_text)


def _below(above: str) -> dict[str, str]:
    """The fields right below a structure, by their names in lower case: encoding/json matches any case."""
    names = (name.removeprefix(above) for name in operand_inputs("discovery").names if name.startswith(above))
    return {name.lower(): name for name in names if "." not in name}
