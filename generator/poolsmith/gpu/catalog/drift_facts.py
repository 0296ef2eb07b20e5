"""What delivery engines report for ever, by what the API server does to a field; and what completes lists."""

from __future__ import annotations

from functools import cache
from typing import Any

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.record import record
from poolsmith.kubernetes.server.server_fields import Effect


@record
class EffectFacts:
    """`reported` and `refused` are diffs, each as `engine/diff`."""

    effect: Effect
    means: str
    reported: frozenset[str]
    refused: frozenset[str]


@record
class ListDefault:
    """A field that the server adds to each item of a list of the chart's values, and the value that it adds."""

    path: tuple[str, ...]
    field: str
    value: Any
    releases: frozenset[str]
    source: str

    @property
    def dotted(self) -> str:
        return ".".join(self.path)


@record
class NullDefault:
    """A value that the chart renders as null where it is null, and what the server stores at `field` of the spec."""

    path: tuple[str, ...]
    field: tuple[str, ...]
    value: Any
    releases: frozenset[str]
    source: str

    @property
    def dotted(self) -> str:
        return ".".join(self.path)


@record
class OtherWriter:
    """A field that somebody else writes, in an object of a release's chart, if `when` holds."""

    kind: str
    name: str
    field: str
    when: str
    means: str
    reported: frozenset[str]
    advice: str
    releases: frozenset[str]
    source: str


_NAME = "drift/effects.yaml"
_DEFAULTS = "server_defaults.yaml"


@cache
def effects() -> dict[Effect, EffectFacts]:
    """Of all effects but what others write."""
    return {
        Effect(item["effect"]): EffectFacts(
            effect=Effect(item["effect"]),
            means=item["means"],
            reported=frozenset(item["reported"]),
            refused=frozenset(item["refused"]),
        )
        for item in store.read_yaml(_NAME)["effects"]
    }


@remembered
def list_defaults(release: str) -> tuple[ListDefault, ...]:
    """Those of one release of the operator's chart."""
    return tuple(
        ListDefault(
            path=tuple(item["path"].split(".")),
            field=item["field"],
            value=item["value"],
            releases=frozenset(item["releases"]),
            source=item["source"],
        )
        for item in store.read_yaml(_DEFAULTS)["lists"]
        if release in item["releases"]
    )


@remembered
def null_defaults(release: str) -> tuple[NullDefault, ...]:
    """Those of one release of the operator's chart."""
    return tuple(
        NullDefault(
            path=tuple(item["path"].split(".")),
            field=tuple(item["field"].split(".")),
            value=item["value"],
            releases=frozenset(item["releases"]),
            source=item["source"],
        )
        for item in store.read_yaml(_DEFAULTS)["nulls"]
        if release in item["releases"]
    )


@cache
def other_writers(release: str) -> tuple[OtherWriter, ...]:
    """Those that touch what one release of the operator's chart brings."""
    return tuple(
        OtherWriter(
            kind=item["kind"],
            name=item["name"],
            field=item["field"],
            when=item["when"],
            means=item["means"],
            reported=frozenset(item["reported"]),
            advice=item["advice"],
            releases=frozenset(item["releases"]),
            source=item["source"],
        )
        for item in store.read_yaml(_NAME)["others"]
        if release in item["releases"]
    )
