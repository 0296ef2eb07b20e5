"""What is known of the container toolkit beside the chart's keys: variables, and old images."""

from __future__ import annotations

from functools import cache
from typing import Any

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import covers, version_key
from poolsmith.core.record import record
from poolsmith.gpu.catalog.operand_inputs import operand_inputs


@record
class Unfit:
    """Why a toolkit image does not fit a release; `instead` is the oldest one that does."""

    why: str
    instead: str
    severity: str


@record
class ToolkitVariable:
    """`since` is the first operator that hands it on, where not each one does.

    `overwritten` is set where the operator sets it whatever the values say: what to write instead, or nothing.
    `by_operator`: the operator reads it, so that no version of the toolkit has to.
    """

    since: str | None = None
    overwritten: str | None = None
    by_operator: bool = False


@cache
def _facts() -> dict[str, Any]:
    return store.read_yaml("values/toolkit.yaml")


@cache
def known_variables() -> dict[str, ToolkitVariable]:
    """What some operator or toolkit reads of toolkit.env, by name."""
    facts = _facts()["variables"]
    return {name: _variable(facts.get(name, {})) for name in sorted({*operand_inputs("toolkit").names, *facts})}


def _variable(entry: dict[str, Any]) -> ToolkitVariable:
    by_operator = entry.get("onlyOperator", False)
    return ToolkitVariable(since=entry.get("since"), overwritten=entry.get("overwritten"), by_operator=by_operator)


def breaks_without_source(distribution: str) -> str | None:
    """Why a distribution needs its configuration to be read from a file; None where nobody says that it must be."""
    reason: str | None = _facts()["breaksWithoutSource"].get(distribution)
    return reason


def unfit_toolkit(version: str, release: str, *, nri: bool) -> Unfit | None:
    """The worst that is known of a toolkit image in a release; None for one that fits, or is no number."""
    number = numbers(version)
    if number is None:
        return None
    found = [
        Unfit(why=entry["why"], instead=f"v{entry['below']}", severity=entry["severity"])
        for entry in _facts()["tooOld"]
        if number < version_key(entry["below"]) and covers(entry, release) and (nri or not entry.get("nri"))
    ]
    broken = broken_toolkit(version)
    if broken is not None:
        found.append(broken)
    if not found:
        return None
    worst = min(found, key=lambda item: item.severity != "error")
    newest = max((item.instead for item in found), key=version_key)
    return Unfit(why=worst.why, instead=newest, severity=worst.severity)


def broken_toolkit(version: str) -> Unfit | None:
    """What is known of a toolkit image by itself, whatever the release."""
    number = numbers(version)
    found = (
        Unfit(why=entry["why"], instead=entry["instead"], severity=entry["severity"])
        for entry in _facts()["broken"]
        if number == version_key(entry["version"])
    )
    return next(found, None)


def numbers(version: str) -> tuple[int, ...] | None:
    """The three numbers of a tag such as `v1.17.8-ubuntu20.04`; None for a digest or another name."""
    head = version.removeprefix("v").split("-")[0].split("+")[0]
    parts = head.split(".")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() and len(part) < 6 for part in parts):  # noqa: PLR2004
        return None
    return tuple(map(int, parts))
