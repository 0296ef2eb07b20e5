"""What a release's chart writes into its custom resources, and the definitions of these resources.

An entry is made by `projection_entry`; `docs/projection.md` says how much of it was checked against recordings.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.facts.versions import covers
from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.kubernetes.server.storing import CustomResource

ValuePath = tuple[str, ...]
Condition = tuple[tuple[ValuePath, bool], ...]
"""Alternatives: one of them has to hold. Each is a value path and whether it must be true or false."""


@record
class FieldRule:
    """How one field of a custom resource comes about.

    `form` is plain (written without quotes), quoted, data (as YAML), constant, or operandLabels.
    """

    path: tuple[str, ...]
    form: str
    source: ValuePath = ()
    conditions: tuple[Condition, ...] = ()
    default: Any = None
    otherwise: Any = None
    has_otherwise: bool = False
    constant: Any = None


@record
class ObjectRule:
    """One custom resource of the chart."""

    kind: str
    api_version: str
    name: str
    labelled: bool
    conditions: tuple[Condition, ...]
    annotations: tuple[tuple[str, str, tuple[Condition, ...]], ...]
    blocks: dict[tuple[str, ...], tuple[Condition, ...]]
    fields: tuple[FieldRule, ...]


@record
class Refusal:
    """A combination of values that the chart itself refuses.

    `recorded` says whether `message` was recorded from the chart, word for word. `without_api` restricts it to
    clusters that do not serve that API.
    """

    message: str
    conditions: tuple[Condition, ...]
    recorded: bool
    without_api: frozenset[str]
    """APIs of which the cluster has to serve one; empty where it does not matter."""


@record
class Projection:
    """From the values of one release's chart to its custom resources."""

    release: str
    source: str
    chart: str
    refusals: tuple[Refusal, ...]
    objects: tuple[ObjectRule, ...]
    templated: tuple[ValuePath, ...]
    """Values that are templates themselves: lists of further objects."""


def projected_releases() -> tuple[str, ...]:
    """The releases that have an entry, by name."""
    return store.names("projection")


@remembered
def read_projection(release: str) -> Projection | None:
    """The entry of a release, or None when the catalog has none."""
    if release not in projected_releases():
        return None
    entry = store.read_json(f"projection/{release}.json")
    return Projection(
        release=release,
        source=entry["source"],
        chart=entry["chart"],
        refusals=tuple(_refusal(item) for item in entry["refusals"]),
        objects=tuple(_object(item) for item in entry["objects"]),
        templated=tuple(_path(path) for path in entry["templated"]),
    )


def chart_refusals(release: str) -> tuple[Refusal, ...]:
    """What the chart of any recorded tag refuses, also of one without an entry."""
    return tuple(_refusal(item) for item in _refusals() if covers(item, release))


@cache
def _refusals() -> tuple[dict[str, Any], ...]:
    return tuple(store.read_yaml("projection/overlay.yaml")["refusals"])


def _refusal(item: dict[str, Any]) -> Refusal:
    return Refusal(
        message=item["message"],
        conditions=_conditions(item["if"]),
        recorded=item["recorded"],
        without_api=frozenset(item.get("withoutApi", ())),
    )


def _object(item: dict[str, Any]) -> ObjectRule:
    return ObjectRule(
        kind=item["kind"],
        api_version=item["apiVersion"],
        name=item["name"],
        labelled=item["labels"],
        conditions=_conditions(item["if"]),
        annotations=tuple((key, rule["value"], _conditions(rule["if"])) for key, rule in item["annotations"].items()),
        blocks={_path(path): _conditions(terms) for path, terms in item["blocks"].items()},
        fields=tuple(_field(path, rule) for path, rule in item["fields"].items()),
    )


def _field(path: str, rule: str | dict[str, Any]) -> FieldRule:
    """A rule is a form alone, or a map. `plain?` is plain, and only where the value is true."""
    body: dict[str, Any] = {"as": rule} if isinstance(rule, str) else rule
    form = body["as"].removesuffix("?")
    source = _path(body.get("from", path))
    own: tuple[Condition, ...] = (((source, True),),) if body["as"].endswith("?") else ()
    return FieldRule(
        path=_path(path),
        form=form,
        source=source,
        conditions=_conditions(body.get("if", ())) + own,
        default=body.get("default"),
        otherwise=body.get("else"),
        has_otherwise="else" in body,
        constant=body.get("value"),
    )


def _conditions(terms: list[str] | tuple[str, ...]) -> tuple[Condition, ...]:
    return tuple(
        tuple((_path(word.removeprefix("!")), not word.startswith("!")) for word in term.split("|")) for term in terms
    )


def _path(dotted: str) -> tuple[str, ...]:
    return tuple(dotted.split("."))


@remembered
def read_crds(release: str) -> dict[str, CustomResource]:
    """The kinds of a release; empty when the catalog has no schemas of it."""
    if release not in store.names("crds"):
        return {}
    from poolsmith.kubernetes.server.storing import custom_resource  # on demand

    kinds = store.read_json(f"crds/{release}.json")["kinds"]
    return {
        kind: custom_resource(
            kind=kind,
            api_version=entry["apiVersion"],
            plural=entry["plural"],
            scope=entry["scope"],
            schema=entry["schema"],
        )
        for kind, entry in kinds.items()
    }
