"""What has to be said when nodes with GPUs are made: by the tool that makes them, and by the form that tells it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.facts.versions import is_older
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import reached, value_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FILE = "node_makers.yaml"
_PARTS = ("driver", "toolkit", "devicePlugin")


@record
class DriverSwitch:
    """How an object keeps its cloud from installing a driver. `path` leads to what decides, with a star for each item
    of a list; `within` to texts of JSON in which it begins. `off` is the value for none, `shown` how people write it.
    `image` leads to the nodes' image. `overruled`: a value at whose path the cloud passes `off` over.
    """

    cloud: str
    path: tuple[str, ...]
    within: tuple[str, ...]
    off: str
    shown: str
    image: tuple[str, ...] = ()
    overruled: tuple[tuple[str, ...], str] = ((), "")

    def said(self, body: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """What the object says, each with its pointer."""
        if not self.within:
            return reached(body, self.path)
        texts = reached(body, self.within)
        return [(at, value) for at, text in texts for _, value in reached(_parsed(text), self.path)]

    def is_off(self, body: Mapping[str, Any]) -> bool:
        path, by = self.overruled
        is_passed_over = bool(path) and value_at(body, path) == by
        return not is_passed_over and any(value == self.off for _, value in self.said(body))


def _parsed(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


@record
class NodeMaker:
    """A tool or cloud. `installs_from` is the Kubernetes version from which it installs a driver by itself, None where
    it never does; `always_off`: beside an operator that is to be off whoever installs the driver. `plugin_off`: the
    label that keeps its own device plugin off a node, or an empty text."""

    tool: str
    cloud: str
    installs_from: str | None
    always_off: bool
    option: str
    plugin_off: str
    variables: dict[str, Any]
    switches: dict[str, DriverSwitch]
    needs: dict[str, str]
    unfit: Mapping[str, str]

    def is_unfit(self, body: Mapping[str, Any], switch: DriverSwitch) -> bool:
        """Whether the image of these nodes is one on which no driver's container installs anything."""
        said = [word(value) for _, value in reached(body, switch.image)] if switch.image else []
        known = self.unfit if switch.image else {}
        return bool(known) and all(image.startswith(known["beginning"]) for image in said or [known["otherwise"]])

    def keeps_off(self, *, own_driver: bool, has_operator: bool) -> bool:
        """Whether the cloud is to install none. `own_driver`: the operator installs one, or there is to be none."""
        return self.installs_from is not None and has_operator and (own_driver or self.always_off)

    def installs(self, kubernetes: str | None) -> bool:
        """Whether it does so where nobody says anything."""
        known = self.installs_from
        return known is not None and not (known and kubernetes and is_older(kubernetes, known))


@remembered
def node_makers() -> dict[str, NodeMaker]:
    """By tool."""
    return {entry["tool"]: _read(entry) for entry in store.table(_FILE)["makers"]}


def maker_of(body: Mapping[str, Any]) -> tuple[NodeMaker, DriverSwitch] | None:
    """The cloud of an object that makes nodes; None of one that installs no driver, or of which nobody knows."""
    kind = _kind_of(body)
    for maker in node_makers().values():
        if (switch := maker.switches.get(kind)) is not None:
            return maker, switch
    return None


def form_of(form: str) -> tuple[NodeMaker, frozenset[str]]:
    """Who is told by a form, and what it has fields for. Raises KeyError."""
    known = store.table(_FILE)["forms"][form]
    return node_makers()[known["maker"]], frozenset(known["says"])


def forms() -> tuple[str, ...]:
    return tuple(store.table(_FILE)["forms"])


@record
class ImageChoice:
    """What a group of nodes says of its image; `has_driver` is whether that has NVIDIA's, and `parts` is all of the
    stack that it has. `is_for_gpus`: no other machines start from it."""

    pointer: str
    value: str
    has_driver: bool
    parts: tuple[str, ...]
    is_for_gpus: bool


def image_choices(body: Mapping[str, Any], kind_of: Mapping[str, Any]) -> Iterator[ImageChoice]:
    """Of a group of nodes, in an object of a kind. An image that is given by its id is unknown."""
    kind = _kind_of(kind_of)
    for row in store.table(_FILE)["images"]:
        if kind not in row["kinds"] or any(value_at(body, (field,)) for field in row.get("unless", ())):
            continue
        for pointer, value in reached(body, row["at"]):
            text = word(value)
            if text in row["without"] or text.endswith(tuple(row["withEnds"])):
                has_driver = text not in row["without"]
                parts = _PARTS if text.startswith(row["plugin"]) else _PARTS[:2]
                yield ImageChoice(
                    pointer=pointer,
                    value=text,
                    has_driver=has_driver,
                    parts=parts if has_driver else (),
                    is_for_gpus=row.get("gpus", False),
                )


def _kind_of(body: Mapping[str, Any]) -> str:
    return f"{word(body.get('apiVersion')).partition('/')[0]}/{word(body.get('kind'))}"


def _read(entry: dict[str, Any]) -> NodeMaker:
    driver = mapping(entry.get("driver"))
    return NodeMaker(
        tool=entry["tool"],
        cloud=entry["cloud"],
        installs_from=driver.get("from"),
        always_off=driver.get("always", False),
        option=entry.get("option", ""),
        plugin_off=entry.get("pluginOff", ""),
        variables=entry.get("variables", {}),
        switches={kind: _switch(entry["cloud"], found) for kind, found in entry.get("kinds", {}).items()},
        needs=entry["needs"],
        unfit=entry.get("unfit", {}),
    )


def _switch(cloud: str, found: dict[str, Any]) -> DriverSwitch:
    overruled = mapping(found.get("overruled"))
    return DriverSwitch(
        cloud=cloud,
        path=tuple(found["path"]),
        within=tuple(found.get("in", ())),
        off=found["off"],
        shown=found["shown"],
        image=tuple(found.get("image", ())),
        overruled=(tuple(overruled.get("path", ())), overruled.get("by", "")),
    )
