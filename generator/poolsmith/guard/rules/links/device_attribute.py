"""Attributes by which claims select, and that NVIDIA's DRA driver does not publish."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.gpu_requests import device_requests
from poolsmith.guard.rules.links.link_view import Domain
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.names.kept import kept, kept_all
from poolsmith.guard.rules.names.need import Need, State, Supply, spelled
from poolsmith.guard.rules.names.spelling import Spelling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo.of("PSM935")
_TEMPLATE = "ResourceClaimTemplate"
_DIGITS = "0123456789"
_ASKED = pattern(
    r"device\.(attributes|capacity)\[\s*(?:\"gpu\.nvidia\.com\"|'gpu\.nvidia\.com')\s*\]"
    r"(?:\.([A-Za-z_]\w*)|\[\s*(?:\"([^\"\s]{1,64})\"|'([^'\s]{1,64})')\s*\])"
)
_PROFILE = pattern(r"\.profile\s*==\s*(?:\"([^\"\s]{1,32})\"|'([^'\s]{1,32})')")
_FEW = 6
_LONGEST = 10_240
"""Of an expression, by the API server."""


@kept_all
def _needs(view: LinkView) -> Iterator[Need]:
    for item in view.of_kind("ResourceClaim", _TEMPLATE, "DeviceClass"):
        for pointer, expression in _expressions(item):
            for name in dict.fromkeys(_asked(expression)):
                yield Need(kind=_ATTRIBUTE, name=name, locate=item.place, pointer=pointer)


def _asked(expression: str) -> Iterator[str]:
    """Each as `attributes.name` or `capacity.name`."""
    for match in _ASKED.finditer(expression[:_LONGEST]):
        name = match[2] or match[3] or match[4]
        if not _is_asked_for(name, expression):
            yield f"{match[1]}.{name}"


class _Published:
    """A `#` stands for digits."""

    def __init__(self) -> None:
        self.names = [f"{kind}.{name}" for kind in _WORDS for name in store.table("machines/attributes.yaml")[kind]]

    def __contains__(self, name: object) -> bool:
        return str(name) in self.names or f"{str(name).rstrip(_DIGITS)}#" in self.names


def _supply(_: LinkView) -> Supply:
    known = _Published()
    return Supply(known=known, owns=bool, spelled=partial(spelled, _ATTRIBUTE, Spelling(known.names)))


_ATTRIBUTE = "DeviceAttribute"
_WORDS = {"attributes": "attribute", "capacity": "capacity"}
DOMAINS = (Domain(_ATTRIBUTE, _needs, supply=_supply),)


def _of_profiles(view: LinkView, item: SetupObject, pointer: str, expression: str) -> Iterator[Finding[Location]]:
    """Profiles of MIG of which no GPU of the nodes has one; of no known GPU at all where nobody gave nodes."""
    asked = [match[1] or match[2] for match in _PROFILE.finditer(expression[:_LONGEST])]
    known, whose = _profiles(view) if asked else (frozenset(), "")
    if asked and known and not set(asked) & known:
        yield Finding(
            message=f"no device has the MIG profile `{shorten(asked[0])}`: {whose}",
            place=item.place(pointer),
            help=f"write one of {listed(sorted(known, key=_size), _FEW)}",
        )


def _size(profile: str) -> tuple[bool, int, str]:
    """Whole instances first, from the smallest on."""
    return not profile.endswith("gb"), len(profile), profile


@kept
def _profiles(view: LinkView) -> tuple[frozenset[str], str]:
    entries = [Catalog().gpus.find(node.gpu) for node in view.nodes or ()]
    of_nodes = [entry.mig_profiles for entry in entries if entry is not None]
    if entries and len(of_nodes) == len(entries):
        return frozenset(chain(*of_nodes)), "the GPUs of the nodes here have other sizes"
    others = store.table("mig_layouts.yaml")["otherProfiles"]
    return frozenset(chain(others, *(entry.mig_profiles for entry in Catalog().gpus.entries))), "no GPU does"


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for item in view.of_kind("ResourceClaim", _TEMPLATE, "DeviceClass"):
        for pointer, expression in _expressions(item):
            yield from _of_profiles(view, item, pointer, expression)
    for need in _needs(view):
        verdict = names_of(view).verdict(need)
        if verdict.state is not State.SUPPLIED:
            kind, _, name = need.name.partition(".")
            yield Finding(
                message=f"NVIDIA's DRA driver publishes no {_WORDS[kind]} `{name}`: the selector fails for each",
                place=need.place,
                help=None if verdict.offer is None else f"did you mean `{verdict.offer.name.partition('.')[2]}`?",
            )


def _is_asked_for(name: str, expression: str) -> bool:
    """Whether the expression asks first if it is there."""
    return any(f"{quote}{name}{quote} in device." in expression for quote in ("'", '"')) or "has(" in expression


def _expressions(item: SetupObject) -> Iterator[tuple[str, str]]:
    """CEL of the selectors of a class, or of a claim's requests, each with its pointer."""
    top, claim = ("/spec/spec", mapping(item.spec.get("spec"))) if item.kind == _TEMPLATE else ("/spec", item.spec)
    own = () if item.kind == _TEMPLATE else ((("", item.spec)),)
    for at, holder in (*own, *device_requests(claim)):
        for index, selector in enumerate(mappings(holder.get("selectors"))):
            expression = word(mapping(selector.get("cel")).get("expression"))
            if expression:
                yield f"{top}{at}/selectors/{index}/cel/expression", expression
