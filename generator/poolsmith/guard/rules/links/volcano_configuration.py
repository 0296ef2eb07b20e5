"""The configuration of Volcano's scheduler, as far as it is about devices: by the table in data/scheduling.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import is_older
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import join, reached
from poolsmith.guard.rules.links.plugin_offers import parsed_configuration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView

_IMAGE = pattern(r"(?:^|/)vc-scheduler:v?(\d{1,3}\.\d{1,3}\.\d{1,3})\b")
_OVERRIDE = "custom.scheduler_config_override"
_TRUE = (True, "true", "True", "TRUE", "t", "1")


@record
class _Text:
    """`plugins` by name, each with the pointer to it; `place` takes one."""

    plugins: Mapping[str, tuple[str, Mapping[str, Any]]]
    place: Callable[[str], Location]

    def on(self, switch: str) -> bool:
        _, plugin = self.plugins.get(_facts()["plugin"], ("", {}))
        return mapping(plugin.get("arguments")).get(switch) in _TRUE


def _facts() -> Mapping[str, Any]:
    found: Mapping[str, Any] = store.table("scheduling.yaml")["volcano"]
    return found


def configuration_mistakes(view: LinkView) -> Iterator[Finding[Location]]:
    version = _version(view)
    for text in _texts(view):
        if version is None or not is_older(version, _facts()["since"]):
            told = [*_moved(text), *_refused(text), *_alone(text)]
            yield from told or _off(view, text)


def _texts(view: LinkView) -> Iterator[_Text]:
    for item in view.of_kind("ConfigMap"):
        for key, text in mapping(item.data.get("data")).items():
            if str(key) == _facts()["file"] and item.source is not None:
                inner = InnerText(item.source, join("/data", key), word(text), None)
                yield from _read(word(text), inner.locate)
    for chart in view.named("volcano"):
        text = chart.value(_OVERRIDE)
        yield from _read(word(text), lambda _, chart=chart: chart.place(_OVERRIDE))  # type: ignore[misc]


def _read(text: str, place: Callable[[str], Location]) -> Iterator[_Text]:
    found = reached(parsed_configuration(text), ("tiers", "*", "plugins", "*"))
    plugins = {word(mapping(item).get("name")): (at, mapping(item)) for at, item in found}
    if plugins:
        yield _Text(plugins=plugins, place=place)


def _version(view: LinkView) -> str | None:
    """Of the scheduler, by its image, or by its chart."""
    images = (image for pod in view.pods for image in pod.images)
    found = next((match[1] for image in images if (match := _IMAGE.search(image))), None)
    chart = next(view.named("volcano"), None)
    return found or (chart.version if chart is not None else None)


def _moved(text: _Text) -> Iterator[Finding[Location]]:
    """Switches at the plugin that read them before."""
    for name, (at, plugin) in text.plugins.items():
        for key, said in mapping(plugin.get("arguments")).items():
            if said in _TRUE and (new := _facts()["moved"].get(key)) is not None and not text.on(new):
                yield Finding(
                    message=f"Volcano reads `{key}` no more from {_facts()['since']} on: nothing gives out parts of "
                    "GPUs",
                    place=text.place(join(at, "arguments", key)),
                    help=f"add a plugin `{_facts()['plugin']}` with the argument `{new}: true`, and keep `{name}`",
                    severity=Severity.WARNING,
                )


def _refused(text: _Text) -> Iterator[Finding[Location]]:
    for switches in _facts()["excludes"]:
        both = [switch for switch in switches if text.on(switch)]
        if len(both) > 1:
            at, _ = text.plugins[_facts()["plugin"]]
            yield Finding(
                message=f"Volcano's scheduler ends at once: `{both[0]}` and `{both[1]}` exclude each other",
                place=text.place(join(at, "arguments", both[1])),
                help="keep one of them",
            )


def _alone(text: _Text) -> Iterator[Finding[Location]]:
    plugin, allocates = _facts()["plugin"], _facts()["allocates"]
    if any(map(text.on, _facts()["switches"].values())) and allocates not in text.plugins:
        yield Finding(
            message=f"`{plugin}` chooses the device, and `{allocates}`, which gives it to the pod, is not among the "
            "plugins",
            place=text.place(join(text.plugins[plugin][0], "name")),
            help=f"add `- name: {allocates}`",
            severity=Severity.WARNING,
        )


def _off(view: LinkView, text: _Text) -> Iterator[Finding[Location]]:
    """Pods that ask for what no switch is on for."""
    asked = {name for pod in view.pods for name in pod.asked}
    for begins, switch in _facts()["switches"].items():
        if not text.on(switch) and (name := min((name for name in asked if name.startswith(begins)), default="")):
            yield Finding(
                message=f"pods of Volcano ask for `{name}`, and its scheduler is not told to give it out",
                place=text.place(""),
                help=f"add a plugin `{_facts()['plugin']}` with the argument `{switch}: true`",
                severity=Severity.WARNING,
            )
