"""What is said of a need that has no supplier, or a wrong one."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.message_text import did_you_mean, joined, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import join
from poolsmith.guard.rules.names.need import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.names.need import NamedObject, Need, Offer, Verdict

_FEW = 5


def lacking(verdict: Verdict) -> Finding[Location]:
    """At the object for a key that its reader wants whatever a field says, else at the field that says the key."""
    need, offer, item = verdict.need, *_there(verdict)
    key, held = verdict.missing[0], sorted(cast("frozenset[str]", offer.keys))
    is_fixed = need.keys[key] == need.pointer
    has = joined([f"`{shorten(key)}`" for key in held], _FEW, ", ")
    mounted = f"which is mounted where {_field(need)} names it" if is_fixed else f"which {_field(need)} asks for"
    return Finding(
        message=f"{item.name} has no key `{shorten(key)}`, {mounted}; it has {has}",
        place=item.place(_part(item)) if is_fixed else need.locate(need.keys[key]),
        help=f"{did_you_mean(key, held)} Write the key `{shorten(key)}`".strip(),
        related=(need.place if is_fixed else item.place("/metadata/name", "this one"),),
    )


def unread(verdict: Verdict) -> Finding[Location]:
    """An object without a key of those that its reader knows."""
    need, offer, item = verdict.need, *_there(verdict)
    held = sorted(cast("frozenset[str]", offer.keys))
    read = f"`{shorten(held[0])}` of {item.name}" if held else item.name
    return Finding(
        message=f"nothing reads {read}, which {_field(need)} names",
        place=item.place(join(_part(item), *held[:1])),
        help=f"call the key {joined([f'`{value}`' for value in need.values], _FEW, ', ')}",
        related=(need.place,),
        severity=Severity.WARNING,
    )


def refused(verdict: Verdict) -> Iterator[Finding[Location]]:
    """Lines that the reader of an object does not take."""
    need, item = verdict.need, verdict.offer.item if verdict.offer is not None else None
    if item is None or need.refused is None:
        return
    for key, text in mapping(item.data.get("data")).items():
        if pattern(need.refused["matches"]).search(word(text)):
            yield Finding(
                message=f"`{shorten(str(key))}` of {item.name}, which {_field(need)} names, {need.refused['says']}",
                place=item.place(join("/data", str(key))),
                help=need.refused["do"],
            )


def changed(verdict: Verdict) -> Finding[Location]:
    need, offer, item = verdict.need, *_there(verdict)
    if offer.via is not None:
        return Finding(
            message=f"{_field(need)} names {_name(need)}, and what is called so is a {offer.via}: a {need.kind} waits "
            f"for {need.kind}s alone",
            place=need.place,
            help=f"write the name of a {need.kind}, such as the one that applies this {offer.via}",
            related=(item.place("/metadata/name", "this one"),),
        )
    return Finding(
        message=f"{_field(need)} names {_name(need)}, and kustomize calls it `{offer.name}`: names in these fields are "
        "not changed with it",
        place=need.place,
        help="write `generatorOptions: {disableNameSuffixHash: true}` into the kustomization, take the prefix away, or "
        "add this field to a `nameReference` of its `configurations`",
        related=(item.place("/metadata/name", "this one"),),
    )


def elsewhere(verdict: Verdict) -> Finding[Location]:
    """What a chart makes stays where the chart is installed."""
    need, offer = verdict.need, verdict.offer
    assert offer is not None, "something is elsewhere"
    there = shorten(offer.namespace)
    is_made = offer.item is None
    return Finding(
        message=f"{_field(need)} names {_name(need)} of namespace {need.namespace}, where none is; "
        f"{'a chart here makes' if is_made else 'there is'} one in {there}",
        place=need.place,
        help=f"name that of `{there}`" if is_made else f"write `namespace: {need.namespace}` into the {need.kind}",
        related=() if offer.item is None else (offer.item.place("/metadata/namespace", "this one"),),
    )


def slip(verdict: Verdict) -> Finding[Location]:
    need, offer = verdict.need, verdict.offer
    assert offer is not None, "something is near"
    instead = "Kubernetes makes" if (offer.kind, offer.name) in BUILT_IN else "nobody asks for"
    return Finding(
        message=f"{_field(need)} names {_name(need)}, which nothing here makes; {instead} {offer.kind}/{offer.name}",
        place=need.place,
        help=f"did you mean `{offer.name}`?",
        severity=Severity.WARNING if verdict.is_guess else None,
        related=() if offer.item is None else (offer.item.place("/metadata/name", "this one"),),
    )


def outside(verdict: Verdict, severity: Severity | None = None) -> Finding[Location]:
    need = verdict.need
    keys = f" with the key {' and '.join(f'`{key}`' for key in need.keys)}" if need.keys else ""
    return Finding(
        message=f"{_field(need)} names {_name(need)}, and nothing here makes it",
        place=need.place,
        help=f"where it comes from outside, say so in policies/external.yaml; else add it{keys}, or leave the field "
        "out",
        severity=severity,
    )


def unlisted(need: Need, item: NamedObject, file: str, last: Location) -> Finding[Location]:
    """`file` is its name, as the kustomization beside it would list it; `last` is what that lists last."""
    return Finding(
        message=f"{_field(need)} names {_name(need)}, which is in `{shorten(file)}`: the kustomization beside it does "
        "not list the file",
        place=need.place,
        help=f"add `{shorten(file)}` to the resources of that kustomization",
        related=(item.place("/metadata/name", "this one"), last),
        severity=Severity.WARNING,
    )


def _part(item: NamedObject) -> str:
    return "/stringData" if "stringData" in item.data else "/data"


def _there(verdict: Verdict) -> tuple[Offer, NamedObject]:
    offer = verdict.offer
    assert offer is not None, "only a need that has no offer at all is without one"
    assert offer.item is not None, "what these kinds are supplied by are objects"
    return offer, offer.item


def _field(need: Need) -> str:
    return f"`{need.where}` of {need.who}" if need.who and not need.where.startswith("spec.") else f"`{need.where}`"


def _name(need: Need) -> str:
    return f"{need.kind}/{shorten(need.name)}"
