"""Containers of the device plugin in workloads of one's own, and what each is told."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mappings, started_with, word, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.guard.rules.links.link_view import LinkedPod, LinkView

_IMAGE = "nvidia/k8s-device-plugin"


@record(kw_only=False)
class PluginContainer:
    """A container of the plugin's image at a pointer; `said` has its variables and flags by name."""

    pod: LinkedPod
    at: str
    container: Mapping[str, Any]
    said: Mapping[str, str]

    def says(self, variable: str, flag: str) -> str:
        return self.said.get(variable, self.said.get(flag, ""))

    def place_of(self, variable: str, flag: str) -> str:
        """Below the container, where a variable or a flag stands."""
        for field in ("command", "args"):
            for number, item in enumerate(words(self.container.get(field))):
                if item.partition("=")[0] == flag:
                    return f"/{field}/{number}"
        listed = enumerate(mappings(self.container.get("env")))
        return f"/env/{next((number for number, item in listed if item.get('name') == variable), 0)}"


def is_plugin(pod: LinkedPod) -> bool:
    return any(_IMAGE in image for image in pod.images)


def plugin_containers(view: LinkView) -> Iterator[PluginContainer]:
    alike: dict[bytes, Mapping[str, str]] = {}
    for pod in filter(is_plugin, view.pods):
        for image, (at, container) in zip(pod.images, pod.containers, strict=True):
            if _IMAGE in image:
                key = started_with(container)
                if key not in alike:
                    alike[key] = _said(container)
                yield PluginContainer(pod, at, container, alike[key])


def _said(container: Mapping[str, Any]) -> Mapping[str, str]:
    """What is said first of each variable and flag, whose value may be the next word; `-` is a flag without one."""
    said = [(word(item.get("name")), word(item.get("value"))) for item in mappings(container.get("env"))]
    given = (*words(container.get("command")), *words(container.get("args")), "-")
    for item, after in pairwise(given):
        flag, _, value = item.partition("=")
        said.append((flag, value or ("-" if after.startswith("-") else after)))
    return dict(reversed(said))
