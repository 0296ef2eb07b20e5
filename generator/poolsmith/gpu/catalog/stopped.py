"""How objects and nodes say that nobody works on them any more, or that something is wrong with them."""

from __future__ import annotations

from functools import cache

from poolsmith.core.facts import store
from poolsmith.core.record import record


@record
class StateField:
    """A field of the status of a kind, and the values that it has where all is well."""

    api_version: str
    kind: str
    field: tuple[str, ...]
    well: tuple[str, ...]


@record
class Stopped:
    """`annotations` are keys with the values that stop an engine, and what that means. `conditions` are types by group
    of the API, with the status that says that something is wrong. `failures` and `refusals` are labels of nodes with
    their value, and what that means."""

    annotations: dict[str, tuple[tuple[str, ...], str]]
    states: tuple[StateField, ...]
    conditions: dict[str, tuple[str, str]]
    failures: tuple[tuple[str, str, str], ...]
    refusals: tuple[tuple[str, str, str], ...]


@cache
def read_stopped() -> Stopped:
    data = store.read_yaml("verify/stopped.yaml")
    return Stopped(
        annotations={item["key"]: (tuple(item["values"]), item["means"]) for item in data["annotations"]},
        states=tuple(
            StateField(
                api_version=item["apiVersion"],
                kind=item["kind"],
                field=tuple(item["field"]),
                well=tuple(item["well"]),
            )
            for item in data["states"]
        ),
        conditions={item["group"]: (item["type"], item["wrong"]) for item in data["conditions"]},
        failures=tuple((item["key"], item["value"], item["of"]) for item in data["failures"]),
        refusals=tuple((item["key"], item["value"], item["means"]) for item in data["refusals"]),
    )
