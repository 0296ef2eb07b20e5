"""Feature gates of the DRA driver that it does not know, or with which it does not start, and what they lack.

Verdicts of the driver's own code are recorded: tests/recorded, dra_gates.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.message_text import did_you_mean, shorten
from poolsmith.core.facts.versions import version_key
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.gpu.catalog.gpu_clusters import read_dra

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.gpu.catalog.gpu_clusters import FeatureGate

_SHARES = "ConsumableShares"
_VERSION = pattern(r"v?\d{1,3}\.\d{1,3}(\D|$)")
_YEARS = 25
"""The first year that versions were called by."""


@record(kw_only=False)
class GateMistake:
    """At the gate of that name, which stands among the settings; empty for the variable of shares."""

    gate: str
    message: str
    help: str


def gates_of(version: str | None) -> Mapping[str, FeatureGate]:
    """Those of a version of the driver; for what is no version all that are known, which are the newest ones."""
    known = read_dra().gates
    if version is None or _VERSION.match(version) is None:
        return known
    place = _place(version)

    def is_there(since: str | None) -> bool:
        return since is None or _place(since) <= place

    return {
        name: replace(
            gate, conflicts=tuple(item for item in gate.conflicts if is_there(gate.conflicts_since.get(item)))
        )
        for name, gate in known.items()
        if is_there(gate.since)
    }


def _is_known(version: str) -> bool:
    """Whether it is no later than what is known, of those that are counted like it."""
    is_counted, key = _place(version)
    known = [_place(gate.since) for gate in read_dra().gates.values() if gate.since is not None]
    return any(other is is_counted and key <= newest for other, newest in known)


def _place(version: str) -> tuple[bool, tuple[int, ...]]:
    """Versions of years come before those that are counted from 0.4 on."""
    key = version_key(version.removeprefix("v"))[:2]
    return key[0] < _YEARS, key


def gates_on(settings: Mapping[str, Any], known: Mapping[str, FeatureGate]) -> frozenset[str]:
    """The `known` gates that are on: those that are set, by themselves or as a group, and those that are on by
    themselves."""
    groups = {maturity: settings[name] for name, maturity in read_dra().gate_groups.items() if name in settings}
    return frozenset(
        name
        for name, gate in known.items()
        if settings.get(name, groups.get("alpha" if gate.alpha else "beta", not gate.alpha)) is True
    )


def alpha_gates(settings: Mapping[str, Any]) -> list[str]:
    """Those that somebody turns on by their names, in the order of the settings."""
    return [
        name
        for name, on in settings.items()
        if on is True and name in (gates := read_dra().gates) and gates[name].alpha
    ]


def gate_mistakes(settings: Mapping[str, Any], shares: str | None, version: str | None = None) -> Iterator[GateMistake]:
    """`shares` is the value of the variable CONSUMABLE_SHARES; None where nobody sets it. Without a `version` it is the
    newest driver; of later ones than are known nothing is said."""
    if version is not None and _VERSION.match(version) is not None and not _is_known(version):
        return
    known = gates_of(version)
    for name in settings:
        if name not in known and name not in read_dra().gate_groups:
            yield _unknown(name, known, version)
    on = gates_on(settings, known)
    yield from _pairs(settings, on, known)
    for name in sorted(on):
        needed = known[name].needs
        if needed is not None and needed not in on:
            advice = f"write `{needed}: true`, too, or `{name}: false`"
            yield GateMistake(_set_by(settings, name, needed), f"`{name}` needs `{needed}`", advice)
    yield from _of_shares(on, settings, shares)


def _unknown(name: str, known: Mapping[str, FeatureGate], version: str | None) -> GateMistake:
    later = read_dra().gates.get(name)
    if later is not None:
        message = f"the DRA driver {version} has no feature gate `{name}`, and stops: it came with {later.since}"
        return GateMistake(name, message, "remove it, or take a later version")
    advice = did_you_mean(name, [gate for gate, entry in known.items() if not entry.of_library])
    return GateMistake(name, f"the DRA driver has no feature gate `{shorten(name)}`", advice)


def _pairs(settings: Mapping[str, Any], on: frozenset[str], known: Mapping[str, FeatureGate]) -> Iterator[GateMistake]:
    told: set[frozenset[str]] = set()
    for name in [*(gate for gate in settings if gate in on), *sorted(on)]:
        for other in (*known[name].conflicts, *known[name].without):
            if other in on and frozenset((name, other)) not in told:
                told.add(frozenset((name, other)))
                message = f"`{name}` and `{other}` exclude each other"
                yield GateMistake(_set_by(settings, name, other), message, "turn one of them off")


def _of_shares(on: frozenset[str], settings: Mapping[str, Any], shares: str | None) -> Iterator[GateMistake]:
    dra = read_dra()
    variable = dra.gates[_SHARES].variable
    words = f"{', '.join(dra.shares)} or a positive number"
    is_off = shares is None or shares == dra.shares_off
    if _SHARES in on and is_off:
        message = f"`{_SHARES}` needs the variable {variable} of the DRA driver"
        advice = f"add it to draDriver.gpus.kubeletPlugin.env, with {words}"
        yield GateMistake(_set_by(settings, _SHARES), message, advice)
    elif _SHARES not in on and not is_off:
        message = f"the DRA driver stops: the variable {variable} needs the feature gate `{_SHARES}`"
        yield GateMistake("", message, f"write `{_SHARES}: true`, or remove the variable")
    elif shares is not None and not is_off and shares.strip() not in dra.shares and not _is_positive(shares):
        message = f"the DRA driver stops: {variable} can't be `{shorten(shares)}`"
        yield GateMistake("", message, f"write {words}")


def _is_positive(text: str) -> bool:
    digits = text.removeprefix("+")
    return digits.isascii() and digits.isdigit() and int(digits[:20]) > 0


def _set_by(settings: Mapping[str, Any], *names: str) -> str:
    """The setting that turns the first of these gates on or off: its own, or that of a group."""
    groups = read_dra().gate_groups
    maturity = "alpha" if read_dra().gates[names[0]].alpha else "beta"
    asked = (*names, *(name for name, of in groups.items() if of == maturity), *groups)
    return next((name for name in asked if name in settings), "")
